package dev.tutti.algorithm;

/**
 * What the elementary steps cost, in nanoseconds. Rank 0's table is everybody's, so that all ranks choose alike.
 *
 * <p>The presets come from two cores of one socket between which a cache line travels in 65 to 260 ns: there packets pay up to
 * about 96 bytes, and touching a byte that a peer wrote costs about twice what it costs in one's own cache. With more ranks than
 * cores a step of a plan is a round of thread changes: it takes longer the more ranks share a core.
 *
 * @param cores cores that the ranks share
 * @param signalNanos from a signal to the moment when its waiter goes on
 * @param packetNanos from a packet's store to the moment when its reader goes on
 * @param opNanos what an operation costs besides its operands
 * @param operandNanos what one operand of an operation or one channel of a signal or wait costs besides its bytes
 * @param copyNanosPerByte reading a byte and storing it
 * @param foldNanosPerByte reading a byte of one source of a fold and folding it
 * @param packetWordNanos writing, awaiting and reading four bytes as a packet
 * @param chunkBytes the most that one chunk holds; longer messages take several rounds
 */
public record Constants(
        int cores,
        double signalNanos,
        double packetNanos,
        double opNanos,
        double operandNanos,
        double copyNanosPerByte,
        double foldNanosPerByte,
        double packetWordNanos,
        long chunkBytes) {

    private static final double SPINNING_SIGNAL_NANOS = 130;
    private static final double SPINNING_PACKET_NANOS = 105;
    private static final double YIELDING_SIGNAL_NANOS = 1_200;
    private static final double YIELDING_PACKET_NANOS = 1_150;
    private static final long CHUNK_BYTES = 128 << 10;

    /** Checks that the numbers make sense. */
    public Constants {
        if (cores < 1 || chunkBytes < 1) {
            throw new IllegalArgumentException("cores " + cores + " and chunk bytes " + chunkBytes + " must be at least 1");
        }
    }

    /**
     * The preset for a number of ranks on one host.
     *
     * @param ranks ranks on the host
     * @param cores cores they may use
     * @return costs of waiting by spinning while every rank has a core, else of giving the core away
     */
    public static Constants of(int ranks, int cores) {
        boolean spins = ranks <= cores;
        return new Constants(
                cores,
                spins ? SPINNING_SIGNAL_NANOS : YIELDING_SIGNAL_NANOS,
                spins ? SPINNING_PACKET_NANOS : YIELDING_PACKET_NANOS,
                8,
                3,
                0.09,
                0.05,
                3.0,
                CHUNK_BYTES);
    }

    /** How much longer everything takes because ranks share cores; 1 while each has its own. */
    double oversubscription(double ranks) {
        return Math.max(1, ranks / cores);
    }

    /** What one rank does in a plan of slots. */
    double work(double ops, double operands, double copiedBytes, double foldedBytes) {
        return ops * opNanos
                + operands * operandNanos
                + copiedBytes * copyNanosPerByte
                + foldedBytes * foldNanosPerByte;
    }

    /** What one rank does in a plan of packets; every destination of a packet counts. */
    double packetWork(double ops, double operands, double packedBytes, double foldedBytes) {
        return ops * opNanos
                + operands * operandNanos
                + Math.ceil(packedBytes / 4) * packetWordNanos
                + foldedBytes * foldNanosPerByte;
    }

    /** Signals that wait for each other, in all rounds that a block of these bytes takes when cut into so many chunks. */
    double steps(double ranks, double steps, double bytesPerBlock, double chunksPerBlock) {
        double rounds = Math.max(1, bytesPerBlock / (chunksPerBlock * chunkBytes));
        return steps * rounds * signalNanos * oversubscription(ranks);
    }

    /** Packets that wait for each other. */
    double packetSteps(double ranks, double steps) {
        return steps * packetNanos * oversubscription(ranks);
    }

    /** Work that every rank does alike. */
    double shared(double ranks, double work) {
        return work * oversubscription(ranks);
    }

    /** Work of the root and of each other rank: the root is the last to end, or the cores are. */
    double rooted(double ranks, double root, double other) {
        return Math.max(root + other, (root + (ranks - 1) * other) / cores);
    }
}
