package dev.tutti.p2p;

import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Copies between users' memory and rings, at most 64 KB at once. Used under the postbox's lock. */
final class Copies {
    static final int LONGEST = 64 << 10;

    private final Operand one = new Operand();
    private final Operand other = new Operand();
    private MemorySegment bounce = MemorySegment.NULL;

    void load(Message from, long offset, long to, long length) {
        if (length == 0) {
            return;
        }
        from.describe(one);
        if (one.isDirect()) {
            Memory.copy(one.address() + offset, to, length);
        } else {
            one.load(offset, to, length);
        }
        one.clear();
    }

    void store(Message to, long offset, long from, long length) {
        if (length == 0) {
            return;
        }
        to.describe(one);
        if (one.isDirect()) {
            Memory.copy(from, one.address() + offset, length);
        } else {
            one.store(offset, from, length);
        }
        one.clear();
    }

    /** Small messages wait in the heap; the user's memory may be there, too, and those two meet only outside of it. */
    void store(Message to, byte[] payload) {
        if (payload.length > 0) {
            long address = bounce();
            MemorySegment.copy(payload, 0, Memory.ALL, ValueLayout.JAVA_BYTE, address, payload.length);
            store(to, 0, address, payload.length);
        }
    }

    byte[] toHeap(long from, int length) {
        byte[] payload = new byte[length];
        MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_BYTE, from, payload, 0, length);
        return payload;
    }

    byte[] toHeap(Message from) {
        long address = bounce();
        load(from, 0, address, from.bytes);
        return toHeap(address, (int) from.bytes);
    }

    /** Copies a piece of a message to this rank itself. */
    void between(Message from, Message to, long offset, long length) {
        from.describe(other);
        if (other.isDirect()) {
            store(to, offset, other.address() + offset, length);
        } else {
            long address = bounce();
            other.load(offset, address, length);
            store(to, offset, address, length);
        }
        other.clear();
    }

    private long bounce() {
        if (bounce.address() == 0) {
            bounce = Arena.ofAuto().allocate(LONGEST, RingDescriptor.LINE);
        }
        return bounce.address();
    }
}
