package dev.tutti.cli.perf;

import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.cli.common.Names;
import dev.tutti.cuda.Cuda;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One run of a program: the ranks, what they print, and how it ends. */
final class PerfRun {
    private static final String WORLD = "perf";

    private final Program program;
    private final PerfOptions options;
    private final Map<String, String> environment;
    private final List<String> arguments;
    private final PrintStream out;
    private final PrintStream err;
    private final Hooks hooks;
    private final String version;
    private final Split split;
    private final Table table;
    private final Progress progress;
    private final List<Row> rows = new ArrayList<>();

    PerfRun(
            Program program,
            PerfOptions options,
            Map<String, String> environment,
            List<String> arguments,
            PrintStream out,
            PrintStream err,
            Hooks hooks,
            String version) {
        this.program = program;
        this.options = options;
        this.environment = environment;
        this.arguments = arguments;
        this.out = out;
        this.err = err;
        this.hooks = hooks;
        this.version = version;
        this.split = Split.fromEnvironment(environment);
        this.table = new Table(options, program, PerfRun::now);
        this.progress = Progress.on(
                err, options.launched == null ? Progress.hasTerminal() : options.launched.equals(PerfOptions.TERMINAL));
    }

    /** Refuses what cannot be run, before anything is started. */
    void check() {
        int ranks = options.ranks();
        requirePossible(ranks);
        cases(ranks);
        requireRoom(Traffic.fromEnvironment(environment, ranks), ranks);
        demandedBandwidth();
    }

    /**
     * Runs this process's ranks.
     *
     * @param speaks whether rank 0 is here: it prints, and writes files
     */
    ExitCode run(boolean speaks) {
        int ranks = options.ranks();
        requirePossible(ranks);
        List<Case> cases = cases(ranks);
        Traffic traffic = Traffic.fromEnvironment(environment, ranks);
        requireRoom(traffic, ranks);
        double demanded = demandedBandwidth();
        List<Curve> compared = options.compared.stream()
                .flatMap(file -> Curve.read(file).stream())
                .toList();
        JsonReport json = options.json == null || !speaks
                ? null
                : JsonReport.create(options.json, options, program, PerfRun::now);
        if (json != null) {
            print("# Writing JSON output to " + json.file() + "\n");
        }
        try {
            measure(cases, traffic, json);
        } catch (RuntimeException failure) {
            if (json != null) {
                finish(json, null, List.of(String.valueOf(failure.getMessage())));
            }
            throw failure;
        }
        if (!speaks) {
            return ExitCode.SUCCESS;
        }
        Summary summary = Summary.of(rows, demanded);
        print(table.foot(summary));
        if (json != null) {
            finish(json, summary, List.of());
        }
        if (options.plot != null) {
            plot(options.plot, cases, compared);
        }
        // Not on standard output, which is to be read like that of nccl-tests.
        Steadiness.warning(rows, options.warmupIterationsGiven).ifPresent(text -> err.println("tutti perf: " + text));
        return summary.exitCode();
    }

    private List<Case> cases(int ranks) {
        return Case.all(
                program,
                Names.types(options.type),
                Names.operators(options.operator),
                program.roots(options.root, fewest(ranks)));
    }

    /** The ranks of the smallest group. */
    private int fewest(int ranks) {
        return Arrays.stream(split.sizes(ranks)).min().orElse(ranks);
    }

    private void finish(JsonReport json, @Nullable Summary summary, List<String> errors) {
        rows.forEach(json::add);
        json.end(summary, errors);
    }

    private void plot(Path file, List<Case> cases, List<Curve> compared) {
        List<Curve> curves = new ArrayList<>(compared);
        curves.addAll(Curve.of("this run", rows, compared.isEmpty()));
        String what = cases.size() == 1 ? ", " + Curve.describe(cases.getFirst()) : "";
        Chart.draw(file, program.label() + what + ", " + options.ranks() + " ranks", curves);
    }

    private void requirePossible(int ranks) {
        if (program == Program.HYPERCUBE
                && Arrays.stream(split.sizes(ranks)).anyMatch(size -> Integer.bitCount(size) != 1)) {
            throw CommandException.usage("hypercube needs a power of two of ranks, -g gives " + ranks);
        }
        if (program.isRooted() && options.root >= fewest(ranks)) {
            throw CommandException.usage("-r must be in -1.." + (fewest(ranks) - 1) + ", as the smallest group has "
                    + fewest(ranks) + " ranks; got " + options.root);
        }
        if (options.isOnDevice() && !split.isNone()) {
            throw CommandException.usage("NCCL_TESTS_SPLIT is for ranks of hosts, not for --device cuda");
        }
        if (options.plot != null
                && !Files.isDirectory(options.plot.toAbsolutePath().resolveSibling(""))) {
            throw CommandException.cannotWrite(options.plot, "--plot", new NoSuchFileException(""));
        }
        if (options.algorithm != null || options.protocol != null) {
            requireAlgorithm();
        }
    }

