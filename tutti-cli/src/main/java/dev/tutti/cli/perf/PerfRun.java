package dev.tutti.cli.perf;

import dev.tutti.Communicator;
import dev.tutti.TuttiException;
import dev.tutti.World;
import java.io.PrintStream;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One run of a program: the ranks, what they print, and how it ends. */
final class PerfRun {
    private static final String WORLD = "perf";

    private final Program program;
    private final PerfOptions options;
    private final Map<String, String> environment;
    private final List<String> arguments;
    private final PrintStream out;
    private final Hooks hooks;
    private final String version;
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
        this.hooks = hooks;
        this.version = version;
        this.table = new Table(options, program, PerfRun::now);
        this.progress = Progress.on(err);
    }

    ExitCode run() {
        int ranks = options.ranks();
        requirePossible(ranks);
        List<Case> cases = Case.all(
                program, Names.types(options.type), Names.operators(options.operator), program.roots(options.root, ranks));
        Traffic traffic = Traffic.fromEnvironment(environment, ranks);
        double demanded = demandedBandwidth();
        List<Participant> participants = Participant.ofThisProcess(ranks, options.virtual, WORLD);
        print(table.head(version, participants));
        print(table.columns());
        measure(cases, traffic);
        Summary summary = Summary.of(rows, demanded);
        print(table.foot(summary));
        return summary.exitCode();
    }

    private void requirePossible(int ranks) {
        if (program == Program.HYPERCUBE && Integer.bitCount(ranks) != 1) {
            throw PerfException.usage("hypercube needs a power of two of ranks, -g gives " + ranks);
        }
    }

    private double demandedBandwidth() {
        String text = environment.get("NCCL_TESTS_MIN_BW");
        try {
            return text == null ? -1 : Double.parseDouble(text);
        } catch (NumberFormatException notANumber) {
            throw PerfException.usage("NCCL_TESTS_MIN_BW is no number: '" + text + "'");
        }
    }

    private void measure(List<Case> cases, Traffic traffic) {
        World.Local world = World.local(options.ranks()).named(WORLD).config(options.config());
        try {
            (options.virtual ? world.virtualThreads() : world).run(comm -> runRank(comm, cases, traffic));
        } catch (TuttiException failure) {
            ExitCode code =
                    failure.category() == TuttiException.Category.TIMEOUT ? ExitCode.TIMEOUT : ExitCode.LIBRARY;
            throw new PerfException(code, failure.getMessage());
        } finally {
            progress.clear();
        }
    }

    private void runRank(Communicator comm, List<Case> cases, Traffic traffic) {
        boolean first = comm.rank() == 0;
        try (Bench bench = new Bench(comm, options, traffic, hooks, first ? progress::show : text -> {})) {
            for (Case what : cases) {
                bench.run(what, first ? this::report : row -> {});
            }
        }
    }

    private void report(Row row) {
        rows.add(row);
        progress.clear();
        print(table.row(row));
    }

    private void print(String text) {
        out.print(text);
        out.flush();
    }

    private static String now() {
        return LocalDateTime.now().format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss"));
    }
}
