package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory of this process whose pages come, zeroed, when they are first touched. Java clears all memory that it hands out, and so makes all pages of it at once,
 * a microsecond each.
 */
public final class PrivateMemory {
    private static final long MMAP = Libc.systemCall(9, 222);
    private static final long MUNMAP = Libc.systemCall(11, 215);
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;

    private PrivateMemory() {}

    /** So many zeros, on a boundary of pages, until nobody can reach the segment any more. Where the system gives none, Java does. */
    public static MemorySegment allocate(long bytes) {
        Arena arena = Arena.ofAuto();
        long address;
        try {
            address = map(bytes);
        } catch (RuntimeException | LinkageError refused) {
            return arena.allocate(bytes, 4096);
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, gone -> unmap(gone.address(), bytes));
    }

    static long map(long bytes) {
        MemorySegment scratch = Libc.scratch();
        long address = Libc.call(scratch, MMAP, 0, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
        if (address == -1) {
            throw new PosixException("mmap(" + bytes + " bytes of private memory)", Libc.errno(scratch));
        }
        return address;
    }

    static void unmap(long address, long bytes) {
        MemorySegment scratch = Libc.scratch();
        long result = Libc.call(scratch, MUNMAP, address, bytes);
        Libc.check(result, "munmap(0x" + Long.toHexString(address) + ", " + bytes + ")", scratch);
    }
}
