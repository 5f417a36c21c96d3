package dev.tutti.exec;

/**
 * How a resolved operation lies in a lane's {@code long[]}. Operands are symbolic until bound: a base, a rank and an offset
 * in one word; binding replaces each by an absolute address.
 *
 * <pre>
 *   header    8 bits kind | 16 sources (or channels) | 16 destinations | 8 flags | 16 words of the record
 *   DATA      header | bytes | fold | sources ... | destinations ...
 *   PACKETS   header | bytes | fold | plain source? | packet sources ... | plain destination? | packet destinations ...
 *   SIGNAL    header | (address of the counter at the peer | index and peer) ...
 *   WAIT      header | (address of the own counter | index, peer and whether to check the signature) ...
 *   ACQUIRE, RELEASE  header | semaphore ids ...
 *   BARRIER   header | id | lanes
 *   POST      header                       shows this rank's post of the launch to whoever waits for it
 *   FETCH     header | (address of the peer's first post | peer) ...   waits for peers' posts of the launch
 *   ARRIVE    header | lane                peers' inputs and outputs that this lane reaches are known from here on
 *   LOOP      header | iterations | bytes of one iteration | words of the body, END included; then the body
 *   END       header | words back to the first record of the body
 *
 *   DATA in a loop ends with a word: where the record begins in the region that the loop goes over
 *   PACKETS whose plain side is shorter than its packets end with a word: bytes of the plain side
 *
 *   fold      16 bits kernel (EACH_SCALED or not), COPY or USER | 16 scaled source + 1 | 16 position of the plain source of PACKETS,
 *                                                                       number of slots at the end of the destinations of DATA
 *   operand   8 bits base | 16 rank | 40 offset
 * </pre>
 */
final class Records {
    static final int DATA = 1;
    static final int PACKETS = 2;
    static final int SIGNAL = 3;
    static final int WAIT = 4;
    static final int ACQUIRE = 5;
    static final int RELEASE = 6;
    static final int BARRIER = 7;
    static final int ARRIVE = 8;
    static final int POST = 9;
    static final int FETCH = 10;
    static final int LOOP = 16;
    static final int END = 17;

    static final int PLAIN_SOURCE = 1;
    static final int PLAIN_DESTINATION = 2;
    /** Packets are preceded by a word with flag and signature. */
    static final int SIGNED = 4;
    /** Runs once per iteration, each time on another piece. */
    static final int LOOPED = 8;
    /** The plain side is shorter than the packets, which are filled up with zeros. */
    static final int CLIPPED = 16;
    /** Packets are passed on as they are, arrived or not. */
    static final int RAW = 32;

    /** Posts: by how much flags are to be shifted to tell their kind. */
    static final int POST_KIND = 6;

    static final int COPY = 0xFFFF;
    static final int USER = 0xFFFE;
    /** Added to a kernel: source i is rank i's own input, to be multiplied by that rank's scalar. Whatever is below is a kernel alone. */
    static final int EACH_SCALED = 0x100;

    static final int INPUT = 1;
    static final int OUTPUT = 2;
    static final int SCRATCH = 3;
    static final int PACKET_AREA = 4;
    static final int PLAN_SCRATCH = 5;
    static final int PLAN_PACKETS = 6;

    /** Operands start here in DATA and PACKETS. */
    static final int OPERANDS = 3;

    static final long CHECK = 1L << 62;

    private static final long OFFSET_MASK = (1L << 40) - 1;

    private Records() {}

    static long header(int kind, int sources, int destinations, int flags, int words) {
        return kind | ((long) sources << 8) | ((long) destinations << 24) | ((long) flags << 40) | ((long) words << 48);
    }

    static int kind(long header) {
        return (int) header & 0xFF;
    }

    /** Whether a record has operands, which binding turns into addresses. */
    static boolean hasOperands(long header) {
        int kind = kind(header);
        return kind == DATA || kind == PACKETS;
    }

    static int sources(long header) {
        return (int) (header >>> 8) & 0xFFFF;
    }

    static int destinations(long header) {
        return (int) (header >>> 24) & 0xFFFF;
    }

    static int flags(long header) {
        return (int) (header >>> 40) & 0xFF;
    }

    static int words(long header) {
        return (int) (header >>> 48) & 0xFFFF;
    }

    /** Where the first record of a kind is; negative if there is none. */
    static int find(int kind, long[] code) {
        for (int pc = 0; pc < code.length; pc += words(code[pc])) {
            if (kind(code[pc]) == kind) {
                return pc;
            }
        }
        return -1;
    }

    static long fold(int kernel, int scaled, int plainPosition) {
        return kernel | ((long) (scaled + 1) << 16) | ((long) plainPosition << 32);
    }

    static int kernel(long fold) {
        return (int) fold & 0xFFFF;
    }

    static int scaled(long fold) {
        return ((int) (fold >>> 16) & 0xFFFF) - 1;
    }

    static int plainPosition(long fold) {
        return (int) (fold >>> 32) & 0xFFFF;
    }

    /** How many of the last destinations of DATA are slots, which a peer reads. */
    static int slots(long fold) {
        return (int) (fold >>> 32) & 0xFFFF;
    }

    static long operand(int base, int rank, long offset) {
        if (offset < 0 || offset > OFFSET_MASK) {
            throw new IllegalArgumentException("offset " + offset + " is beyond 1 TiB");
        }
        return ((long) base << 56) | ((long) rank << 40) | offset;
    }

    static int base(long operand) {
        return (int) (operand >>> 56);
    }

    static int rank(long operand) {
        return (int) (operand >>> 40) & 0xFFFF;
    }

    static long offset(long operand) {
        return operand & OFFSET_MASK;
    }
}
