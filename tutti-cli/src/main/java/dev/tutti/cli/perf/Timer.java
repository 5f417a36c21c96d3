package dev.tutti.cli.perf;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/** Times one operation on one rank, together with the other ranks. */
final class Timer {
    private final Communicator comm;
    private final PerfOptions options;
    private final LongSupplier nanoClock;
    private final LongSupplier cpuClock;

    /** Seconds per operation, by the wall clock and of the thread's CPU, over the ranks; microseconds of each iteration. */
    record Result(double wallSeconds, double cpuSeconds, List<Double> iterationMicros) {}

    Timer(Communicator comm, PerfOptions options, LongSupplier nanoClock) {
        this.comm = comm;
        this.options = options;
        this.nanoClock = nanoClock;
        this.cpuClock =
                options.reportsCpuTime() ? ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime : () -> 0;
    }

    Result time(Operation operation, int count) {
        operation.run(0);
        comm.barrier();
        long[] iterations = new long[options.recordsIterations() ? count : 0];
        long cpuStart = cpuClock.getAsLong();
        long nanos = iterations.length > 0 || options.blocking == 3 || options.blocking == 1
                ? timeEach(operation, count, iterations)
                : timeAll(operation, count);
        double operations = (double) count * options.aggregated;
        double cpuSeconds = (cpuClock.getAsLong() - cpuStart) / 1e9 / operations;
        double wallSeconds = nanos / 1e9 / operations;
        return new Result(overRanks(wallSeconds), overRanks(cpuSeconds), slowest(iterations));
    }

    private long timeAll(Operation operation, int count) {
        int operations = Math.multiplyExact(count, options.aggregated);
        long start = nanoClock.getAsLong();
        repeat(operation, 0, operations);
        return nanoClock.getAsLong() - start;
    }

    /** Runs an operation so often; a method of its own, so that the loop that is timed has been compiled before. */
    static void repeat(Operation operation, int first, int times) {
        for (int i = first; i < first + times; i++) {
            operation.run(i);
        }
    }

    private long timeEach(Operation operation, int count, long[] iterations) {
        long sum = 0;
        int number = 0;
        for (int iteration = 0; iteration < count; iteration++) {
            long start = nanoClock.getAsLong();
            for (int i = 0; i < options.aggregated; i++) {
                operation.run(number++);
                if (options.blocking == 1) {
                    comm.barrier();
                }
            }
            long nanos = nanoClock.getAsLong() - start;
            sum += nanos;
            if (iterations.length > 0) {
                iterations[iteration] = nanos;
            }
            if (options.blocking == 3) {
                comm.barrier();
            }
        }
        return sum;
    }

    private double overRanks(double own) {
        double[] all = new double[comm.size()];
        comm.allGather(new double[] {own}, all);
        return switch (options.average) {
            case 0 -> all[0];
            case 2 -> Arrays.stream(all).min().orElse(own);
            case 3 -> Arrays.stream(all).max().orElse(own);
            default -> Arrays.stream(all).average().orElse(own);
        };
    }

    /** Each iteration's time on the rank that was slowest in it, per operation. */
    private List<Double> slowest(long[] iterations) {
        if (iterations.length == 0) {
            return List.of();
        }
        comm.allReduce(iterations, ReduceOp.MAX);
        return Arrays.stream(iterations)
                .mapToDouble(nanos -> nanos / 1e3 / options.aggregated)
                .boxed()
                .toList();
    }
}
