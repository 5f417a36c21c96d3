package dev.tutti.exec;

import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Which way to copy is best, found out while copying: every so many bytes all ways are tried on some pieces and timed. What is best depends on the cores
 * that ranks are on, which nobody tells, and which changes while they run.
 */
final class CopyTrial {
    /** The ways to copy; which never changes a bit. */
    enum Way {
        ORDINARY,
        /** {@link dev.tutti.memory.Memory#copyString}. */
        STRING,
        /** {@link dev.tutti.memory.Memory#stream}. */
        STREAMING
    }

    private static final Way[] WAYS = Way.values();

    /** Bytes between trials: far more than a trial's pieces, and a few milliseconds at most. */
    private static final long BYTES_BETWEEN = 32 << 20;

    /** Pieces of a trial, each way in turn; the slowest of each does not count, as it may have been interrupted. */
    private static final int PIECES = 8 * WAYS.length;

    private static final long LONGEST_PIECE = 8 << 10;
    /** Pieces are whole lines, and so whole elements of any array. */
    private static final long LINE = 64;

    private final Stores stores;
    private final long[] handicaps;
    private final long[] nanos = new long[WAYS.length];
    private final long[] slowest = new long[WAYS.length];
    private Way best = Way.ORDINARY;
    private long bytesLeft;
    private int pieces;
    /** What pieces of this trial have: as many lines as the shortest copy in it. */
    private long pieceBytes = LONGEST_PIECE;

    /**
     * A trial of copies by some stores.
     *
     * @param handicaps for each way, nanoseconds that {@link #LONGEST_PIECE} take besides what the writer sees
     */
    CopyTrial(Stores stores, long... handicaps) {
        this.stores = stores;
        this.handicaps = handicaps;
    }

    Way best() {
        return best;
    }

    /** Counts bytes that are about to be copied; true if that is to be done by {@link #run}. */
    boolean isDue(long bytes) {
        bytesLeft -= bytes;
        return bytesLeft < 0;
    }

    /** Copies a line or more in pieces, each way in turn. */
    void run(long source, long destination, long bytes) {
        if (bytes < pieceBytes) {
            forget();
            pieceBytes = bytes & -LINE;
        }
        for (long done = 0; done < bytes; done += pieceBytes) {
            long length = Math.min(pieceBytes, bytes - done);
            Way way = WAYS[pieces % WAYS.length];
            long start = System.nanoTime();
            stores.copy(source + done, destination + done, length, way);
            // Else the next piece would wait for stores of this one.
            VarHandle.fullFence();
            // A shorter piece is no match for the others.
            if (length == pieceBytes) {
                long took = System.nanoTime() - start;
                nanos[way.ordinal()] += took;
                slowest[way.ordinal()] = Math.max(slowest[way.ordinal()], took);
                pieces++;
            }
        }
        if (pieces >= PIECES) {
            decide();
        }
    }

    private void decide() {
        int counted = pieces / WAYS.length - 1;
        long least = Long.MAX_VALUE;
        for (Way way : WAYS) {
            int at = way.ordinal();
            long cost = nanos[at] - slowest[at] + counted * handicaps[at] * pieceBytes / LONGEST_PIECE;
            if (cost < least) {
                least = cost;
                best = way;
            }
        }
        forget();
        pieceBytes = LONGEST_PIECE;
        bytesLeft = BYTES_BETWEEN;
    }

    private void forget() {
        Arrays.fill(nanos, 0);
        Arrays.fill(slowest, 0);
        pieces = 0;
    }
}
