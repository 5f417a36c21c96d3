package dev.tutti.exec;

import dev.tutti.memory.Memory;

/**
 * How this rank copies: with ordinary stores, or with ones that go past the caches. Which never changes a bit, so ranks need not agree.
 *
 * <p><b>Slots</b> are written by one rank and read by another. While both cores share a cache, ordinary stores are best: the reader
 * finds the data there. Where they do not, an ordinary store has to take the line out of the reader's cache first, over the way
 * between the two, and going through memory is several times faster. Which of the two holds depends on the cores that ranks are on, and
 * changes while they run; so every {@link #TRIAL_BYTES} both ways are tried on some pieces and timed, and the better one is kept.
 *
 * <p><b>Outputs</b> go past the caches where the call's memory is more than those hold ({@link Streamed}).
 */
final class Stores {
    /** Less is not worth a choice. */
    private static final long SMALLEST = 8 << 10;

    /** Slots written between trials: far more than a trial's pieces, and a few milliseconds at most. */
    private static final long TRIAL_BYTES = 8 << 20;

    /** Pieces of a trial, each way in turn; the slowest of each does not count, as it may have been interrupted. */
    private static final int TRIALS = 16;

    private static final long TRIAL_PIECE = 8 << 10;

    /**
     * What a reader loses when it finds a piece in memory rather than in a cache that it shares with the writer, and both when memory is
     * what they wait for. Far cores take longer than this for a piece with ordinary stores, near ones never.
     */
    private static final long READER_NANOS = 1_000;

    private final Endpoint endpoint;
    private Streamed streamed = Streamed.NOTHING;
    private boolean streamsSlots;
    private long bytesToTrial;
    private int trials;
    private final long[] nanos = new long[2];
    private final long[] slowest = new long[2];

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
        return !streamed.outputs() && !(folds && streamsSlots);
    }

    /** Copies to this rank's output. */
    void toOutput(long source, long destination, long bytes) {
        copy(source, destination, bytes, streamed.outputs());
    }

    /** Copies, from an address or a {@link Places place}, to where a peer reads: a slot, or its output. */
    void toSlot(long source, long destination, long bytes) {
        if (bytes < SMALLEST) {
            Transfers.copy(source, destination, bytes, endpoint);
        } else if ((bytesToTrial -= bytes) < 0) {
            tryOut(source, destination, bytes);
        } else {
            copy(source, destination, bytes, streamsSlots || streamed.peers());
        }
    }

    private void copy(long source, long destination, long bytes, boolean stream) {
        if (!stream) {
            Transfers.copy(source, destination, bytes, endpoint);
        } else if ((source | destination) >= 0) {
            Memory.stream(source, destination, bytes);
        } else {
            Places.stream(source, destination, bytes, endpoint);
        }
    }

    private void tryOut(long source, long destination, long bytes) {
        for (long done = 0; done < bytes; done += TRIAL_PIECE) {
            long length = Math.min(TRIAL_PIECE, bytes - done);
            int way = trials & 1;
            long start = System.nanoTime();
            copy(source + done, destination + done, length, way == 1);
            // A shorter piece is no match for the others.
            if (length == TRIAL_PIECE) {
                long took = System.nanoTime() - start;
                nanos[way] += took;
                slowest[way] = Math.max(slowest[way], took);
                trials++;
            }
        }
        if (trials >= TRIALS) {
            decide();
        }
    }

    private void decide() {
        int counted = trials / 2 - 1;
        streamsSlots = nanos[0] - slowest[0] > nanos[1] - slowest[1] + counted * READER_NANOS;
        for (int way = 0; way < 2; way++) {
            nanos[way] = 0;
            slowest[way] = 0;
        }
        trials = 0;
        bytesToTrial = TRIAL_BYTES;
    }
}
