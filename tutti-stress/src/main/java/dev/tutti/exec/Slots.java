package dev.tutti.exec;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** Native memory for the states of a test: far more pieces than states live at once, used round and round. */
public final class Slots {
    private static final int COUNT = 1 << 14;

    private final MemorySegment memory;
    private final int bytes;
    private final AtomicInteger next = new AtomicInteger();

    public Slots(int bytes) {
        this.bytes = bytes;
        this.memory = Arena.global().allocate((long) bytes * COUNT, 128);
    }

    /** Address of a zeroed piece. */
    public long take() {
        long offset = (long) (next.getAndIncrement() & (COUNT - 1)) * bytes;
        memory.asSlice(offset, bytes).fill((byte) 0);
        return memory.address() + offset;
    }
}
