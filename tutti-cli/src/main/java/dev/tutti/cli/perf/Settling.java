package dev.tutti.cli.perf;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.reduce.Kernels;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
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

    /** So many operations, one after the other, on the slowest rank. */
    record Batch(int operations, long nanos, long compiledMillis) {
        double nanosPerOperation() {
            return (double) nanos / operations;
        }
    }

    /**
     * How it ended.
     *
     * @param nanosPerOperation that an operation takes in the end
     * @param isSteady whether that had become steady
     */
    record Result(double nanosPerOperation, boolean isSteady) {
        /** Of two operations: the longer time, and whether both are steady. */
        Result and(Result other) {
            return new Result(Math.max(nanosPerOperation, other.nanosPerOperation), isSteady && other.isSteady);
        }
    }

    Settling(Communicator comm) {
        this.comm = comm;
    }

    /**
     * Settles an operation, or gives up.
     *
     * @param mostNanos how long it may take
     * @return how long it takes in the end
     */
    Result settle(Operation operation, long mostNanos) {
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
            last.addLast(new Batch(operations, seen[0], seen[2]));
            if (last.size() > 2 * WINDOW) {
                last.removeFirst();
            }
            // Two batches at least, as one says nothing of how times change.
            boolean isOver = seen[1] >= mostNanos && last.size() > 1;
            boolean isSteady = seen[3] == 0 && (last.size() == 2 * WINDOW || isOver) && isSteady(last);
            if (isOver || isSteady) {
                return new Result(best(last, 0, last.size()), isSteady);
            }
            double nanos = last.getLast().nanosPerOperation();
            operations = (int) Math.clamp(BATCH_NANOS / Math.max(1, nanos), 1, MOST_OPERATIONS);
        }
    }

    /** Whether the later half of some batches says the same as the half before. Fewer than usual must be slow ones, to say anything. */
    static boolean isSteady(Collection<Batch> last) {
        int half = last.size() / 2;
        boolean isEnough = last.size() == 2 * WINDOW
                || (half > 0 && last.stream().mapToLong(Batch::nanos).sum() >= 2 * WINDOW * BATCH_NANOS);
        return isEnough
                && best(last, half, last.size()) >= GAIN * best(last, 0, half)
                && last.stream().mapToLong(Batch::compiledMillis).sum() <= COMPILED_MILLIS;
    }

    private static double best(Collection<Batch> last, int skipped, int count) {
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