    private void requireRoom(Traffic traffic, int ranks) {
        if (program != Program.ALLTOALLV || traffic.isGenerated()) {
            return;
        }
        long needed = traffic.mostElements(0, 1, ranks);
        if (options.sizes().max() < needed) {
            throw CommandException.usage("-e must be at least " + needed + ", which the matrix sends");
        }
        if (options.sizes().min() != options.sizes().max()) {
            throw CommandException.usage("-b and -e must be the same where a matrix says the sizes");
        }
    }

    /** The library takes a choice as a wish; here a misspelt one would give numbers of something else. */
    private void requireAlgorithm() {
        Collective collective = program.collective()
                .orElseThrow(() -> CommandException.usage(program.label() + " has no algorithms to choose from"));
        boolean exists = Algorithms.of(collective).stream()
                .anyMatch(each -> (options.algorithm == null || options.algorithm.equals(each.name()))
                        && (options.protocol == null
                                || options.protocol.equals(each.protocol().toString())));
        if (!exists) {
            throw CommandException.usage("no such algorithm (--algo, --proto) of " + program.label() + "; there are "
                    + Algorithms.names(collective));
        }
    }

    private double demandedBandwidth() {
        String text = environment.get("NCCL_TESTS_MIN_BW");
        try {
            return text == null ? -1 : Double.parseDouble(text);
        } catch (NumberFormatException notANumber) {
            throw CommandException.usage("NCCL_TESTS_MIN_BW is no number: '" + text + "'");
        }
    }

    private void measure(List<Case> cases, Traffic traffic, @Nullable JsonReport json) {
        if (options.isOnDevice()) {
            CudaRows.requirePossible(program);
            begin(Participant.on(Cuda.device(0).toString(), options.ranks()), json);
            print(table.columns());
            try (CudaRows device = new CudaRows(Cuda.device(0), options, traffic)) {
                cases.forEach(what -> device.run(what, row -> report(row, traffic)));
            }
            return;
        }
        try {
            if (options.placement() == PerfOptions.Placement.THREADS) {
                World.Local world = World.local(options.ranks()).named(WORLD).config(options.config());
                (options.virtual ? world.virtualThreads() : world).run(comm -> runRank(comm, cases, traffic, json));
            } else {
                World.fromEnvironment()
                        .ranksHere(options.localRanks())
                        .named(WORLD)
                        .config(options.config())
                        .run(comm -> runRank(comm, cases, traffic, json));
            }
        } finally {
            progress.clear();
        }
    }

    private void runRank(Communicator comm, List<Case> cases, Traffic traffic, @Nullable JsonReport json) {
        if (comm.size() != options.ranks()) {
            throw CommandException.usage("all processes need the same -g and -t: there are " + comm.size()
                    + " ranks instead of " + options.ranks());
        }
        boolean first = comm.rank() == 0;
        // The least that any process can have, so that all agree.
        long[] possible = {MemoryLimit.maxBytes(options.ranks(), options.localRanks())};
        comm.allReduce(possible, ReduceOp.MIN);
        boolean tooLarge = options.sizes().max() > possible[0];
        comm.barrier();
        if (tooLarge) {
            options.limitSizes(possible[0]);
        }
        if (first) {
            begin(Participant.of(comm.world(), split, options.virtual, WORLD), json);
            if (tooLarge) {
                print("#\n# Reducing maxBytes to " + possible[0] + " due to memory limitation\n");
            }
            print(table.columns());
        }
        comm.barrier();
        Communicator group = split.isNone() ? comm : comm.split(split.group(comm.rank()), comm.rank());
        try (Bench bench = new Bench(comm, group, options, traffic, hooks, first ? progress::show : text -> {})) {
            for (Case what : cases) {
                bench.run(what, first ? row -> report(row, traffic) : row -> {});
            }
        }
    }

    private void begin(List<Participant> participants, @Nullable JsonReport json) {
        if (json != null) {
            json.begin(arguments, environment, version, participants);
        }
        print(table.head(version, participants));
    }

    private void report(Row row, Traffic traffic) {
        rows.add(row);
        progress.clear();
        print(table.row(row));
        if (program == Program.ALLTOALLV && traffic.printsSummary()) {
            for (Row.Half half : List.of(row.outOfPlace(), row.inPlace())) {
                print(traffic.summary(row.shape(), options.ranks(), half.timeMicros() / 1e6));
            }
        }
    }

    private void print(String text) {
        out.print(text);
        out.flush();
    }

    private static String now() {
        return LocalDateTime.now(ZoneId.systemDefault()).format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss"));
    }
}
