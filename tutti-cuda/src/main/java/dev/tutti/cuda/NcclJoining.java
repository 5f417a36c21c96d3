package dev.tutti.cuda;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nccl.NcclCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes a communicator of NCCL's without ever blocking in it.
 *
 * @param device of this rank
 * @param rank who this is
 * @param ranks how many there are
 * @param timeoutNanos how long to wait for the others, now and in every call
 * @param attendance tells who is missing; closed with the communicator
 */
record NcclJoining(
        CudaDevice device,
        int rank,
        int ranks,
        long timeoutNanos,
        @Nullable Attendance attendance) {
    private static final int CONFIG_BYTES = 48;
    private static final int CONFIG_MAGIC = 0xCAFEBEEF;
    private static final int CONFIG_VERSION = 21800;
    private static final int UNDEFINED = Integer.MIN_VALUE;
    private static final long LOOK_NANOS = 100_000;
    private static final VarHandle HANDLE = ValueLayout.JAVA_LONG.varHandle();

    static void requireAvailable() {
        String cause = Nccl.unavailabilityCause();
        if (cause != null) {
            throw new UnsupportedOperationException(cause);
        }
    }

    /** The ranks of a communicator of Tutti's, which is closed with what this returns. */
    static NcclCommunicator of(Communicator ranks, CudaDevice device) {
        byte[] id = new byte[0];
        RuntimeException failure = null;
        try {
            requireAvailable();
            id = ranks.rank() == 0 ? NcclCommunicator.newId() : id;
        } catch (RuntimeException cannot) {
            failure = cannot;
        }
        // Everybody learns of a rank that cannot, instead of waiting for it.
        long[] able = new long[ranks.size()];
        ranks.allGather(new long[] {failure == null ? 1 : 0}, able);
        if (failure != null) {
            throw failure;
        }
        for (int each = 0; each < able.length; each++) {
            if (able[each] == 0) {
                throw new UnsupportedOperationException("rank " + each + " cannot use NCCL; it says why");
            }
        }
        id = ranks.broadcastBytes(ranks.rank() == 0 ? id : null, 0);
        long timeoutNanos = Opening.timeout(ranks).toNanos();
        return new NcclJoining(device, ranks.rank(), ranks.size(), timeoutNanos, Attendance.of(ranks)).byId(id);
    }

    /** By an id that all ranks have. */
    NcclCommunicator byId(byte[] id) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment idMemory = arena.allocate(Nccl.ID_BYTES, 8).copyFrom(MemorySegment.ofArray(id));
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            long config = config(arena);
            return by("ncclCommInitRankConfig", made, to -> Nccl.initRank(to.address(), ranks, idMemory, rank, config));
        }
    }

    /**
     * By a call of NCCL's that all ranks make.
     *
     * @param call its name
     * @param made where NCCL writes the handle
     * @param begin calls it
     */
    NcclCommunicator by(String call, MemorySegment made, ToIntFunction<MemorySegment> begin) {
        device.enter();
        if (attendance != null) {
            attendance.come(1);
        }
        try {
            return new NcclCommunicator(this, await(call, made, begin));
        } catch (RuntimeException failed) {
            if (attendance != null) {
                attendance.abort(who() + " could not join through NCCL: " + failed.getMessage());
                attendance.close();
            }
            throw failed;
        }
    }

    private String who() {
        return "rank " + rank + " of " + ranks + " on " + device;
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

    /** Begins and waits until all ranks have; returns the handle. */
    private long await(String call, MemorySegment made, ToIntFunction<MemorySegment> begin) {
        int code = begin.applyAsInt(made);
        if (code != 0 && code != Nccl.IN_PROGRESS) {
            throw Nccl.failure(code, call, who());
        }
        // Another thread of NCCL's may write the handle later.
        long handle = (long) HANDLE.getVolatile(made, 0L);
        long deadline = System.nanoTime() + timeoutNanos;
        while (handle == 0 || (code = NcclCalls.asyncError(handle)) == Nccl.IN_PROGRESS) {
            try {
                look(call, deadline);
            } catch (RuntimeException useless) {
                if (handle != 0) {
                    NcclCalls.abort(handle);
                }
                throw useless;
            }
            LockSupport.parkNanos(LOOK_NANOS);
            handle = (long) HANDLE.getVolatile(made, 0L);
        }
        if (code != 0) {
            NcclCalls.abort(handle);
            throw Nccl.failure(code, call, who());
        }
        return handle;
    }

    /** Throws if there is no use in waiting. */
    private void look(String call, long deadline) {
        if (attendance != null) {
            attendance.requireAll();
        }
        if (System.nanoTime() - deadline > 0) {
            String missing = attendance != null
                    ? attendance.whoIsMissing(1)
                    : "not all " + ranks + " ranks have come with this id";
            throw new CollectiveTimeoutException(
                    who() + " waited " + Duration.ofNanos(timeoutNanos) + " in " + call + ": " + missing
                            + "; see what the others are doing, or give a longer timeout",
                    null);
        }
    }
}
