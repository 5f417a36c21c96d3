package dev.tutti.exec;

import dev.tutti.exec.CopyTrial.Way;
import dev.tutti.memory.Memory;

/**
 * How this rank copies. Which way never changes a bit, so ranks need not agree.
 *
 * <p><b>Slots</b> are written by one rank and read by another. An ordinary store has to take the line out of the reader's cache first; where the two
 * cores share no cache, that is several times slower than to write whole lines without fetching them. So all ways are {@link CopyTrial tried}.
 *
 * <p><b>Outputs</b> go past the caches where the call's memory is more than those hold ({@link Streamed}).
 */
final class Stores {
    /** Less is not worth a choice. */
    static final long SMALLEST = 1 << 10;

    /** From here on copies to what is not folded are long ones. */
    private static final long LONG = 16 << 10;

    /**
     * What a reader loses when it finds a piece in memory rather than in a cache that it shares with the writer, and both when memory is
     * what they wait for. Far cores take longer than this for a piece with ordinary stores, near ones never.
     */
    private static final long FROM_MEMORY_NANOS = 1_000;

    /** By how much the instruction for copies must be better for a few kilobytes, which near readers fetch a little later then. */
    private static final long SHORT_STRING_NANOS = 40;

    /** By how much ordinary stores must be better for more, and for what is folded: if the writer takes as long, both together are faster without them. */
    private static final long LONG_ORDINARY_NANOS = 100;

    private final Endpoint endpoint;
    private final CopyTrial shortCopies = new CopyTrial(this, 0, SHORT_STRING_NANOS, FROM_MEMORY_NANOS);
    private final CopyTrial longCopies = new CopyTrial(this, LONG_ORDINARY_NANOS, 0, FROM_MEMORY_NANOS);
    private Streamed streamed = Streamed.NOTHING;

    Stores(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** Says what of the call that follows goes past the caches. */
    void stream(Streamed what) {
        streamed = what;
    }

    /** Whether what a fold stores goes past the caches, if so many of its places are slots or peers' memory. */
    boolean streamsResults(int slots) {
        return streamed.results() && (slots == 0 || streamed.peers());
    }

    /**
     * Whether what has several destinations is best done in pieces that stay in the nearest cache. Stores past the caches end with a fence, which
     * is dearer than to find a longer piece in the next cache; unless it is a copy, whose source was there before.
     */
    boolean likesShortPieces(boolean folds) {
        return !streamed.outputs() && !(folds && longCopies.best() == Way.STREAMING);
    }

    /** Copies to this rank's output. */
    void toOutput(long source, long destination, long bytes) {
        copy(source, destination, bytes, streamed.outputs() ? Way.STREAMING : Way.ORDINARY);
    }

    /** Copies, from an address or a {@link Places place}, to where a peer reads: a slot, or its output. */
    void toSlot(long source, long destination, long bytes) {
        toSlot(source, destination, bytes, bytes < LONG ? shortCopies : longCopies);
    }

    /** The same where the peer has more to do than to wait for it and copy it on: it folds what comes, or is behind. */
    void toBusyPeersSlot(long source, long destination, long bytes) {
        toSlot(source, destination, bytes, longCopies);
    }

    private void toSlot(long source, long destination, long bytes, CopyTrial trial) {
        if (bytes < SMALLEST) {
            Transfers.copy(source, destination, bytes, endpoint);
        } else if (trial.isDue(bytes)) {
            trial.run(source, destination, bytes);
        } else {
            copy(source, destination, bytes, streamed.peers() ? Way.STREAMING : trial.best());
        }
    }

    void copy(long source, long destination, long bytes, Way way) {
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
}
