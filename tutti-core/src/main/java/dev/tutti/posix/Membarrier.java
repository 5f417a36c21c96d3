package dev.tutti.posix;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A memory barrier on every core that runs a thread of a registered process. It lets one side of "write mine, then read yours"
 * do without a fence, when the other side is about to sleep anyway and can pay for both.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/membarrier.2.html">membarrier(2)</a>
 */
public final class Membarrier {
    private static final long MEMBARRIER = Libc.systemCall(324, 283);
    private static final long GLOBAL_EXPEDITED = 2;
    private static final long REGISTER_GLOBAL_EXPEDITED = 4;

    private static final @Nullable Throwable UNAVAILABILITY_CAUSE = register();

    private Membarrier() {}

    private static @Nullable Throwable register() {
        try {
            call(REGISTER_GLOBAL_EXPEDITED, "membarrier(REGISTER_GLOBAL_EXPEDITED)");
            call(GLOBAL_EXPEDITED, "membarrier(GLOBAL_EXPEDITED)");
            return null;
        } catch (RuntimeException | LinkageError cause) {
            return cause;
        }
    }

    /** Whether it works here. The first question registers this process. */
    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /** Why it does not, or null. */
    public static @Nullable Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /** Returns when every core that runs a registered process has passed a full fence. */
    public static void everywhere() {
        call(GLOBAL_EXPEDITED, "membarrier(GLOBAL_EXPEDITED)");
    }

    private static void call(long command, String call) {
        MemorySegment scratch = Libc.scratch();
        Libc.check(Libc.call(scratch, MEMBARRIER, command, 0), call, scratch);
    }
}
