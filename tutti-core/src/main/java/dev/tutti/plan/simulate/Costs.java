package dev.tutti.plan.simulate;

import java.util.List;

/**
 * What a rank's own work costs, in nanoseconds. A lane that moves bytes reads each source and writes each destination; bytes
 * that cross to another rank occupy the network besides.
 *
 * @param cores ranks that can run at the same time on a host, each in one thread; 0 if every lane runs by itself, as on GPUs
 * @param callNanos starting one launch
 * @param opNanos an operation, whatever it does
 * @param touchNanos each channel signalled or awaited and each operand on a peer
 * @param switchNanos giving a core to another rank
 * @param spinNanos how long a rank that shares its core keeps it while it waits
 * @param patienceNanos how long it waits awake
 * @param wakeNanos waking a rank that has waited longer
 * @param readNanosPerByte reading a byte to copy it
 * @param foldNanosPerByte reading and folding a byte
 * @param writeNanosPerByte writing a byte
 * @param packetNanosPerByte writing, or awaiting and reading, a byte as part of a packet
 * @param streams what input and output cost once they no longer fit a cache, smallest cache first
 * @param chunkBytes longest chunk of a launch; longer messages take several launches
 */
public record Costs(
        int cores,
        double callNanos,
        double opNanos,
        double touchNanos,
        double switchNanos,
        double spinNanos,
        double patienceNanos,
        double wakeNanos,
        double readNanosPerByte,
        double foldNanosPerByte,
        double writeNanosPerByte,
        double packetNanosPerByte,
        List<Stream> streams,
        long chunkBytes) {

    /**
     * Memory further away.
     *
     * @param beyondBytes applies when all buffers of a host together are larger than this
     * @param nanosPerByte added for every byte of input or output read or written
     */
    public record Stream(long beyondBytes, double nanosPerByte) {}

    /** Checks that the numbers make sense. */
    public Costs {
        streams = List.copyOf(streams);
        if (cores < 0 || chunkBytes < 16) {
            throw new IllegalArgumentException(
                    "cores must be 0 or more and chunk at least 16 bytes, got " + cores + " and " + chunkBytes);
        }
    }

    /** What a byte of input or output costs more when so many bytes are in use. */
    double streamNanosPerByte(double footprintBytes) {
        double nanos = 0;
        for (Stream stream : streams) {
            if (footprintBytes > stream.beyondBytes) {
                nanos = stream.nanosPerByte;
            }
        }
        return nanos;
    }
}
