package dev.tutti.cli.plan;

import dev.tutti.Config;
import dev.tutti.TuttiException;
import dev.tutti.World;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.cuda.Cuda;
import dev.tutti.plan.Plan;
import dev.tutti.plan.json.PlanFormatException;
import dev.tutti.plan.trace.ChromeTrace;
import dev.tutti.plan.trace.Timeline;
import dev.tutti.plan.verify.Finding;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verifier;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The subcommand {@code plan run}. */
@Command(
        name = "run",
        header = "Runs plan files on ranks that are threads or processes and compares every byte of what comes out.",
        description = {
            "",
            "Without -b and -e each plan runs at sizes that its chunks divide and at sizes that they do not; without -d with several "
                    + "types; without -o with the operator that the plan names. Launches follow each other without barriers; "
                    + "on threads also under schedules that a seed decides."
        },
        sortOptions = false,
        usageHelpWidth = 100)
final class PlanRunCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "plan files")
    List<Path> files = new ArrayList<>();

    @Mixin
    TrialOptions options = new TrialOptions();

    @Option(
            names = "--schedules",
            paramLabel = "N",
            description = "schedules decided by seeds, beside the threads (12)")
    int schedules = 12;

    @Option(names = "--no-check", description = "do not prove the plan right as well")
    boolean skipsCheck;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            description = "cuda: all ranks on one GPU, in one launch, also with delays that a seed decides (host)")
    String device = "host";

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            description =
                    "threads: ranks are threads; shm: ranks are processes, the same for all plans of as many ranks "
                            + "(threads)")
    String transport = "threads";

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "write what every lane did when, for Perfetto or chrome://tracing: one plan on threads, its "
                    + "largest message, all launches")
    @Nullable
    Path trace;

    @Option(names = "--as-rank", hidden = true, description = "run as one rank of several processes")
    boolean asRank;

    @Option(
            names = {"-J", "--json"},
            paramLabel = "FILE",
            description = "write the results to a file")
    @Nullable
    Path json;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this")
    boolean help;

    private final PrintStream out;
    private final PrintStream err;

    PlanRunCommand(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    @Override
    public Integer call() throws IOException {
        if (asRank) {
            return new RankProcess(files, options, out).run();
        }
        try {
            requireSense();
            List<PlanResult> results = runAll();
            if (json != null) {
                PlanReport.write(results, json);
            }
            return results.stream().allMatch(result -> result.status().isGood()) ? 0 : 1;
        } catch (CommandException refused) {
            err.println("tutti plan run: " + refused.getMessage());
            return refused.code().number();
        }
    }

    private void requireSense() {
        if (!device.equals("host") && !device.equals("cuda")) {
            throw CommandException.usage("--device is host or cuda, not '" + device + "'");
        }
        if (!transport.equals("threads") && !transport.equals("shm")) {
            throw CommandException.usage("--transport is threads or shm, not '" + transport + "'");
        }
        if (device.equals("cuda") && !Cuda.isAvailable()) {
            throw new CommandException(ExitCode.NOT_IMPLEMENTED, String.valueOf(Cuda.unavailabilityCause()));
        }
        if (options.launches < 1) {
            throw CommandException.usage("--launches must be at least 1, got " + options.launches);
        }
        if (trace != null && (files.size() != 1 || isOnProcesses() || device.equals("cuda"))) {
            throw CommandException.usage("--trace is for one plan on threads");
        }
        if (options.sizes.isGiven()) {
            options.sizes.read();
        }
    }

    private boolean isOnProcesses() {
        return transport.equals("shm");
    }

    /** Runs all files; results are in the order of the files, lines in the order in which plans end. */
    List<PlanResult> runAll() {
        PlanResult[] results = new PlanResult[files.size()];
        IdentityHashMap<Candidate, Integer> waiting = new IdentityHashMap<>();
        List<Candidate> candidates = new ArrayList<>();
        for (int i = 0; i < results.length; i++) {
            int number = i;
            Path file = files.get(i);
            PlanResult result = judged(file, () -> {
                Candidate candidate = Candidate.load(file, options);
                if (isOnProcesses()) {
                    candidates.add(candidate);
                    waiting.put(candidate, number);
                    return null;
                }
                return here(candidate);
            });
            if (result != null) {
                results[i] = said(result);
            }
        }
        new ProcessTrial(options).run(candidates, (candidate, outcome) -> {
            PlanResult result = judged(candidate.file(), () -> onProcesses(candidate, outcome));
            results[Objects.requireNonNull(waiting.get(candidate))] =
                    said(Objects.requireNonNull(result).after(outcome.seconds()));
        });
        return List.of(results);
    }

    private PlanResult said(PlanResult result) {
        out.println(result.line());
        return result;
    }

    /** What is said of a plan in the end. */
    private record Judgement(PlanStatus status, String reason) {}

    private interface Judge {
        @Nullable
        Judgement judge() throws IOException;
    }

    private static @Nullable PlanResult judged(Path file, Judge judge) {
        long start = System.nanoTime();
        Judgement judgement;
        try {
            judgement = judge.judge();
        } catch (PlanFormatException broken) {
            judgement = new Judgement(PlanStatus.REFUSED, String.valueOf(broken.getMessage()));
        } catch (IOException unreadable) {
            judgement = new Judgement(PlanStatus.REFUSED, CommandException.unreadable(unreadable));
        } catch (TrialCases.NotExecutable nothing) {
            judgement = new Judgement(PlanStatus.NOT_EXECUTABLE, String.valueOf(nothing.getMessage()));
        } catch (IllegalArgumentException refused) {
            judgement = new Judgement(PlanStatus.REFUSED, String.valueOf(refused.getMessage()));
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        return judgement == null
                ? null
                : new PlanResult(file.toString(), judgement.status(), seconds, judgement.reason());
    }

    private Judgement here(Candidate candidate) throws IOException {
        String wrong;
        try {
            wrong = runHere(candidate);
        } catch (TuttiException failure) {
            // A launch that timed out says by itself who waits for what.
            wrong = String.valueOf(failure.getMessage());
        }
        if (trace != null && wrong == null) {
            writeTrace(candidate, trace);
        }
        String how =
                candidate.calls() && !device.equals("cuda") ? ", by ordinary calls" : ", " + schedules + " schedules";
        return judgement(candidate, wrong == null ? null : PlanStatus.FAIL, wrong, how);
    }

    private Judgement onProcesses(Candidate candidate, ProcessTrial.Outcome outcome) {
        boolean good = outcome.status() == PlanStatus.RUNS;
        String how = ", on processes" + (candidate.calls() ? ", by ordinary calls" : "");
        return judgement(candidate, good ? null : outcome.status(), good ? null : outcome.reason(), how);
    }

    private @Nullable String runHere(Candidate candidate) {
        if (device.equals("cuda")) {
            return new Trial(candidate, options).runOn(Cuda.device(0), schedules);
        }
        if (!candidate.calls()) {
            return new Trial(candidate, options).run(schedules);
        }
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        Config config = Config.fromEnvironment()
                .with(Config.Key.TIMEOUT, options.timeout().toMillis() + "ms");
        World.local(candidate.plan().ranks()).config(config).run(comm -> {
            String found = new CallTrial(comm, candidate.plan(), options.launches, options.seed).run(candidate.cases());
            if (found != null) {
                wrong.add(found);
            }
        });
        return wrong.peek();
    }

    private void writeTrace(Candidate candidate, Path to) throws IOException {
        if (candidate.calls()) {
            throw new IllegalArgumentException(
                    "--trace is for plans that run bare; exported built-in plans, and all with "
                            + "--calls, run by ordinary calls: tutti plan simulate FILE --trace F shows when what should happen");
        }
        TrialCase largest = candidate.cases().stream()
                .max(Comparator.comparingLong(TrialCase::blockBytes))
                .orElseThrow();
        Timeline timeline = new Trial(candidate, options).record(largest);
        try (BufferedWriter writer = Files.newBufferedWriter(to)) {
            ChromeTrace.write(candidate.plan(), timeline, writer);
        } catch (IOException failure) {
            throw CommandException.cannotWrite(to, "--trace", failure);
        }
        missing(timeline, candidate.plan(), options.launches)
                .ifPresent(text -> err.println("tutti plan run: " + to + text));
    }

    /** Says what a trace lacks and what to do, or nothing if it is whole. */
    static Optional<String> missing(Timeline timeline, Plan plan, int launches) {
        if (timeline.dropped().isEmpty()) {
            return Optional.empty();
        }
        long spans =
                timeline.dropped().values().stream().mapToLong(each -> each).sum();
        List<String> remedies = new ArrayList<>();
        if (launches > 1) {
            remedies.add("fewer --launches than " + launches);
        }
        if (hasLoops(plan)) {
            // Only these turn more often for larger messages.
            remedies.add("a smaller message (-b, -e)");
        }
        String remedy = remedies.isEmpty() ? "" : "; " + String.join(" or ", remedies) + " leaves out less";
        return Optional.of(" lacks the last " + spans + " spans, of "
                + timeline.dropped().size() + " of " + plan.ranks() + " ranks, as there is room for "
                + Trial.SPANS_PER_RANK + " of each" + remedy);
    }

    private static boolean hasLoops(Plan plan) {
        return IntStream.range(0, plan.ranks())
                .mapToObj(plan::rank)
                .flatMap(rank -> rank.lanes().stream())
                .flatMap(List::stream)
                .anyMatch(op -> op.loop() != null);
    }

    /** Puts what running a plan showed and what can be proven of it together. */
    private Judgement judgement(Candidate candidate, @Nullable PlanStatus failed, @Nullable String wrong, String how) {
        boolean known = Expectation.of(candidate.plan()).isKnown();
        String done = candidate.plan().ranks() + " ranks, " + candidate.cases().size() + " cases, " + options.launches
                + " launches each" + how;
        PlanStatus good = known ? PlanStatus.PASS : PlanStatus.RUNS;
        if (skipsCheck) {
            return failed == null ? new Judgement(good, done) : new Judgement(failed, String.valueOf(wrong));
        }
        Verdict verdict = Verifier.check(candidate.plan());
        if (verdict.status() == Verdict.Status.FAIL) {
            // Right by luck is not right.
            return failed == null
                    ? new Judgement(PlanStatus.REFUSED, found(verdict))
                    : new Judgement(failed, wrong + "; " + found(verdict));
        }
        if (failed != null) {
            return new Judgement(failed, String.valueOf(wrong));
        }
        return verdict.status() == Verdict.Status.NOT_PROVEN
                ? new Judgement(PlanStatus.NOT_PROVEN, verdict.reason() + "; " + done)
                : new Judgement(good, done);
    }

    private static String found(Verdict verdict) {
        if (verdict.findings().isEmpty()) {
            return verdict.reason();
        }
        Finding first = verdict.findings().getFirst();
        return first + "; plan check --sizes '" + first.sizes() + "' --replay '" + first.schedule() + "' shows it";
    }
}
