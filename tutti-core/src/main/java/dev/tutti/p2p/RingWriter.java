package dev.tutti.p2p;

import static dev.tutti.p2p.RingDescriptor.CAPACITY;
import static dev.tutti.p2p.RingDescriptor.LINE;

import dev.tutti.memory.Memory;

/** The sender's side of a ring. Claim, fill, publish. */
final class RingWriter {
    private final long ring;
    private final long frames;
    private long position;
    private long headSeen;
    private int claimed;
    private long eagerSent;
    private long eagerTakenSeen;

    RingWriter(long ring) {
        this.ring = ring;
        this.frames = ring + RingDescriptor.FRAMES;
    }

    /**
     * Makes room for one frame.
     *
     * @param bytes header and payload
     * @return its address, or 0 if there is no room now
     */
    long claim(int bytes) {
        int length = RingDescriptor.frameBytes(bytes);
        int untilEnd = CAPACITY - offset();
        boolean fits = length <= untilEnd;
        // One line more than the frame: the word behind it is cleared.
        int needed = (fits ? length : untilEnd + length) + LINE;
        if (free() < needed && refreshedFree() < needed) {
            return 0;
        }
        if (!fits) {
            claimed = untilEnd;
            publish(RingDescriptor.word(RingDescriptor.PADDING, 0, 0));
        }
        claimed = length;
        return frames + offset();
    }

    /** How many bytes of payload one data frame can have now; -1 if there is no room for it. */
    int roomForData(long remaining) {
        int wanted = (int) Math.min(remaining, RingDescriptor.PIECE);
        int untilEnd = CAPACITY - offset();
        if (untilEnd > LINE) {
            wanted = Math.min(wanted, untilEnd - LINE);
            untilEnd = 0;
        }
        int needed = untilEnd + LINE + RingDescriptor.frameBytes(wanted) + LINE;
        return free() >= needed || refreshedFree() >= needed ? wanted : -1;
    }

    /** Shows the frame that was claimed; pairs with the acquire in {@link RingReader#peek}. */
    void publish(long word) {
        long next = (position + claimed) & (CAPACITY - 1);
        Memory.putLong(frames + next, 0);
        Memory.putLongRelease(frames + offset(), word);
        position += claimed;
    }

    /** Whether a message may go without asking. */
    boolean mayBeEager(long bytes) {
        if (bytes > RingDescriptor.EAGER_LIMIT) {
            return false;
        }
        long after = eagerSent + RingDescriptor.eagerCharge(bytes);
        if (after - eagerTakenSeen > RingDescriptor.EAGER_WINDOW) {
            eagerTakenSeen = Memory.getLongAcquire(ring + RingDescriptor.EAGER_TAKEN);
        }
        return after - eagerTakenSeen <= RingDescriptor.EAGER_WINDOW;
    }

    void countEager(long bytes) {
        eagerSent += RingDescriptor.eagerCharge(bytes);
    }

    private int offset() {
        return (int) position & (CAPACITY - 1);
    }

    private long free() {
        return CAPACITY - (position - headSeen);
    }

    /** Pairs with the release in {@link RingReader#advance}. */
    private long refreshedFree() {
        headSeen = Memory.getLongAcquire(ring + RingDescriptor.HEAD);
        return free();
    }
}
