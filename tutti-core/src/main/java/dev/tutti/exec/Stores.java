package dev.tutti.exec;

import dev.tutti.memory.Memory;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * How this rank copies. Which way never changes a bit, so ranks need not agree.
 *
 * <p><b>Slots</b> are written by one rank and read by another. While both cores share a cache, ordinary stores are best: the reader
 * finds the data there. Where they do not, an ordinary store has to take the line out of the reader's cache first, over the way
 * between the two, and to write whole lines without fetching them is several times faster. What holds depends on the cores that ranks are
 * on, and changes while they run; so every {@link #TRIAL_BYTES} all ways are tried on some pieces and timed, and the best one is kept.
 *
 * <p><b>Outputs</b> go past the caches where the call's memory is more than those hold ({@link Streamed}).
 */
final class Stores {
    /** The ways to copy. */
    private enum Way {
        ORDINARY(0),
        /** {@link Memory#copyString}: as good for the reader; has to be better for the writer by a little, so that it is not chosen by chance. */
        STRING(40),
        /** {@link Memory#stream}: far cores take longer than this for a piece with ordinary stores, near ones never. */
        STREAMING(1_000);

        /**
         * What a reader loses when it finds {@link #LONGEST_PIECE} in memory rather than in a cache that it shares with the writer, and both
         * when memory is what they wait for.
         */
        final long readerNanos;

        Way(long readerNanos) {
            this.readerNanos = readerNanos;
        }
    }

    private static final Way[] WAYS = Way.values();

    /** Less is not worth a choice. */
    static final long SMALLEST = 1 << 10;

    /** Slots written between trials: far more than a trial's pieces, and a few milliseconds at most. */
    private static final long TRIAL_BYTES = 8 << 20;

    /** Pieces of a trial, each way in turn; the slowest of each does not count, as it may have been interrupted. */
    private static final int TRIALS = 8 * WAYS.length;

    private static final long LONGEST_PIECE = 8 << 10;

    private final Endpoint endpoint;
    private Streamed streamed = Streamed.NOTHING;
    private Way toSlots = Way.ORDINARY;
    private long bytesToTrial;
    private int trials;
    /** What pieces of this trial have: as much as the shortest copy in it. */
    private long piece = LONGEST_PIECE;

    private final long[] nanos = new long[WAYS.length];
    private final long[] slowest = new long[WAYS.length];

    Stores(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** Says what of the call that follows goes past the caches. */
    void stream(Streamed what) {
        streamed = what;
    }

    boolean streamsResults() {
        return streamed.results();
    }

    /**
     * Whether what has several destinations is best done in pieces that stay in the nearest cache. Stores past the caches end with a fence, which
     * is dearer than to find a longer piece in the next cache; unless it is a copy, whose source was there before.
     */
    boolean likesShortPieces(boolean folds) {
        return !streamed.outputs() && !(folds && toSlots == Way.STREAMING);
    }

    /** Copies to this rank's output. */
    void toOutput(long source, long destination, long bytes) {
        copy(source, destination, bytes, streamed.outputs() ? Way.STREAMING : Way.ORDINARY);
    }

    /** Copies, from an address or a {@link Places place}, to where a peer reads: a slot, or its output. */
    void toSlot(long source, long destination, long bytes) {
        if (bytes < SMALLEST) {
            Transfers.copy(source, destination, bytes, endpoint);
        } else if ((bytesToTrial -= bytes) < 0) {
            tryOut(source, destination, bytes);
        } else {
            copy(source, destination, bytes, streamed.peers() ? Way.STREAMING : toSlots);
        }
    }

    private void copy(long source, long destination, long bytes, Way way) {
        boolean addresses = (source | destination) >= 0;
        if (way == Way.ORDINARY) {
            Transfers.copy(source, destination, bytes, endpoint);
        } else if (way == Way.STRING) {
            if (addresses) {
                Memory.copyString(source, destination, bytes);
            } else {
                Places.copyString(source, destination, bytes, endpoint);
            }
        } else if (addresses) {
            Memory.stream(source, destination, bytes);
        } else {
            Places.stream(source, destination, bytes, endpoint);
        }
    }

    private void tryOut(long source, long destination, long bytes) {
        if (bytes < piece) {
            forgetTrial();
            piece = bytes;
        }
        for (long done = 0; done < bytes; done += piece) {
            long length = Math.min(piece, bytes - done);
            Way way = WAYS[trials % WAYS.length];
            long start = System.nanoTime();
            copy(source + done, destination + done, length, way);
            // Else the next piece would wait for stores of this one.
            VarHandle.fullFence();
            // A shorter piece is no match for the others.
            if (length == piece) {
                long took = System.nanoTime() - start;
                nanos[way.ordinal()] += took;
                slowest[way.ordinal()] = Math.max(slowest[way.ordinal()], took);
                trials++;
            }
        }
        if (trials >= TRIALS) {
            decide();
        }
    }

    private void decide() {
        int counted = trials / WAYS.length - 1;
        long least = Long.MAX_VALUE;
        for (Way way : WAYS) {
            int at = way.ordinal();
            long cost = nanos[at] - slowest[at] + counted * way.readerNanos * piece / LONGEST_PIECE;
            if (cost < least) {
                least = cost;
                toSlots = way;
            }
        }
        forgetTrial();
        piece = LONGEST_PIECE;
        bytesToTrial = TRIAL_BYTES;
    }

    private void forgetTrial() {
        Arrays.fill(nanos, 0);
        Arrays.fill(slowest, 0);
        trials = 0;
    }
}
