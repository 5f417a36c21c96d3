package dev.tutti.p2p;

import dev.tutti.DataType;

/**
 * Where things lie in the ring from one rank to another. It is memory of the receiver, zeroed at first, written by one rank
 * and read by one rank; a pair that never talks has none.
 *
 * <pre>
 *     0  head     bytes of frames that the receiver has taken, modulo nothing   written by the receiver, read by the
 *                 +8  eager bytes that it has handed to its users               sender when the ring looks full
 *   128  frames   {@value #CAPACITY} bytes, used over and over
 *
 *   frame: begins at a multiple of 64 bytes and is never split by the end of the ring
 *
 *     0  word     kind (8 bits) | type (8) | payload bytes (16) | tag or slot (32)        written last, with release
 *     8           EAGER     payload: a whole message, type and tag in the word
 *                 REQUEST   total bytes, then at 16 the sender's slot, type and tag in the word
 *                 GRANT     the receiver's slot, the sender's slot in the word            go from the receiver to the
 *                 REFUSAL   nothing, the sender's slot in the word                        sender, in the ring back
 *                 PADDING   nothing: go on at the beginning of the ring
 *    64           DATA      payload: the next piece of a granted message, the receiver's slot in the word
 *
 *       │ EAGER tag 5 │ DATA slot 0 ......... │ REQUEST tag 7 │ 0 │    free     │
 *       ▲ head                                                ▲ where the receiver will look next
 * </pre>
 *
 * The word doubles as the flag: before a frame is published, the word after it is cleared, so a receiver that looks there
 * finds zero until the next frame has come, never old payload. A small message therefore costs one transfer of a cache
 * line and no counter is shared but the head, which the sender reads only when it runs out of room.
 */
final class RingDescriptor {
    static final int HEAD = 0;
    static final int EAGER_TAKEN = 8;
    static final int FRAMES = 128;
    static final int CAPACITY = 1 << 18;
    static final long BYTES = FRAMES + CAPACITY;

    static final int LINE = 64;
    static final int EAGER_PAYLOAD = 8;
    static final int REQUEST_TOTAL = 8;
    static final int REQUEST_SLOT = 16;
    static final int GRANT_SLOT = 8;
    static final int DATA_PAYLOAD = LINE;

    static final int EAGER = 1;
    static final int REQUEST = 2;
    static final int GRANT = 3;
    static final int REFUSAL = 4;
    static final int DATA = 5;
    static final int PADDING = 6;

    /** The longest message that goes without asking. */
    static final int EAGER_LIMIT = 8 << 10;

    /**
     * The longest piece of a message that asked: an eighth of the ring, so that both sides copy at the same time. Two ranks on
     * two cores moved 1 MB at 10 GB/s so, at 8.2 GB/s with a ring of 64 KB and pieces of 16 KB.
     */
    static final int PIECE = 32 << 10;

    /**
     * How much may wait in the receiver's heap for a receive to be posted, per pair of ranks; each message counts as
     * {@link #EAGER_OVERHEAD} bytes more than it has. Beyond that small messages ask, too, and their sends wait.
     */
    static final long EAGER_WINDOW = 16 << 20;

    static final int EAGER_OVERHEAD = 128;

    private static final DataType[] TYPES = DataType.values();

    private RingDescriptor() {}

    static long word(int kind, int payloadBytes, int tagOrSlot) {
        return (long) kind << 56 | (long) payloadBytes << 32 | (tagOrSlot & 0xFFFFFFFFL);
    }

    /** The word of a message's first frame. */
    static long word(int kind, int payloadBytes, Message message) {
        return word(kind, payloadBytes, message.tag()) | (long) message.type.ordinal() << 48;
    }

    static DataType type(long word) {
        return TYPES[(int) (word >>> 48) & 0xFF];
    }

    static int kind(long word) {
        return (int) (word >>> 56);
    }

    static int payloadBytes(long word) {
        return (int) (word >>> 32) & 0xFFFF;
    }

    static int tagOrSlot(long word) {
        return (int) word;
    }

    static int frameBytes(int headerAndPayload) {
        return (headerAndPayload + LINE - 1) & -LINE;
    }

    static long eagerCharge(long bytes) {
        return bytes + EAGER_OVERHEAD;
    }
}
