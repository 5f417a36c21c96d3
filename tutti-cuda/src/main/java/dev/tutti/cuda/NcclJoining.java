package dev.tutti.cuda;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nccl.NcclCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/** Makes NCCL's communicators without ever blocking in it. */
final class NcclJoining {
    private static final int CONFIG_BYTES = 48;
    private static final int CONFIG_MAGIC = 0xCAFEBEEF;
    private static final int CONFIG_VERSION = 21800;
    private static final int UNDEFINED = Integer.MIN_VALUE;
    private static final long LOOK_NANOS = 100_000;
    private static final VarHandle HANDLE = ValueLayout.JAVA_LONG.varHandle();

    private NcclJoining() {}

    /** What else there is to look at while ranks are waited for. */
    interface Watch {
        /** Throws if there is no use in waiting. */
        void look();

        /** Who has not come, for the message. */
        String missing();
    }

    /** The structure of version 2.18, which later versions read as far as it goes. */
    static long config(Arena arena) {
        MemorySegment config = arena.allocate(CONFIG_BYTES, 8);
        config.set(ValueLayout.JAVA_LONG, 0, CONFIG_BYTES);
        config.set(ValueLayout.JAVA_INT, 8, CONFIG_MAGIC);
        config.set(ValueLayout.JAVA_INT, 12, CONFIG_VERSION);
        config.set(ValueLayout.JAVA_INT, 16, 0); // does not block
        for (int at = 20; at < 32; at += 4) {
            config.set(ValueLayout.JAVA_INT, at, UNDEFINED);
        }
        config.set(ValueLayout.JAVA_LONG, 32, 0);
        config.set(ValueLayout.JAVA_INT, 40, UNDEFINED);
        config.set(ValueLayout.JAVA_INT, 44, UNDEFINED);
        return config.address();
    }

    /**
     * Begins and waits until all ranks have.
     *
     * @param who this rank, for messages
     * @param call the function of NCCL
     * @param made where NCCL writes the handle
     * @param begin calls the function
     * @return the handle
     */
    static long join(String who, long timeoutNanos, String call, MemorySegment made, Watch watch, IntSupplier begin) {
        int code = begin.getAsInt();
        if (code != 0 && code != Nccl.IN_PROGRESS) {
            throw Nccl.failure(code, call, who);
        }
        // Another thread of NCCL's may write the handle later.
        long handle = (long) HANDLE.getVolatile(made, 0L);
        long deadline = System.nanoTime() + timeoutNanos;
        while (handle == 0 || (code = NcclCalls.asyncError(handle)) == Nccl.IN_PROGRESS) {
            RuntimeException cause = null;
            try {
                watch.look();
                if (System.nanoTime() - deadline > 0) {
                    cause = new CollectiveTimeoutException(
                            who + " waited " + Duration.ofNanos(timeoutNanos) + " in " + call + ": " + watch.missing()
                                    + "; see what the others are doing, or give a longer timeout",
                            null);
                }
            } catch (RuntimeException useless) {
                cause = useless;
            }
            if (cause != null) {
                if (handle != 0) {
                    NcclCalls.abort(handle);
                }
                throw cause;
            }
            LockSupport.parkNanos(LOOK_NANOS);
            handle = (long) HANDLE.getVolatile(made, 0L);
        }
        if (code != 0) {
            NcclCalls.abort(handle);
            throw Nccl.failure(code, call, who);
        }
        return handle;
    }
}
