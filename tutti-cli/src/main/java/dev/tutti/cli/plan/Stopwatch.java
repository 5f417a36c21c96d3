package dev.tutti.cli.plan;

import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures all-reduces of this machine's threads, several algorithms in turn: on shared machines times of one minute cannot be compared
 * with those of another. A time is that of a batch of calls back to back, on the slowest rank; of the batches of a turn the
 * median, and of the turns the median.
 */
final class Stopwatch {
    private static final long BATCH_NANOS = 4_000_000;
    private static final int BATCHES = 7;

    private final int ranks;
    private final long[] sizes;
    private final int turns;

    Stopwatch(int ranks, long[] sizes, int turns) {
        this.ranks = ranks;
        this.sizes = sizes;
        this.turns = turns;
    }

    /** Nanoseconds for each algorithm and size. */
    Map<String, double[]> measure(List<String> algorithms) {
        Map<String, double[][]> all = new LinkedHashMap<>();
        algorithms.forEach(this::turn); // until everything is compiled
        for (int turn = 0; turn < turns; turn++) {
            for (String algorithm : algorithms) {
                all.computeIfAbsent(algorithm, name -> new double[turns][])[turn] = turn(algorithm);
            }
        }
        Map<String, double[]> medians = new LinkedHashMap<>();
        all.forEach((algorithm, times) -> {
            double[] each = new double[sizes.length];
            for (int size = 0; size < each.length; size++) {
                int index = size;
                each[size] = median(
                        Arrays.stream(times).mapToDouble(turn -> turn[index]).toArray());
            }
            medians.put(algorithm, each);
        });
        return medians;
    }

    private double[] turn(String algorithm) {
        double[] times = new double[sizes.length];
        Config config =
                Config.fromEnvironment().with(Config.Key.ALGO, algorithm).with(Config.Key.PROTO, "simple");
        World.local(ranks).config(config).run(comm -> {
            try (Arena arena = Arena.ofConfined()) {
                long longest = sizes[sizes.length - 1];
                MemorySegment in = arena.allocate(longest, 64);
                MemorySegment out = arena.allocate(longest, 64);
                in.fill((byte) 0);
                out.fill((byte) 0);
                for (int i = 0; i < sizes.length; i++) {
                    double nanos = time(comm, in.asSlice(0, sizes[i]), out.asSlice(0, sizes[i]));
                    if (comm.rank() == 0) {
                        times[i] = nanos;
                    }
                }
            }
        });
        return times;
    }

    private static double time(Communicator comm, MemorySegment in, MemorySegment out) {
        long[] calls = {3};
        double[] nanos = {batch(comm, in, out, calls[0]) / calls[0]};
        comm.allReduce(nanos, ReduceOp.MAX);
        calls[0] = Math.clamp((long) (BATCH_NANOS / Math.max(50, nanos[0])), 2, 2_000);
        batch(comm, in, out, calls[0]);
        double[] batches = new double[BATCHES];
        for (int i = 0; i < batches.length; i++) {
            batches[i] = batch(comm, in, out, calls[0]) / calls[0];
        }
        comm.allReduce(batches, ReduceOp.MAX);
        return median(batches);
    }

    /** A method of its own, so that the loop that is timed has been compiled before. */
    private static double batch(Communicator comm, MemorySegment in, MemorySegment out, long calls) {
        comm.barrier();
        long start = System.nanoTime();
        for (long i = 0; i < calls; i++) {
            comm.allReduce(in, out, DataType.FLOAT32, ReduceOp.SUM);
        }
        return System.nanoTime() - start;
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
