package dev.tutti.memory;

import dev.tutti.posix.StreamingCopy;
import dev.tutti.posix.StringCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Memory by absolute address. Every hot path goes through this one segment: passing segments around mixes native, mapped
 * and heap classes at each access and costs two to five times the speed. Nothing here checks bounds; lengths are checked where
 * a user's buffer becomes an address.
 *
 * <p>The order of each access is in its name. Every release is paired with the acquire named at its caller.
 */
public final class Memory {
    /** All of the address space. */
    public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private Memory() {}

    public static long getLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG, address);
    }

    public static void putLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG, address, value);
    }

    public static long getLongAcquire(long address) {
        return (long) LONG.getAcquire(ALL, address);
    }

    public static void putLongRelease(long address, long value) {
        LONG.setRelease(ALL, address, value);
    }

    public static long getLongOpaque(long address) {
        return (long) LONG.getOpaque(ALL, address);
    }

    public static boolean compareAndSetLong(long address, long expected, long value) {
        return LONG.compareAndSet(ALL, address, expected, value);
    }

    public static long getAndAddLong(long address, long added) {
        return (long) LONG.getAndAdd(ALL, address, added);
    }

    public static int getIntAcquire(long address) {
        return (int) INT.getAcquire(ALL, address);
    }

    public static int getIntOpaque(long address) {
        return (int) INT.getOpaque(ALL, address);
    }

    public static void putIntOpaque(long address, int value) {
        INT.setOpaque(ALL, address, value);
    }

    public static void putIntVolatile(long address, int value) {
        INT.setVolatile(ALL, address, value);
    }

    public static int getAndSetInt(long address, int value) {
        return (int) INT.getAndSet(ALL, address, value);
    }

    public static int getAndAddInt(long address, int added) {
        return (int) INT.getAndAdd(ALL, address, added);
    }

    /** Copies bytes; the ranges must not overlap in part. */
    public static void copy(long source, long destination, long bytes) {
        if (bytes == 8) {
            ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, destination, ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, source));
        } else if (source != destination) {
            MemorySegment.copy(ALL, source, ALL, destination, bytes);
        }
    }

    /**
     * Copies bytes past the caches, where this machine can: for what its writer does not read again soon, and no reader finds in a
     * cache that it shares with the writer. The ranges must not overlap.
     */
    public static void stream(long source, long destination, long bytes) {
        if (source == destination || !StreamingCopy.isAvailable()) {
            copy(source, destination, bytes);
        } else {
            StreamingCopy.copy(source, destination, bytes);
        }
    }

    /** Copies bytes in one instruction, where this machine can: without fetching the lines that it overwrites. The ranges must not overlap. */
    public static void copyString(long source, long destination, long bytes) {
        if (source == destination || !StringCopy.isAvailable()) {
            copy(source, destination, bytes);
        } else {
            StringCopy.copy(source, destination, bytes);
        }
    }

    public static void fill(long address, long bytes, byte value) {
        ALL.asSlice(address, bytes).fill(value);
    }

    public static long roundUp(long value, long multiple) {
        return (value + multiple - 1) / multiple * multiple;
    }
}
