package dev.tutti.posix;

import java.lang.foreign.MemorySegment;

/** Machine instructions on a page of their own, which cannot be written any more once it can be executed. */
final class Instructions {
    private static final long MPROTECT = 10;
    private static final long PAGE = 4096;
    private static final long READ_EXECUTE = 1 | 4;

    private Instructions() {}

    /** Loads up to a page of x86-64 code for good. */
    static MemorySegment load(byte[] instructions) {
        long page = PrivateMemory.map(PAGE);
        MemorySegment code = MemorySegment.ofAddress(page).reinterpret(PAGE);
        code.copyFrom(MemorySegment.ofArray(instructions));
        MemorySegment scratch = Libc.scratch();
        if (Libc.call(scratch, MPROTECT, page, PAGE, READ_EXECUTE) == -1) {
            int errno = Libc.errno(scratch);
            PrivateMemory.unmap(page, PAGE);
            throw new PosixException("mprotect(a page of instructions)", errno);
        }
        return code;
    }
}
