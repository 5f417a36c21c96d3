package dev.tutti.algorithm;

/**
 * What the elementary steps cost, in nanoseconds. Rank 0's table is everybody's, so that all ranks choose alike.
 *
 * <p>The presets come from two cores of one socket whose cache lines travel between them in 65 to 260 ns: packets pay up to
 * about 96 bytes, a copy and a fold of what a peer wrote cost about twice what they cost in one's own cache.
 *
 * @param cores cores that the ranks share: beyond as many ranks, work queues up
 * @param signalNanos from a signal to the moment when its waiter goes on
 * @param opNanos what an operation costs besides its bytes
 * @param peerNanos what one more peer in a signal, a wait or a list of operands costs
 * @param copyNanosPerByte reading a byte and storing it
 * @param foldNanosPerByte reading a byte of one source of a fold
 * @param packetWordNanos writing, awaiting and reading four bytes as a packet, beyond what plain bytes cost
 * @param packetNanos from the last packet written to the moment when its reader goes on
 */
public record Constants(
        int cores,
        double signalNanos,
        double opNanos,
        double peerNanos,
        double copyNanosPerByte,
        double foldNanosPerByte,
        double packetWordNanos,
        double packetNanos) {

    /** Every rank has a core of its own and spins. */
    private static final Constants DEDICATED = new Constants(Integer.MAX_VALUE, 160, 10, 4, 0.09, 0.05, 2.2, 110);

    /** A wait is a change of threads. */
    private static final Constants SHARED = new Constants(1, 900, 10, 4, 0.09, 0.05, 2.2, 850);

    /** Checks that the numbers make sense. */
    public Constants {
        if (cores < 1) {
            throw new IllegalArgumentException("cores must be at least 1, got " + cores);
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
        return ranks <= cores ? DEDICATED.withCores(cores) : SHARED.withCores(cores);
    }

    /**
     * This table for another number of cores.
     *
     * @param newCores cores that the ranks share
     * @return the table
     */
    public Constants withCores(int newCores) {
        return new Constants(
                newCores,
                signalNanos,
                opNanos,
                peerNanos,
                copyNanosPerByte,
                foldNanosPerByte,
                packetWordNanos,
                packetNanos);
    }

    /**
     * How much longer work takes because ranks share cores.
     *
     * @param ranks how many ranks work at once
     * @return 1 while each has a core
     */
    public double oversubscription(int ranks) {
        return Math.max(1, (double) ranks / cores);
    }

    /**
     * The time of a plan whose ranks all do about the same.
     *
     * @param ranks how many ranks take part
     * @param steps signals that wait for each other, one after the other
     * @param ops operations of one rank
     * @param peers operands and channels of one rank's operations
     * @param copied bytes that one rank copies
     * @param folded bytes of all sources that one rank folds
     * @return nanoseconds
     */
    double plain(int ranks, double steps, double ops, double peers, double copied, double folded) {
        double work = ops * opNanos + peers * peerNanos + copied * copyNanosPerByte + folded * foldNanosPerByte;
        return steps * signalNanos + work * oversubscription(ranks);
    }

    /**
     * The time of a plan of packets whose ranks all do about the same.
     *
     * @param ranks how many ranks take part
     * @param steps packets that wait for each other, one after the other
     * @param ops operations of one rank
     * @param peers operands of one rank's operations
     * @param packed bytes that one rank writes as packets, each destination counted
     * @param folded bytes of all sources that one rank folds
     * @return nanoseconds
     */
    double packets(int ranks, double steps, double ops, double peers, double packed, double folded) {
        double words = Math.ceil(packed / 4);
        double work = ops * opNanos + peers * peerNanos + words * packetWordNanos + folded * foldNanosPerByte;
        return steps * packetNanos + work * oversubscription(ranks);
    }
}
