package dev.tutti.cli.plan;

import dev.tutti.cli.common.ExitCode;
import dev.tutti.cli.common.Json;
import dev.tutti.cli.common.SizeOptions;
import dev.tutti.plan.simulate.Simulation;
import dev.tutti.plan.simulate.Topology;
import dev.tutti.plan.trace.ChromeTrace;
import dev.tutti.plan.trace.Timeline;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tutti plan simulate}: how long plans take on machines that need not be there. */
@Command(
        name = "simulate",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Says how long a plan takes on a topology.",
        footer = {
            "",
            "Examples:",
            "  tutti plan simulate --algo ring,tree --topology dgx-h100 -b 1K -e 1G -f 8",
            "  tutti plan simulate all_gather --topology racks -g 64",
            "  tutti plan simulate plan.json --topology dgx-h100 -b 1M -e 1M --trace plan.trace.json",
            "  tutti plan simulate --algo ring,hierarchical --ranks-per-node 8 --topology dgx-h100-128 \\",
            "      -g 64,256,1024,10240 -b 64M -e 64M --plot ranks.png"
        })
final class SimulateCommand implements Callable<Integer> {
    @Mixin
    PlanSource source = new PlanSource();

    @Option(
            names = "--topology",
            paramLabel = "NAME|FILE",
            description = "a preset (host, dgx-h100, dgx-h100-128, torus, racks, wide-area) or a file (host)")
    String topology = "host";

    @Mixin
    SizeOptions sizes = new SizeOptions();

    @Option(
            names = "--calls",
            paramLabel = "N",
            description = "calls back to back; the time is the mean after the first (1)")
    int calls = 1;

    @Option(
            names = {"-J", "--json"},
            paramLabel = "FILE",
            description = "write the results as JSON")
    @Nullable
    Path json;

    @Option(names = "--plot", paramLabel = "FILE", description = "draw time over size, or over ranks if -g has several")
    @Nullable
    Path plot;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "write what every lane did when, of the last row, for Perfetto or chrome://tracing")
    @Nullable
    Path trace;

    private final PrintStream out;
    private final PrintStream err;

    SimulateCommand(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** One line of the table. */
    record Row(String name, int ranks, long bytes, Simulation.Result result, double seconds) {
        double micros() {
            return result.nanos() / 1e3;
        }
    }

    @Override
    public Integer call() {
        try {
            Topology machine = topology();
            List<Row> rows = new ArrayList<>();
            out.printf("# %s: %s%n", machine.name(), machine.about());
            out.printf(
                    "# %-18s %6s %14s %14s %10s %10s %8s%n",
                    "plan", "ranks", "bytes", "time (us)", "GB/s", "simulated", "took (s)");
            for (PlanSource.Named each : source.plans(machine.ranks())) {
                sizes.read().forEach(bytes -> rows.add(simulate(each, machine, bytes)));
            }
            write(machine, rows);
            return ExitCode.SUCCESS.number();
        } catch (IllegalArgumentException refused) {
            return fail(ExitCode.USAGE, refused);
        } catch (IllegalStateException stuck) {
            return fail(ExitCode.BAD_RESULTS, stuck);
        } catch (IOException unwritten) {
            return fail(ExitCode.USAGE, unwritten);
        }
    }

    private Topology topology() throws IOException {
        if (Topology.presets().contains(topology)) {
            return Topology.preset(topology);
        }
        Path file = Path.of(topology);
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("--topology: '" + topology + "' is neither a file nor one of "
                    + String.join(", ", Topology.presets()));
        }
        return Topology.parse(Files.readString(file));
    }

    private Row simulate(PlanSource.Named named, Topology machine, long bytes) {
        long start = System.nanoTime();
        Simulation.Result result =
                Simulation.of(named.plan(), machine).bytes(bytes).calls(calls).run();
        Row row = new Row(named.name(), named.plan().ranks(), bytes, result, (System.nanoTime() - start) / 1e9);
        out.printf(
                Locale.ROOT,
                "  %-18s %6d %14d %14.2f %10.3f %10s %8.2f%n",
                row.name(),
                row.ranks(),
                bytes,
                row.micros(),
                result.nanos() == 0 ? 0 : bytes / result.nanos(),
                result.ranksSimulated() + "x" + result.roundsSimulated(),
                row.seconds());
        if (trace != null) {
            last = named;
        }
        return row;
    }

    private PlanSource.@Nullable Named last;

    private void write(Topology machine, List<Row> rows) throws IOException {
        if (trace != null && last != null) {
            Timeline timeline = Simulation.of(last.plan(), machine)
                    .bytes(rows.getLast().bytes())
                    .calls(calls)
                    .recorded()
                    .run()
                    .timeline();
            try (BufferedWriter writer = Files.newBufferedWriter(trace)) {
                ChromeTrace.write(last.plan(), java.util.Objects.requireNonNull(timeline), writer);
            }
        }
        if (json != null) {
            List<Map<String, Object>> results = new ArrayList<>();
            for (Row row : rows) {
                Map<String, Object> entry = new LinkedHashMap<>();
                entry.put("plan", row.name());
                entry.put("ranks", row.ranks());
                entry.put("bytes", row.bytes());
                entry.put("micros", row.micros());
                entry.put("ranks_simulated", row.result().ranksSimulated());
                entry.put("rounds", row.result().rounds());
                entry.put("rounds_simulated", row.result().roundsSimulated());
                entry.put("seconds", row.seconds());
                results.add(entry);
            }
            Files.writeString(json, Json.write(Map.of("topology", machine.name(), "results", results)) + "\n");
        }
        if (plot != null) {
            TimeChart.draw(plot, machine.name(), rows);
        }
    }

    private int fail(ExitCode code, Exception failure) {
        err.println("tutti plan simulate: " + failure.getMessage());
        return code.number();
    }
}
