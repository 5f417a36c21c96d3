package dev.tutti.cuda.library;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** A little native memory of the thread, for values that functions return through pointers. */
public final class Scratch {
    private static final int BYTES = 512;

    private static final ThreadLocal<MemorySegment> MEMORY =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(BYTES, 64));

    private Scratch() {}

    /** The thread's memory, with whatever was in it. */
    public static MemorySegment get() {
        return MEMORY.get();
    }

    /** The thread's memory, its first 64 bytes zero. */
    public static MemorySegment zeroed() {
        MemorySegment memory = MEMORY.get();
        memory.asSlice(0, 64).fill((byte) 0);
        return memory;
    }

    /** A C string of another library's, at most {@code limit} bytes. */
    public static String string(long address, int limit) {
        if (address == 0) {
            return "";
        }
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(limit);
        int length = 0;
        while (length < limit && memory.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        return new String(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** What a handle threw, as something that needs no declaration. */
    public static RuntimeException rethrown(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(thrown);
    }
}
