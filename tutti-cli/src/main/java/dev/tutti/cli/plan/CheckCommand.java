package dev.tutti.cli.plan;

import dev.tutti.DataType;
import dev.tutti.cli.common.CommandException;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.json.PlanFile;
import dev.tutti.plan.json.PlanFormatException;
import dev.tutti.plan.verify.Finding;
import dev.tutti.plan.verify.Interleaving;
import dev.tutti.plan.verify.Replay;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verifier;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tutti plan check}: proves plan files right, or says what is wrong with them. */
@Command(
        name = "check",
        description = "Prove plan files right for all schedules, or say what is wrong with them.",
        mixinStandardHelpOptions = true,
        usageHelpWidth = 100,
        footer = {
            "",
            "One line for each file: PASS, RUNS (computes nothing to compare), REFUSED (broken or wrong), FAIL (a schedule",
            "went wrong), NOT-EXECUTABLE (no sizes), NOT-PROVEN; then the file, seconds, and why.",
            "Exit status 0 if all are PASS or RUNS.",
            "",
            "Examples:",
            "  tutti plan check -v plan.json                     findings with schedules",
            "  tutti plan check --schedules 1000 plan.json       run it under 1000 seeded schedules too",
            "  tutti plan check --replay 'r0*1 r0.0*3' plan.json run it in this order"
        })
public final class CheckCommand implements Callable<Integer> {
    private static final int LAUNCHES = 3;

    private final PrintStream out;
    private final PrintStream err;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Plan files.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private List<String> files;

    @Option(
            names = {"-J", "--json"},
            paramLabel = "FILE",
            description = "Write the results to a JSON file.")
    private @Nullable Path json;

    @Option(
            names = {"-v", "--verbose"},
            description = "Say all that was found, with schedules that show it.")
    private boolean verbose;

    @Option(
            names = "--schedules",
            paramLabel = "N",
            description = "Also run each plan on the executor under N seeded schedules.")
    private int schedules;

    @Option(names = "--seed", paramLabel = "S", description = "The first seed of --schedules (default: 1).")
    private long seed = 1;

    @Option(
            names = "--replay",
            paramLabel = "SCHEDULE",
            description = "Run each plan in this order only, as findings print it, and say what happens.")
    private @Nullable String replay;

    @Option(
            names = "--sizes",
            paramLabel = "SIZES",
            description = "Which of the plan's sizes --replay uses (default: all).")
    private @Nullable String sizes;

    CheckCommand(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    @Override
    public Integer call() {
        List<PlanResult> results = new ArrayList<>();
        boolean good = true;
        for (String file : files) {
            List<String> details = new ArrayList<>();
            PlanResult result = check(file, details);
            results.add(result);
            good &= result.status().isGood();
            out.println(result.line());
            if (verbose || replay != null) {
                details.forEach(detail -> out.println("    " + detail));
            }
        }
        if (json != null) {
            PlanReport.write(results, json);
        }
        out.flush();
        return good ? 0 : 1;
    }

    private PlanResult check(String file, List<String> details) {
        long start = System.nanoTime();
        PlanStatus status;
        String reason;
        try {
            Plan plan = PlanFile.load(Path.of(file));
            if (replay != null) {
                List<Finding> shown = replay(plan, Interleaving.parse(replay), details);
                status = shown.isEmpty() ? PlanStatus.PASS : PlanStatus.FAIL;
                reason = shown.isEmpty()
                        ? "right in this order"
                        : shown.getFirst().toString();
            } else {
                Verdict verdict = Verifier.check(plan);
                describe(verdict, details);
                status = statusOf(verdict);
                reason = verdict.reason();
                String failure = status.isGood() ? trySchedules(plan) : null;
                if (failure != null) {
                    status = PlanStatus.FAIL;
                    reason = failure;
                } else if (schedules > 0 && status.isGood()) {
                    reason += "; right under " + schedules + " schedules";
                }
            }
        } catch (PlanFormatException broken) {
            status = PlanStatus.REFUSED;
            reason = String.valueOf(broken.getMessage());
        } catch (IOException unreadable) {
            status = PlanStatus.REFUSED;
            reason = CommandException.unreadable(unreadable);
        } catch (StackOverflowError | RuntimeException failure) {
            err.println("tutti: " + file + ": " + failure);
            status = PlanStatus.NOT_PROVEN;
            reason = "the verifier failed: " + failure;
        }
        return new PlanResult(file, status, (System.nanoTime() - start) / 1e9, reason);
    }

    private static PlanStatus statusOf(Verdict verdict) {
        return switch (verdict.status()) {
            case PASS -> PlanStatus.PASS;
            case RUNS -> PlanStatus.RUNS;
            case FAIL -> PlanStatus.REFUSED;
            case NOT_EXECUTABLE -> PlanStatus.NOT_EXECUTABLE;
            case NOT_PROVEN -> PlanStatus.NOT_PROVEN;
        };
    }

    private static void describe(Verdict verdict, List<String> details) {
        for (Finding finding : verdict.findings()) {
            details.add(finding.toString());
            details.add("  at rank " + finding.rank() + (finding.lane() < 0 ? "" : " lane " + finding.lane())
                    + (finding.op() < 0 ? "" : " op " + finding.op())
                    + (finding.counterpart().isEmpty() ? "" : "; counterpart: " + finding.counterpart()));
            details.add("  shown by: --sizes '" + finding.sizes() + "' --replay '" + finding.schedule() + "'");
        }
        verdict.notes().forEach(note -> details.add("note: " + note));
    }

    private List<Finding> replay(Plan plan, Interleaving order, List<String> details) {
        List<Finding> shown = new ArrayList<>();
        for (String each : sizes == null ? Replay.sizes(plan) : List.of(sizes)) {
            shown.addAll(Replay.run(plan, each, order));
        }
        shown.forEach(finding -> details.add(finding.toString()));
        return shown;
    }

    /** Runs the plan on the executor under seeded schedules; what went wrong first, or null. */
    private @Nullable String trySchedules(Plan plan) {
        if (schedules <= 0) {
            return null;
        }
        long granule = PlanSizes.of(plan, 4, 4).granule();
        RankPlan first = plan.rank(0);
        long evenly = Math.max(first.inputChunks(), first.outputChunks()) * granule;
        DataType type = DataType.INT32;
        List<TrialCase> cases = List.of(
                new TrialCase(evenly / type.bytes(), type, null, Expectation.operator(plan)),
                new TrialCase(evenly / type.bytes() + 5, type, null, Expectation.operator(plan)));
        return new Trial(plan, cases, LAUNCHES, Duration.ofSeconds(10), seed).underSchedules(schedules, cases);
    }
}
