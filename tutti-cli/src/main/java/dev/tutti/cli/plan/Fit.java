package dev.tutti.cli.plan;

import dev.tutti.plan.Plan;
import dev.tutti.plan.simulate.Costs;
import dev.tutti.plan.simulate.Simulation;
import dev.tutti.plan.simulate.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * Finds the constants of a topology for which the simulator comes closest to what was measured: the mean of the absolute
 * logarithms of predicted over measured. One constant after the other is made larger and smaller, by less and less.
 */
final class Fit {
    /** How many calls back to back are simulated, as they are measured. */
    static final int CALLS = 4;

    private static final String[] NAMES = {
        "latency", "call", "op", "touch", "switch", "spin", "patience", "wake", "read", "fold", "write"
    };
    /** The constants from here to {@link #TIMES} matter only where ranks share cores. */
    private static final int SHARING = 4;

    /** So many of the constants are times, the others times per byte. */
    private static final int TIMES = 8;

    private static final double SMALLEST = 1e-4;

    private final Topology shape;
    private final List<Sample> samples;
    private final double[] values;
    private final boolean[] free;

    /** One measurement. */
    record Sample(String algorithm, Plan plan, long bytes, double nanos) {}

    Fit(Topology start, List<Sample> samples, boolean ranksShareCores) {
        Costs costs = start.costs();
        this.shape = start;
        this.samples = samples;
        this.values = DoubleStream.concat(
                        DoubleStream.of(
                                start.latencyNanos(),
                                costs.callNanos(),
                                costs.opNanos(),
                                costs.touchNanos(),
                                costs.switchNanos(),
                                costs.spinNanos(),
                                costs.patienceNanos(),
                                costs.wakeNanos(),
                                costs.readNanosPerByte(),
                                costs.foldNanosPerByte(),
                                costs.writeNanosPerByte()),
                        costs.streams().stream().mapToDouble(Costs.Stream::nanosPerByte))
                .toArray();
        this.free = new boolean[values.length];
        // What a byte costs shows where every rank has a core; what sharing costs, where they have not.
        java.util.Arrays.fill(free, !ranksShareCores);
        java.util.Arrays.fill(free, SHARING, TIMES, ranksShareCores);
    }

    /** The topology with the best constants found. */
    Topology run() {
        double best = error(values);
        for (double step = 2; step > 1.02; step = Math.sqrt(step)) {
            boolean better = true;
            for (int round = 0; better && round < 12; round++) {
                better = false;
                for (int i = 0; i < values.length; i++) {
                    for (double factor : free[i] ? new double[] {step, 1 / step} : new double[0]) {
                        double[] other = values.clone();
                        other[i] = Math.max(SMALLEST, other[i] * factor);
                        double error = error(other);
                        if (error < best * 0.9999) {
                            best = error;
                            System.arraycopy(other, 0, values, 0, values.length);
                            better = true;
                        }
                    }
                }
            }
        }
        return with(values);
    }

    private double error(double[] constants) {
        Topology topology = with(constants);
        double sum = 0;
        for (Sample sample : samples) {
            sum += Math.abs(Math.log(predict(topology, sample) / sample.nanos()));
        }
        // Of constants that serve equally well the smaller ones.
        double size = 0;
        for (double value : constants) {
            size += Math.log1p(value);
        }
        return sum / samples.size() + 1e-4 * size;
    }

    static double predict(Topology topology, Sample sample) {
        return Simulation.of(sample.plan(), topology)
                .bytes(sample.bytes())
                .calls(CALLS)
                .run()
                .nanos();
    }

    private Topology with(double[] v) {
        Costs costs = shape.costs();
        return shape.with(
                new Costs(
                        costs.cores(),
                        v[1],
                        v[2],
                        v[3],
                        v[4],
                        v[5],
                        v[6],
                        v[7],
                        v[8],
                        v[9],
                        v[10],
                        costs.packetNanosPerByte(),
                        streams(v),
                        costs.chunkBytes()),
                v[0]);
    }

    private List<Costs.Stream> streams(double[] v) {
        List<Costs.Stream> streams = new ArrayList<>();
        for (Costs.Stream stream : shape.costs().streams()) {
            streams.add(new Costs.Stream(stream.beyondBytes(), v[NAMES.length + streams.size()]));
        }
        return streams;
    }

    /** The constants, for people. */
    String describe() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            String name = i < NAMES.length ? NAMES[i] : "stream" + (i - NAMES.length + 1);
            boolean time = i < TIMES;
            text.append(String.format(
                    Locale.ROOT,
                    "%s %s %.1f %s",
                    i == 0 ? "" : ",",
                    name,
                    time ? values[i] : 1 / values[i],
                    time ? "ns" : "GB/s"));
        }
        return text.toString();
    }

    /** The topology as text, so that it can be kept. */
    String text() {
        Costs costs = shape.costs();
        return String.format(
                Locale.ROOT,
                """
                name   host
                about  %d cores that share memory; constants fitted by 'tutti plan calibrate'
                ranks  %d
                cores  %d
                call   %.1f ns
                op     %.2f ns
                touch  %.2f ns
                switch %.0f ns
                spin   %.0f ns
                sleep  %.0f ns %.0f ns
                read   %.2f GB/s
                fold   %.2f GB/s
                write  %.2f GB/s
                packet 2 GB/s
                %schunk  %d KiB
                level  memory * latency %.1f ns bandwidth 0 GB/s port rank     # 0: a port that is never busy
                """,
                costs.cores(),
                shape.ranks(),
                costs.cores(),
                values[1],
                values[2],
                values[3],
                values[4],
                values[5],
                values[6],
                values[7],
                1 / values[8],
                1 / values[9],
                1 / values[10],
                streamLines(),
                costs.chunkBytes() >> 10,
                values[0]);
    }

    private String streamLines() {
        StringBuilder lines = new StringBuilder();
        for (Costs.Stream stream : streams(values)) {
            lines.append(String.format(
                    Locale.ROOT, "stream %d KiB %.2f GB/s%n", stream.beyondBytes() >> 10, 1 / stream.nanosPerByte()));
        }
        return lines.toString();
    }
}
