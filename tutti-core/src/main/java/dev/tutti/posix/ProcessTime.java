package dev.tutti.posix;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Processor time of this process.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/clock_gettime.2.html">clock_gettime(2)</a>
 */
public final class ProcessTime {
    private static final long CLOCK_GETTIME = Libc.systemCall(228, 113);
    private static final int CLOCK_PROCESS_CPUTIME_ID = 2;

    private ProcessTime() {}

    /** Nanoseconds of processor time that all threads have taken together; 0 where that is not known. */
    public static long nanos() {
        if (Libc.UNAVAILABILITY_CAUSE != null) {
            return 0;
        }
        MemorySegment scratch = Libc.scratch();
        MemorySegment time = Libc.structure(scratch);
        Libc.check(
                Libc.call(scratch, CLOCK_GETTIME, CLOCK_PROCESS_CPUTIME_ID, time.address()), "clock_gettime", scratch);
        return 1_000_000_000 * time.get(ValueLayout.JAVA_LONG, 0) + time.get(ValueLayout.JAVA_LONG, Long.BYTES);
    }
}
