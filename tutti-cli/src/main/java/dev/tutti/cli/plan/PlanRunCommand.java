package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.World;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.cli.common.Names;
import dev.tutti.cli.common.Sizes;
import dev.tutti.cuda.Cuda;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.json.PlanFile;
import dev.tutti.plan.json.PlanFormatException;
import dev.tutti.plan.verify.Finding;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verifier;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The subcommand {@code plan run}. */
@Command(
        name = "run",
        header = "Runs plan files on ranks that are threads and compares every byte of what comes out.",
        description = {
            "",
            "Without -b and -e each plan runs at sizes that its chunks divide and at sizes that they do not; without -d with several "
                    + "types; without -o with the operator that the plan names. Launches follow each other without barriers, "
                    + "on threads and then under schedules that a seed decides."
        },
        sortOptions = false,
        usageHelpWidth = 100)
final class PlanRunCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "plan files")
    List<Path> files = new ArrayList<>();

    @Option(
            names = {"-b", "--minbytes"},
            paramLabel = "SIZE",
            description = "smallest message")
    @Nullable
    String minBytes;

    @Option(
            names = {"-e", "--maxbytes"},
            paramLabel = "SIZE",
            description = "largest message")
    @Nullable
    String maxBytes;

    @Option(
            names = {"-f", "--stepfactor"},
            paramLabel = "N",
            description = "factor from size to size (2)")
    long factor = 2;

    @Option(
            names = {"-d", "--datatype"},
            paramLabel = "TYPE",
            description = "type of the elements, or all")
    @Nullable
    String type;

    @Option(
            names = {"-o", "--op"},
            paramLabel = "OP",
            description = "operator in place of the plan's, or all")
    @Nullable
    String operator;

    @Option(names = "--launches", paramLabel = "N", description = "launches back to back for each size (3)")
    int launches = 3;

    @Option(
            names = "--schedules",
            paramLabel = "N",
            description = "schedules decided by seeds, beside the threads (12)")
    int schedules = 12;

    @Option(names = "--no-check", description = "do not prove the plan right as well")
    boolean skipsCheck;

    @Option(names = "--seed", paramLabel = "N", description = "first seed (1)")
    long seed = 1;

    @Option(names = "--timeout", paramLabel = "SECONDS", description = "a launch that takes longer has failed (10)")
    double timeoutSeconds = 10;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            description = "cuda: all ranks on one GPU, in one launch, also with delays that a seed decides (host)")
    String device = "host";

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            description =
                    "threads: ranks are threads and the plan runs bare; shm: ranks are processes, and a communicator uses the "
                            + "plan for ordinary calls (threads)")
    String transport = "threads";

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
    public Integer call() {
        if (!device.equals("host") && !device.equals("cuda")) {
            err.println("tutti plan run: --device is host or cuda, not '" + device + "'");
            return ExitCode.USAGE.number();
        }
        if (device.equals("cuda") && !Cuda.isAvailable()) {
            err.println("tutti plan run: " + Cuda.unavailabilityCause());
            return ExitCode.NOT_IMPLEMENTED.number();
        }
        if (asRank) {
            return runAsRank(files.getFirst());
        }
        if (!transport.equals("threads") && !transport.equals("shm")) {
            err.println("tutti plan run: --transport is threads or shm, not '" + transport + "'");
            return ExitCode.USAGE.number();
        }
        List<PlanResult> results = new ArrayList<>();
        for (Path file : files) {
            PlanResult result = run(file);
            results.add(result);
            out.println(result.line());
        }
        if (json != null) {
            PlanReport.write(results, json);
        }
        return results.stream().allMatch(result -> result.status().isGood()) ? 0 : 1;
    }

    PlanResult run(Path file) {
        long start = System.nanoTime();
        PlanStatus status;
        String reason;
        try {
            Plan plan = PlanFile.load(file);
            Expectation expectation = Expectation.of(plan);
            List<TrialCase> cases = cases(plan);
            String wrong = runCases(file, plan, expectation, cases);
            status = wrong != null ? PlanStatus.FAIL : expectation.isKnown() ? PlanStatus.PASS : PlanStatus.RUNS;
            reason = wrong != null
                    ? wrong
                    : plan.ranks() + " ranks, " + cases.size() + " cases, " + launches + " launches each" + how(plan);
            if (!skipsCheck) {
                Verdict verdict = Verifier.check(plan);
                if (verdict.status() == Verdict.Status.FAIL) {
                    // Right by luck is not right.
                    status = status == PlanStatus.FAIL ? status : PlanStatus.REFUSED;
                    reason = (wrong == null ? "" : wrong + "; ") + found(verdict);
                } else if (verdict.status() == Verdict.Status.NOT_PROVEN && wrong == null) {
                    status = PlanStatus.NOT_PROVEN;
                    reason = verdict.reason() + "; " + reason;
                }
            }
        } catch (PlanFormatException broken) {
            status = PlanStatus.REFUSED;
            reason = broken.getMessage();
        } catch (IOException unreadable) {
            status = PlanStatus.REFUSED;
            reason = "cannot read it: " + unreadable;
        } catch (NotExecutable nothing) {
            status = PlanStatus.NOT_EXECUTABLE;
            reason = nothing.getMessage();
        } catch (TuttiException failure) {
            // A launch that timed out says by itself who waits for what.
            status = PlanStatus.FAIL;
            reason = failure.getMessage();
        } catch (IllegalArgumentException refused) {
            status = PlanStatus.REFUSED;
            reason = refused.getMessage();
        }
        return new PlanResult(file.toString(), status, (System.nanoTime() - start) / 1e9, String.valueOf(reason));
    }

    private @Nullable String runCases(Path file, Plan plan, Expectation expectation, List<TrialCase> cases) {
        Duration timeout = Duration.ofNanos((long) (timeoutSeconds * 1e9));
        if (transport.equals("shm")) {
            if (plan.header().collective() == null) {
                throw new IllegalArgumentException("there is no call for '"
                        + plan.header().purpose() + "', which processes would need: use --transport threads");
            }
            return ProcessTrial.run(file, plan.ranks(), options(), timeout, launches * cases.size());
        }
        if (plan.header().style() == PlanHeader.Style.BLOCKS && !device.equals("cuda")) {
            ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
            Config config = Config.fromEnvironment().with(Config.Key.TIMEOUT, timeout.toMillis() + "ms");
            World.local(plan.ranks()).config(config).run(comm -> {
                String found = new CallTrial(comm, plan, launches, seed).run(cases);
                if (found != null) {
                    wrong.add(found);
                }
            });
            return wrong.peek();
        }
        Trial trial = new Trial(plan, expectation, cases, launches, schedules, timeout, seed);
        return device.equals("cuda") ? trial.runOn(Cuda.device(0)) : trial.run();
    }

    /** This rank's part, where ranks are processes. */
    private int runAsRank(Path file) {
        try {
            Plan plan = PlanFile.load(file);
            List<TrialCase> cases = cases(plan);
            ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
            World.fromEnvironment().run(comm -> {
                String found = new CallTrial(comm, plan, launches, seed).run(cases);
                if (found != null) {
                    wrong.add(found);
                }
            });
            wrong.forEach(each -> out.println(ProcessTrial.wrong(each)));
            return (wrong.isEmpty() ? ExitCode.SUCCESS : ExitCode.BAD_RESULTS).number();
        } catch (IOException | RuntimeException failure) {
            out.println(ProcessTrial.wrong(String.valueOf(failure.getMessage())));
            return ExitCode.LIBRARY.number();
        }
    }

    /** The options that a rank which is a process needs. */
    private List<String> options() {
        List<String> options =
                new ArrayList<>(List.of("--launches", "" + launches, "--seed", "" + seed, "-f", "" + factor));
        add(options, "-b", minBytes);
        add(options, "-e", maxBytes);
        add(options, "-d", type);
        add(options, "-o", operator);
        return options;
    }

    private static void add(List<String> options, String name, @Nullable String value) {
        if (value != null) {
            options.add(name);
            options.add(value);
        }
    }

    private String how(Plan plan) {
        if (transport.equals("shm")) {
            return ", on processes";
        }
        return plan.header().style() == PlanHeader.Style.BLOCKS
                ? ", by ordinary calls"
                : ", " + schedules + " schedules";
    }

    private static String found(Verdict verdict) {
        if (verdict.findings().isEmpty()) {
            return verdict.reason();
        }
        Finding first = verdict.findings().getFirst();
        return first + "; plan check --sizes '" + first.sizes() + "' --replay '" + first.schedule() + "' shows it";
    }

    private static final class NotExecutable extends RuntimeException {
        private static final long serialVersionUID = 1;

        NotExecutable(String reason) {
            super(reason, null, false, false);
        }
    }

    private List<TrialCase> cases(Plan plan) {
        boolean blocks = plan.header().style() == PlanHeader.Style.BLOCKS;
        try {
            if (!blocks) {
                PlanSizes.of(plan, 1, 1);
            }
        } catch (IllegalArgumentException sizeless) {
            throw new NotExecutable(String.valueOf(sizeless.getMessage()));
        }
        Collective collective = plan.header().collective();
        boolean folds = collective != null
                ? collective.isReducing()
                : plan.all().stream()
                        .flatMap(part -> part.operations())
                        .anyMatch(op -> op.code().folds());
        List<DataType> types = type == null ? Trial.TYPES : Names.types(type);
        List<TrialCase> cases = new ArrayList<>();
        int next = 0;
        for (long bytes : sizes(plan)) {
            // Without a named type each size takes the next one: all types are seen, and it does not take all day.
            List<DataType> now = type == null ? List.of(types.get(next++ % types.size())) : types;
            for (DataType elements : now) {
                for (ReduceOp.@Nullable Kind kind : operators(plan, folds, elements)) {
                    long count = bytes / blocks(plan) / elements.bytes();
                    long message = count * elements.bytes() * blocks(plan);
                    if (plan.header().admits(message)) {
                        cases.add(new TrialCase(
                                count,
                                elements,
                                operator == null || !folds ? null : kind,
                                collective == null || !folds ? null : kind));
                    }
                }
            }
        }
        if (cases.isEmpty()) {
            throw new IllegalArgumentException("none of the sizes is within the plan's limits of "
                    + Long.toUnsignedString(plan.header().minBytes()) + " to "
                    + Long.toUnsignedString(plan.header().maxBytes()) + " bytes");
        }
        return cases;
    }

    private List<ReduceOp.@Nullable Kind> operators(Plan plan, boolean folds, DataType elements) {
        List<ReduceOp.@Nullable Kind> kinds = new ArrayList<>();
        if (!folds) {
            kinds.add(null);
        } else if (operator == null) {
            ReduceOp.Kind own = Expectation.operator(plan);
            kinds.add(own == null ? ReduceOp.Kind.SUM : own);
        } else {
            for (ReduceOp.Kind kind : Names.operators(operator)) {
                if (ReduceOpKinds.accepts(kind, elements)) {
                    kinds.add(kind);
                }
            }
        }
        return kinds;
    }

    /** Blocks that a message of so and so many bytes has. */
    private static long blocks(Plan plan) {
        Collective collective = plan.header().collective();
        return collective == null
                ? 1
                : Math.max(collective.inputBlocks(plan.ranks()), collective.outputBlocks(plan.ranks()));
    }

    private Set<Long> sizes(Plan plan) {
        Set<Long> sizes = new LinkedHashSet<>();
        if (minBytes != null || maxBytes != null) {
            long min = Sizes.parse(minBytes == null ? String.valueOf(maxBytes) : minBytes);
            long max = Sizes.parse(maxBytes == null ? String.valueOf(minBytes) : maxBytes);
            for (long size = min; size <= max; size = Math.max(size + 1, size * Math.max(2, factor))) {
                sizes.add(size);
            }
            return sizes;
        }
        long chunks = Math.max(plan.rank(0).inputChunks(), plan.rank(0).outputChunks());
        long granule = Math.max(1, chunks) * plan.header().alignmentBytes();
        long slices = plan.all().stream()
                .flatMap(part -> part.operations())
                .mapToInt(op -> op.slice() == null ? 1 : op.slice().of())
                .max()
                .orElse(1);
        long whole = granule * slices;
        long min = plan.header().minBytes();
        long base = whole * Math.max(1, Math.ceilDiv(Math.max(0, min), whole));
        sizes.add(base);
        sizes.add(base * 3 + 8 * blocks(plan));
        sizes.add(base + 7 * blocks(plan));
        sizes.add(base / 2 + 4 * blocks(plan));
        sizes.add(blocks(plan) * 8);
        sizes.add(base * 17 + 3 * blocks(plan));
        sizes.add(0L);
        return sizes;
    }
}
