package dev.tutti.posix;

import java.lang.foreign.MemorySegment;

/** Machine instructions on a page of their own, which cannot be written any more once it can be executed. */
final class Instructions {
    private static final long MMAP = 9;
    private static final long MPROTECT = 10;
    private static final long MUNMAP = 11;
    private static final long PAGE = 4096;
    private static final long READ_WRITE = 1 | 2;
    private static final long READ_EXECUTE = 1 | 4;
    private static final long PRIVATE_ANONYMOUS = 0x02 | 0x20;

    private Instructions() {}

    /** Loads up to a page of x86-64 code for good. */
    static MemorySegment load(byte[] instructions) {
        long page = systemCall("mmap", MMAP, 0, PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        MemorySegment code = MemorySegment.ofAddress(page).reinterpret(PAGE);
        code.copyFrom(MemorySegment.ofArray(instructions));
        try {
            systemCall("mprotect", MPROTECT, page, PAGE, READ_EXECUTE, 0, 0, 0);
        } catch (PosixException refused) {
            systemCall("munmap", MUNMAP, page, PAGE, 0, 0, 0, 0);
            throw refused;
        }
        return code;
    }

    private static long systemCall(String name, long number, long a, long b, long c, long d, long e, long f) {
        MemorySegment scratch = Libc.scratch();
        long result = Libc.call(scratch, number, a, b, c, d, e, f);
        if (result == -1) {
            throw new PosixException(name + "(a page of instructions)", Libc.errno(scratch));
        }
        return result;
    }
}
