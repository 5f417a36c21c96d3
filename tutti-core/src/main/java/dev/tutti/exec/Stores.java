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
 * <p><b>Outputs</b> that are larger than what the cores' caches hold would be fetched from memory only to be overwritten.
 */
final class Stores {
    /** Less is not worth a choice. */
    private static final long SMALLEST = 8 << 10;

    /** Slots written between trials: far more than a trial's pieces, and a few milliseconds at most. */
    private static final long TRIAL_BYTES = 8 << 20;

    /** Pieces of a trial: each way twice in turn, as one may be interrupted. */
    private static final int TRIALS = 4;

    /** What a reader loses when it finds data in memory rather than in a cache that it shares with the writer. */
    private static final double READER_NANOS_PER_BYTE = 0.05;

    private boolean streamsOutputs;
    private boolean streamsSlots;
    private long bytesToTrial;
    private int trials;
    private final double[] nanosPerByte = new double[2];

    /** Says whether outputs of the call that follows are larger than the caches. */
    void streamOutputs(boolean stream) {
        streamsOutputs = stream;
    }

    /** Copies to an output, this rank's or a peer's. */
    void toOutput(long source, long destination, long bytes) {
        if (streamsOutputs) {
            Memory.stream(source, destination, bytes);
        } else {
            Memory.copy(source, destination, bytes);
        }
    }

    /** Copies to where a peer reads. */
    void toSlot(long source, long destination, long bytes) {
        if (bytes < SMALLEST) {
            Memory.copy(source, destination, bytes);
        } else if ((bytesToTrial -= bytes) < 0) {
            tryOut(source, destination, bytes);
        } else {
            copy(source, destination, bytes, streamsSlots);
        }
    }

    private static void copy(long source, long destination, long bytes, boolean stream) {
        if (stream) {
            Memory.stream(source, destination, bytes);
        } else {
            Memory.copy(source, destination, bytes);
        }
    }

    private void tryOut(long source, long destination, long bytes) {
        int way = trials & 1;
        long start = System.nanoTime();
        copy(source, destination, bytes, way == 1);
        double nanos = (double) (System.nanoTime() - start) / bytes;
        nanosPerByte[way] = trials < 2 ? nanos : Math.min(nanos, nanosPerByte[way]);
        if (++trials == TRIALS) {
            trials = 0;
            bytesToTrial = TRIAL_BYTES;
            streamsSlots = nanosPerByte[0] > nanosPerByte[1] + READER_NANOS_PER_BYTE;
        }
    }
}
