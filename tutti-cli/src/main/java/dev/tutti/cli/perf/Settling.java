package dev.tutti.cli.perf;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.reduce.Kernels;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Runs an operation unseen until its time says something: until it has stopped becoming faster, and the JVMs of all ranks have
 * little left to compile. Ranks decide alike, from what they have told each other.
 */
final class Settling {
    private static final long BATCH_NANOS = 5_000_000;
    /** So many batches are compared with so many before them. */
    private static final int WINDOW = 5;

    /** The best of a window may be so much better than that of the one before. */
    private static final double GAIN = 0.95;

    /** Milliseconds that the compilers of a JVM may have worked in the two windows. */
    private static final long COMPILED_MILLIS = 4;

    private static final int MOST_OPERATIONS = 1 << 16;

    private final Communicator comm;
    private final CompilerTime compilers = new CompilerTime();

    private record Batch(double nanosPerOperation, long compiledMillis) {}

    Settling(Communicator comm) {
        this.comm = comm;
    }

    /**
     * Settles an operation, or gives up.
     *
     * @param mostNanos how long it may take
     * @return nanoseconds that it takes in the end
     */
    double settle(Operation operation, long mostNanos) {
        Deque<Batch> last = new ArrayDeque<>();
        long start = System.nanoTime();
        compilers.refresh();
        long compiledBefore = compilers.millis();
        int operations = 1;
        while (true) {
            long begin = System.nanoTime();
            Timer.repeat(operation, 0, operations);
            long end = System.nanoTime();
            long compiled = compilers.millis();
            // The slowest rank's times, so that all see the same.
            long[] seen = {end - begin, end - start, compiled - compiledBefore, isTraining() ? 1 : 0};
            comm.allReduce(seen, ReduceOp.MAX);
            compiledBefore = compiled;
            double nanos = (double) seen[0] / operations;
            last.addLast(new Batch(nanos, seen[2]));
            if (last.size() > 2 * WINDOW) {
                last.removeFirst();
            }
            if (seen[1] >= mostNanos || (seen[3] == 0 && isSteady(last))) {
                return best(last, 0, last.size());
            }
            operations = (int) Math.clamp(BATCH_NANOS / Math.max(1, nanos), 1, MOST_OPERATIONS);
        }
    }

    private static boolean isSteady(Deque<Batch> last) {
        return last.size() == 2 * WINDOW
                && best(last, WINDOW, WINDOW) >= GAIN * best(last, 0, WINDOW)
                && last.stream().mapToLong(Batch::compiledMillis).sum() <= COMPILED_MILLIS;
    }

    private static double best(Deque<Batch> last, int skipped, int count) {
        return last.stream()
                .skip(skipped)
                .limit(count)
                .mapToDouble(Batch::nanosPerOperation)
                .min()
                .orElseThrow();
    }

    private static boolean isTraining() {
        try {
            return !Kernels.awaitWarm(Duration.ZERO);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
