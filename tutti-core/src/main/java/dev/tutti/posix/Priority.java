package dev.tutti.posix;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * How urgent a thread is. The JVM's own priorities mean nothing to Linux unless it is started with flags for that.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/setpriority.2.html">setpriority(2)</a>: on Linux, of one thread
 */
public final class Priority {
    private static final long SETPRIORITY = Libc.systemCall(141, 140);
    private static final long PRIO_PROCESS = 0;
    private static final long CALLER = 0;
    private static final long LEAST = 19;

    private Priority() {}

    private static final class Handles {
        private static final MethodHandle SYSCALL3 = Libc.syscall(3);
    }

    /**
     * Lets everybody else go before the calling thread, which must be a platform thread, from now on.
     *
     * @return false where that is not possible
     */
    public static boolean lowest() {
        try {
            MemorySegment scratch = Libc.scratch();
            return (long) Handles.SYSCALL3.invokeExact(scratch, SETPRIORITY, PRIO_PROCESS, CALLER, LEAST) == 0;
        } catch (UnsupportedOperationException | LinkageError notHere) {
            return false;
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }
}
