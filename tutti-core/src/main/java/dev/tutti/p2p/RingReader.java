package dev.tutti.p2p;

import dev.tutti.memory.Memory;

/** The receiver's side of a ring. */
final class RingReader {
    private final long ring;
    private final long frames;
    private long position;
    private long eagerTaken;

    RingReader(long ring) {
        this.ring = ring;
        this.frames = ring + RingDescriptor.FRAMES;
    }

    /** The word of the next frame, or 0 if there is none; pairs with the release in {@link RingWriter#publish}. */
    long peek() {
        long word = Memory.getLongAcquire(address());
        return RingDescriptor.kind(word) == RingDescriptor.PADDING ? skipPadding() : word;
    }

    private long skipPadding() {
        advance(RingDescriptor.CAPACITY - offset());
        return Memory.getLongAcquire(address());
    }

    /** Where the next frame is. */
    long address() {
        return frames + offset();
    }

    /** Gives the room of the next frame back; pairs with the acquire in {@link RingWriter#claim}. */
    void advance(int frameBytes) {
        position += frameBytes;
        Memory.putLongRelease(ring + RingDescriptor.HEAD, position);
    }

    /** An eager message has reached its user; pairs with the acquire in {@link RingWriter#mayBeEager}. */
    void handedOver(long bytes) {
        eagerTaken += RingDescriptor.eagerCharge(bytes);
        Memory.putLongRelease(ring + RingDescriptor.EAGER_TAKEN, eagerTaken);
    }

    private int offset() {
        return (int) position & (RingDescriptor.CAPACITY - 1);
    }
}
