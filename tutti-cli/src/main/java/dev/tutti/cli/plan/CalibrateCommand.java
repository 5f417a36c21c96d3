package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.simulate.Topology;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code tutti plan calibrate}: measures all-reduces of threads on this machine, fits the simulator's constants to some of the
 * measurements, and says how well it then predicts the others.
 */
@Command(
        name = "calibrate",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Fits the simulator to this machine and reports how far it is off.")
final class CalibrateCommand implements Callable<Integer> {
    private static final long SMALLEST = 64;
    private static final long LARGEST = 64 << 20;

    @Option(
            names = {"-g", "--ranks"},
            paramLabel = "N",
            description = "ranks, as threads (2)")
    int ranks = 2;

    @Option(
            names = "--fit",
            split = ",",
            paramLabel = "NAME",
            description = "algorithms of which every second size is used to fit (two-shot, ring)")
    List<String> fitted = List.of("two-shot", "ring");

    @Option(
            names = "--predict",
            split = ",",
            paramLabel = "NAME",
            description = "algorithms that are only predicted (one-shot, one-shot-read, two-shot-read, tree, ...)")
    List<String> predicted = List.of(
            "one-shot", "one-shot-read", "two-shot-read", "tree", "double-tree", "halving-doubling", "hierarchical");

    @Option(names = "--turns", paramLabel = "N", description = "how often everything is measured (5)")
    int turns = 5;

    @Option(
            names = "--measured",
            paramLabel = "FILE",
            description = "take the measurements from what an earlier run printed")
    @Nullable
    Path earlier;

    @Option(names = "--out", paramLabel = "FILE", description = "write the topology")
    @Nullable
    Path output;

    private final PrintStream out;
    private final PrintStream err;

    CalibrateCommand(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    @Override
    public Integer call() {
        try {
            long[] sizes = LongStream.iterate(SMALLEST, bytes -> bytes <= LARGEST, bytes -> 4 * bytes)
                    .toArray();
            List<String> all = new ArrayList<>(fitted);
            all.addAll(predicted);
            Map<String, double[]> measured =
                    earlier == null ? new Stopwatch(ranks, sizes, turns).measure(all) : read(earlier, all, sizes);
            List<Fit.Sample> forFit = new ArrayList<>();
            for (String name : fitted) {
                for (int i = 0; i < sizes.length; i += 2) {
                    forFit.add(sample(name, sizes[i], Objects.requireNonNull(measured.get(name))[i]));
                }
            }
            Topology start = Topology.preset("host");
            Fit fit = new Fit(start, forFit, ranks > start.costs().cores());
            Topology topology = fit.run();
            report(topology, fit, sizes, measured);
            if (output != null) {
                Files.writeString(output, fit.text());
            }
            return ExitCode.SUCCESS.number();
        } catch (IllegalArgumentException refused) {
            err.println("tutti plan calibrate: " + refused.getMessage());
            return ExitCode.USAGE.number();
        } catch (IOException unwritten) {
            err.println("tutti plan calibrate: cannot read or write: " + unwritten.getMessage());
            return ExitCode.USAGE.number();
        }
    }

    /** The third column of the table that {@link #report} prints. */
    private static Map<String, double[]> read(Path table, List<String> algorithms, long[] sizes) throws IOException {
        Map<String, double[]> measured = new LinkedHashMap<>();
        List<String[]> rows = Files.readAllLines(table).stream()
                .filter(line -> line.startsWith("  "))
                .map(line -> line.strip().split("\\s+"))
                .toList();
        for (String algorithm : algorithms) {
            double[] times = rows.stream()
                    .filter(row -> row[0].equals(algorithm))
                    .mapToDouble(row -> 1e3 * Double.parseDouble(row[2]))
                    .toArray();
            if (times.length != sizes.length) {
                throw new IllegalArgumentException("--measured: " + table + " has " + times.length + " times of "
                        + algorithm + " in place of " + sizes.length);
            }
            measured.put(algorithm, times);
        }
        return measured;
    }

    private Fit.Sample sample(String algorithm, long bytes, double nanos) {
        Plan plan = Algorithms.find(Collective.ALL_REDUCE, algorithm, Protocol.SIMPLE)
                .orElseThrow(() -> new IllegalArgumentException("no algorithm '" + algorithm
                        + "' for allReduce; there are " + Algorithms.names(Collective.ALL_REDUCE)))
                .plan(ranks, 0, 1);
        return new Fit.Sample(algorithm, plan, bytes, nanos);
    }

    private void report(Topology topology, Fit fit, long[] sizes, Map<String, double[]> measured) {
        out.printf("# all-reduce of %d ranks (threads), float32 sum, out of place, %d turns%n", ranks, turns);
        out.printf("# constants:%s%n", fit.describe());
        out.printf("# %-18s %12s %14s %14s %9s%n", "algorithm", "bytes", "measured (us)", "predicted (us)", "error");
        List<Double> sameAlgorithms = new ArrayList<>();
        List<Double> otherAlgorithms = new ArrayList<>();
        List<Double> usedToFit = new ArrayList<>();
        measured.forEach((name, times) -> {
            for (int i = 0; i < sizes.length; i++) {
                double prediction = Fit.predict(topology, sample(name, sizes[i], times[i]));
                double error = prediction / times[i] - 1;
                boolean used = fitted.contains(name) && i % 2 == 0;
                (used ? usedToFit : fitted.contains(name) ? sameAlgorithms : otherAlgorithms).add(Math.abs(error));
                out.printf(
                        Locale.ROOT,
                        "  %-18s %12d %14.2f %14.2f %+8.0f%%%s%n",
                        name,
                        sizes[i],
                        times[i] / 1e3,
                        prediction / 1e3,
                        100 * error,
                        used ? "  (fitted)" : "");
            }
        });
        List<Double> rest = new ArrayList<>(sameAlgorithms);
        rest.addAll(otherAlgorithms);
        out.printf(
                Locale.ROOT,
                "# median error: fitted points %.1f%%; other sizes of the fitted algorithms %.1f%%; other algorithms"
                        + " %.1f%%; everything not fitted %.1f%%%n",
                median(usedToFit),
                median(sameAlgorithms),
                median(otherAlgorithms),
                median(rest));
    }

    private static double median(List<Double> errors) {
        return errors.isEmpty()
                ? 0
                : 100
                        * Stopwatch.median(
                                errors.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
