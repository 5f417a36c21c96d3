package dev.tutti.cuda;

import dev.tutti.cuda.driver.VirtualMemory;
import dev.tutti.posix.Pidfd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Physical memory mapped at addresses of its own: what can be handed to another process as a file descriptor. Every step that
 * fails undoes those before it.
 */
final class VirtualAllocation implements AutoCloseable {
    private static final int PINNED = 1;
    private static final int POSIX_DESCRIPTOR = 1;
    private static final int ON_DEVICE = 1;
    private static final int READ_WRITE = 3;
    private static final int RECOMMENDED = 1;
    private static final int PROPERTIES_BYTES = 32;
    private static final int ACCESS_BYTES = 12;

    private final long handle;
    private final long pointer;
    private final long bytes;
    /** Kept for other processes to duplicate; -1 until somebody asks. */
    private int descriptor = -1;

    private VirtualAllocation(long handle, long pointer, long bytes) {
        this.handle = handle;
        this.pointer = pointer;
        this.bytes = bytes;
    }

    /** New memory on the device that is current, at least this large. */
    static VirtualAllocation create(int device, long wanted) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = properties(arena, device);
            long bytes = roundUp(wanted, granularity(properties));
            return mapped(device, VirtualMemory.create(bytes, properties.address(), 0), bytes);
        }
    }

    /** Memory of another process behind a file descriptor, which stays the caller's. */
    static VirtualAllocation imported(int device, int descriptor, long wanted) {
        try (Arena arena = Arena.ofConfined()) {
            long bytes = roundUp(wanted, granularity(properties(arena, device)));
            return mapped(device, VirtualMemory.importHandle(descriptor, POSIX_DESCRIPTOR), bytes);
        }
    }

    private static VirtualAllocation mapped(int device, long handle, long bytes) {
        long pointer = 0;
        boolean isMapped = false;
        boolean ready = false;
        try (Arena arena = Arena.ofConfined()) {
            pointer = VirtualMemory.reserve(bytes, 0, 0, 0);
            VirtualMemory.map(pointer, bytes, 0, handle, 0);
            isMapped = true;
            MemorySegment access = arena.allocate(ACCESS_BYTES, 8);
            access.set(ValueLayout.JAVA_INT, 0, ON_DEVICE);
            access.set(ValueLayout.JAVA_INT, 4, device);
            access.set(ValueLayout.JAVA_INT, 8, READ_WRITE);
            VirtualMemory.setAccess(pointer, bytes, access.address(), 1);
            ready = true;
            return new VirtualAllocation(handle, pointer, bytes);
        } finally {
            if (!ready) {
                if (isMapped) {
                    VirtualMemory.unmap(pointer, bytes);
                }
                if (pointer != 0) {
                    VirtualMemory.freeAddresses(pointer, bytes);
                }
                VirtualMemory.release(handle);
            }
        }
    }

    private static MemorySegment properties(Arena arena, int device) {
        MemorySegment properties = arena.allocate(PROPERTIES_BYTES, 8);
        properties.set(ValueLayout.JAVA_INT, 0, PINNED);
        properties.set(ValueLayout.JAVA_INT, 4, POSIX_DESCRIPTOR);
        properties.set(ValueLayout.JAVA_INT, 8, ON_DEVICE);
        properties.set(ValueLayout.JAVA_INT, 12, device);
        return properties;
    }

    private static long granularity(MemorySegment properties) {
        return VirtualMemory.granularity(properties.address(), RECOMMENDED);
    }

    private static long roundUp(long bytes, long granularity) {
        return Math.multiplyExact((Math.max(1, bytes) + granularity - 1) / granularity, granularity);
    }

    long pointer() {
        return pointer;
    }

    long bytes() {
        return bytes;
    }

    /** A new file descriptor, which the caller closes. */
    int export() {
        return VirtualMemory.export(handle, POSIX_DESCRIPTOR, 0);
    }

    /** A file descriptor that stays this memory's: processes that may do so can duplicate it while it lives. */
    synchronized int descriptor() {
        if (descriptor < 0) {
            descriptor = export();
        }
        return descriptor;
    }

    @Override
    public synchronized void close() {
        if (descriptor >= 0) {
            Pidfd.close(descriptor);
            descriptor = -1;
        }
        VirtualMemory.unmap(pointer, bytes);
        VirtualMemory.freeAddresses(pointer, bytes);
        VirtualMemory.release(handle);
    }
}
