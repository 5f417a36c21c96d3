package dev.tutti.algorithm;

import dev.tutti.spi.RegionLayout;

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
 * @param lineNanos reaching for one line that a peer uses: a channel signalled or awaited, a slot written or read
 * @param copyNanosPerByte reading a byte and storing it
 * @param foldNanosPerByte a byte of one operand of a fold; its result is an operand too
 * @param packetWordNanos writing, awaiting and reading four bytes as a packet
 * @param chunkBytes the most that one chunk holds; longer messages take several rounds
 */
public record Constants(
        int cores,
        double signalNanos,
        double packetNanos,
        double opNanos,
        double lineNanos,
        double copyNanosPerByte,
        double foldNanosPerByte,
        double packetWordNanos,
        long chunkBytes) {

    private static final double SPINNING_SIGNAL_NANOS = 130;
    private static final double SPINNING_PACKET_NANOS = 105;
    private static final double YIELDING_SIGNAL_NANOS = 1_200;
    private static final double YIELDING_PACKET_NANOS = 1_150;
    private static final long CHUNK_BYTES = 256 << 10;

    /** From a post to the moment when its reader goes on, if it is behind anyway. */
    private static final double POST_NANOS = 30;

    /** How much of a packet's time a post takes of two ranks, who have taken back its lines in time. */
    private static final double PAIR_POST = 0.7;

    /** A store to a line that a peer has just read: 9 GB/s rather than 40. */
    private static final double TAKEN_BACK_NANOS_PER_BYTE = 0.1;

    /** What the owner of memory pays afterwards for a byte that a peer has read there: 0.4 where their cores share no cache, else nothing. */
    private static final double FAR_READ_NANOS_PER_BYTE = 0.1;

    /** Of what a rank has written, so much is still in its cache when it calls. */
    static final double CACHED_BYTES = 4 << 20;

    /** What a peer's cache still holds by the time that the owner writes again. */
    private static final long KEPT_BYTES = 1 << 20;

    /** Which part of folding an operand is saved because it has just been read. */
    private static final double READ_BEFORE = 0.4;

    /** What its nearest cache still holds of what it has just written for another. */
    private static final long KEPT_RESULT_BYTES = 32 << 10;

    /** Checks that the numbers make sense. */
    public Constants {
        if (cores < 1 || chunkBytes < 1) {
            throw new IllegalArgumentException(
                    "cores " + cores + " and chunk bytes " + chunkBytes + " must be at least 1");
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
        boolean spins = !sharesCores(ranks, cores);
        return new Constants(
                cores,
                spins ? SPINNING_SIGNAL_NANOS : YIELDING_SIGNAL_NANOS,
                spins ? SPINNING_PACKET_NANOS : YIELDING_PACKET_NANOS,
                8,
                15,
                0.06,
                0.03,
                3.6,
                CHUNK_BYTES);
    }

    /**
     * Whether ranks have to take turns on cores. All agree on it, as they do on the cores.
     *
     * @param ranks how many
     * @return true if not everyone has a core
     */
    public boolean sharesCores(int ranks) {
        return sharesCores(ranks, cores);
    }

    private static boolean sharesCores(int ranks, int cores) {
        return ranks > cores;
    }

    /** How much longer everything takes because ranks share cores; 1 while each has its own. */
    double oversubscription(double ranks) {
        return Math.max(1, ranks / cores);
    }

    /** What one rank does in a plan of slots. */
    double work(double ops, double lines, double copiedBytes, double foldedBytes) {
        return ops * opNanos + lines * lineNanos + copiedBytes * copyNanosPerByte + foldedBytes * foldNanosPerByte;
    }

    /** What one rank does in a plan of packets; every destination of a packet counts. */
    double packetWork(double ops, double lines, double packedBytes, double foldedBytes) {
        return ops * opNanos
                + lines * lineNanos
                + Math.ceil(packedBytes / 4) * packetWordNanos
                + foldedBytes * foldNanosPerByte;
    }

    /** What it costs besides that peers read memory where it lies: to take it back when it is written anew. */
    double readInPlace(double bytesPerBlock) {
        return Math.min(bytesPerBlock, KEPT_BYTES) * TAKEN_BACK_NANOS_PER_BYTE;
    }

    /**
     * What it costs two ranks besides, if all that a peer reads of memory comes out of its owner's cache: nobody knows whether their cores share one,
     * so reading must gain more than this. More ranks are never all far from each other.
     */
    double readFromAfar(double ranks, double bytes) {
        return ranks == 2 ? bytes * FAR_READ_NANOS_PER_BYTE : 0;
    }

    /**
     * What the root of two ranks loses where it waits for its reader: through slots it is ahead, and writes the next message while the last one is
     * read. So slots are faster up to 8 KB or so, near and far.
     */
    double keptBack(double ranks) {
        return ranks == 2 ? 3 * signalNanos : 0;
    }

    /**
     * Bytes that count as folded where everybody folds everything: an operand from each rank, and the result. A rank has just read its own
     * input to send it, so that counts for less.
     */
    double foldedByAll(double ranks, double bytes) {
        return (ranks + 1 - READ_BEFORE) * bytes;
    }

    /** What it costs besides that peers write parts of an output: their caches keep so much of them, until its owner reads it. */
    double writtenByPeers(double bytes) {
        return Math.min(bytes, KEPT_RESULT_BYTES) * TAKEN_BACK_NANOS_PER_BYTE;
    }

    /** What it costs besides that a result goes to slots, too, so that not all of it can go past the caches that it does not fit into. */
    double resultKept(double bytes) {
        return Math.max(0, bytes - CACHED_BYTES) * foldNanosPerByte;
    }

    /** Launches that a block of these bytes takes when it is cut into so many chunks; short ones count as one. */
    double rounds(double bytesPerBlock, double chunksPerBlock) {
        return Math.max(1, bytesPerBlock / (chunksPerBlock * chunkBytes));
    }

    /** Signals that wait for each other, in all rounds. */
    double steps(double ranks, double steps, double rounds) {
        return steps * rounds * signalNanos * oversubscription(ranks);
    }

    /** The one step of a plan in which ranks read what others show: whoever shows little does not wait for its readers. */
    double shown(double ranks, double shownBytes, double rounds) {
        boolean posted = RegionLayout.isPostedAhead((int) ranks, (long) shownBytes, sharesCores((int) ranks));
        return posted ? POST_NANOS : steps(ranks, 1, rounds);
    }

    /**
     * The one step of a plan in which everybody reads what everybody shows. Whoever waits for posts knows who has still to come: of the ranks on
     * a core, whichever comes last keeps it and goes on, so there is one change of process less.
     */
    double met(double ranks, double shownBytes, double rounds) {
        return isPostedByAll(ranks, shownBytes)
                ? packetNanos * (ranks == 2 ? PAIR_POST : 1) * Math.max(1, oversubscription(ranks) - 1)
                : steps(ranks, 1, rounds);
    }

    /** Lines that a rank reaches for in such a plan: posts come with what they show, else there are signals beside it. */
    double metLines(double ranks, double shownBytes) {
        return isPostedByAll(ranks, shownBytes) ? ranks : 3 * (ranks - 1) + 1;
    }

    /** The same where everybody shows everybody something else: few blocks come in the line of the signature. */
    double metBlockLines(double ranks, double shownBytes) {
        boolean inOneLine = isPostedByAll(ranks, shownBytes) && shownBytes <= RegionLayout.POST_LINE_ROOM;
        return metLines(ranks, shownBytes) + (inOneLine ? 0 : ranks - 1);
    }

    private boolean isPostedByAll(double ranks, double shownBytes) {
        return RegionLayout.isPostedByAll((int) ranks, (long) shownBytes, sharesCores((int) ranks));
    }

    /** Packets that wait for each other. */
    double packetSteps(double ranks, double steps) {
        return steps * packetNanos * oversubscription(ranks);
    }

    /** Work that every rank does alike. */
    double shared(double ranks, double work) {
        return work * oversubscription(ranks);
    }

    /**
     * Work of the root and of each other rank: one after the other in the first round, at the same time in the later ones, unless
     * there are too few cores for it.
     */
    double rooted(double ranks, double root, double other, double rounds) {
        double inTurn = Math.max(root, other) + Math.min(root, other) / rounds;
        return Math.max(inTurn, (root + (ranks - 1) * other) / cores);
    }
}
