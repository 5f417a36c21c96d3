package dev.tutti.cuda;

import dev.tutti.Collective;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.DataType;
import dev.tutti.TuttiException;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nccl.NcclCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A rank that talks to the others through NCCL: ranks of several devices, processes and hosts, and of other programs that use
 * NCCL. Takes the same {@link CudaCall}s. It never blocks inside NCCL: what does not come about in time is aborted and thrown.
 *
 * {@snippet :
 * byte[] id = rank == 0 ? NcclCommunicator.newId() : received;      // 128 bytes, to every rank
 * try (NcclCommunicator comm = NcclCommunicator.open(device, ranks, id, rank, Duration.ofSeconds(30))) {
 *     comm.start(CudaCall.allReduce(x, x, ReduceOp.SUM)).await();
 * }
 * }
 *
 * <p>Arithmetic is NCCL's. It has no 16-bit integers and no bitwise operators; such reductions are refused.
 */
public final class NcclCommunicator implements AutoCloseable {
    private static final int CONFIG_BYTES = 48;
    private static final int CONFIG_MAGIC = 0xCAFEBEEF;
    private static final int CONFIG_VERSION = 21800;
    private static final int UNDEFINED = Integer.MIN_VALUE;
    private static final int NO_COLOUR = -1;
    private static final VarHandle HANDLE = ValueLayout.JAVA_LONG.varHandle();

    private final CudaDevice device;
    private final int generation;
    private final int rank;
    private final int size;
    private final long timeoutNanos;
    private final CudaStream stream;
    private final EventPool events;
    private final NcclOperations operations;
    private long handle;
    private @Nullable RuntimeException broken;

    private NcclCommunicator(CudaDevice device, int rank, int size, long handle, long timeoutNanos) {
        this.device = device;
        this.generation = device.generation();
        this.rank = rank;
        this.size = size;
        this.handle = handle;
        this.timeoutNanos = timeoutNanos;
        this.stream = device.stream();
        this.events = new EventPool(device);
        this.operations = new NcclOperations(this);
    }

    /**
     * An id by which the ranks of a new communicator find each other; one rank makes it and gives it to all.
     *
     * @return 128 bytes
     */
    public static byte[] newId() {
        requireAvailable();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment id = arena.allocate(Nccl.ID_BYTES, 8);
            NcclCalls.getUniqueId(id.address());
            return id.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /**
     * Joins a communicator; returns when all ranks have.
     *
     * @param device of this rank
     * @param ranks how many there are
     * @param id from {@link #newId}, the same on all ranks
     * @param rank who this is
     * @param timeout how long to wait for the others, now and in every call
     * @return the communicator, to be closed
     */
    public static NcclCommunicator open(CudaDevice device, int ranks, byte[] id, int rank, Duration timeout) {
        requireAvailable();
        if (id.length != Nccl.ID_BYTES) {
            throw new IllegalArgumentException("an id has " + Nccl.ID_BYTES + " bytes, got " + id.length);
        }
        Objects.checkIndex(rank, ranks);
        device.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment idMemory = arena.allocate(Nccl.ID_BYTES, 8).copyFrom(MemorySegment.ofArray(id));
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            long config = config(arena);
            return join(
                    device,
                    rank,
                    ranks,
                    timeout.toNanos(),
                    "ncclCommInitRankConfig",
                    made,
                    () -> Nccl.initRank(made.address(), ranks, idMemory, rank, config));
        }
    }

    private static NcclCommunicator join(
            CudaDevice device,
            int rank,
            int ranks,
            long timeoutNanos,
            String call,
            MemorySegment made,
            IntSupplier start) {
        int code = start.getAsInt();
        if (code != 0 && code != Nccl.IN_PROGRESS) {
            throw Nccl.failure(code, call, "rank " + rank + " of " + ranks);
        }
        // Another thread of NCCL's may write the handle later.
        long handle = (long) HANDLE.getVolatile(made, 0L);
        long deadline = System.nanoTime() + timeoutNanos;
        while (handle == 0 || (code = NcclCalls.asyncError(handle)) == Nccl.IN_PROGRESS) {
            if (System.nanoTime() - deadline > 0) {
                if (handle != 0) {
                    NcclCalls.abort(handle);
                }
                throw new CollectiveTimeoutException(
                        "rank " + rank + " of " + ranks + " on " + device + " waited " + Duration.ofNanos(timeoutNanos)
                                + " in " + call + ": not all " + ranks + " ranks have come with this id; see what the"
                                + " others are doing, or give a longer timeout",
                        null);
            }
            LockSupport.parkNanos(100_000);
            handle = (long) HANDLE.getVolatile(made, 0L);
        }
        if (code != 0) {
            NcclCalls.abort(handle);
            throw Nccl.failure(code, call, "rank " + rank + " of " + ranks);
        }
        return new NcclCommunicator(device, rank, ranks, handle, timeoutNanos);
    }

    /** The structure of version 2.18, which later versions read as far as it goes. */
    private static long config(Arena arena) {
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

    private static void requireAvailable() {
        String cause = Nccl.unavailabilityCause();
        if (cause != null) {
            throw new UnsupportedOperationException(cause);
        }
    }

    /**
     * Who this is.
     *
     * @return from 0
     */
    public int rank() {
        return rank;
    }

    /**
     * How many ranks there are.
     *
     * @return at least 1
     */
    public int size() {
        return size;
    }

    /**
     * The stream that calls go into.
     *
     * @return this rank's own
     */
    public CudaStream stream() {
        return stream;
    }

    CudaDevice device() {
        return device;
    }

    long handle() {
        return handle;
    }

    /**
     * Makes a call.
     *
     * @param call this rank's part
     * @return what to wait for
     */
    public CudaWork start(CudaCall call) {
        return startAll(List.of(call));
    }

    /**
     * Makes calls that run together: none waits for another of the same list.
     *
     * @param calls this rank's parts
     * @return what to wait for: the end of all
     */
    public CudaWork startAll(List<CudaCall> calls) {
        requireUsable();
        for (CudaCall call : calls) {
            call.check(rank, size);
            call.requireOpen();
            operations.requirePossible(call);
        }
        stream.enter();
        operations.run(calls);
        return new CudaWork(
                new Completion(device, events, stream.handle()),
                CudaWork.Notice.POLL,
                timeoutNanos,
                "rank " + rank + "'s " + calls + " through NCCL",
                () -> breakOff("a deadline passed"));
    }

    /** Waits until NCCL has taken what it was given; a call that does not block may come back before. */
    void settle(int code, String what) {
        int now = code;
        long deadline = 0;
        while (now == Nccl.IN_PROGRESS) {
            long time = System.nanoTime();
            if (deadline == 0) {
                deadline = time + timeoutNanos;
            } else if (time - deadline > 0) {
                breakOff(what + " was not taken");
                throw new CollectiveTimeoutException(
                        "rank " + rank + " of " + size + " waited " + Duration.ofNanos(timeoutNanos) + " in " + what
                                + ": a rank has not come",
                        null);
            }
            Thread.onSpinWait();
            now = NcclCalls.asyncError(handle);
        }
        if (now != 0) {
            RuntimeException failure = Nccl.failure(now, what, "rank " + rank + " of " + size);
            breakOff(what + " failed");
            throw failure;
        }
    }

    /**
     * Makes communicators of the ranks that give the same colour; all ranks call it.
     *
     * @param colour not negative, or -1 to be in none
     * @param key orders the ranks
     * @return this rank's, or null
     */
    public @Nullable NcclCommunicator split(int colour, int key) {
        requireUsable();
        // Who is in which is not for NCCL to say: ranks tell each other.
        long[] all = operations.exchange(colour, key);
        int members = 0;
        int place = 0;
        for (int each = 0; each < size; each++) {
            if (all[2 * each] == colour) {
                members++;
                boolean before = all[2 * each + 1] < key || (all[2 * each + 1] == key && each < rank);
                place += before ? 1 : 0;
            }
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            long config = config(arena);
            device.enter();
            if (colour < 0) {
                settle(NcclCalls.split(handle, NO_COLOUR, key, made.address(), config), "ncclCommSplit");
                return null;
            }
            return joinChild(place, members, "ncclCommSplit", made, () -> {
                int code = NcclCalls.split(handle, colour, key, made.address(), config);
                settle(code, "ncclCommSplit");
                return 0;
            });
        }
    }

    /**
     * Makes a communicator without some ranks; those that stay call it. Needs NCCL 2.27.
     *
     * @param excluded ranks that leave
     * @return this rank's new communicator
     */
    public NcclCommunicator shrink(int... excluded) {
        requireUsable();
        if (!Nccl.has("ncclCommShrink")) {
            throw new UnsupportedOperationException(
                    "NCCL " + Nccl.version() + " cannot shrink: 2.27 or later is needed");
        }
        int before = 0;
        for (int each : excluded) {
            before += each < rank ? 1 : 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment ranks = arena.allocateFrom(ValueLayout.JAVA_INT, excluded);
            long config = config(arena);
            device.enter();
            return joinChild(rank - before, size - excluded.length, "ncclCommShrink", made, () -> {
                int code = NcclCalls.shrink(handle, ranks.address(), excluded.length, made.address(), config, 0);
                settle(code, "ncclCommShrink");
                return 0;
            });
        }
    }

    private NcclCommunicator joinChild(int place, int members, String call, MemorySegment made, IntSupplier start) {
        return join(device, place, members, timeoutNanos, call, made, start);
    }

    /**
     * Ends everything on this communicator now. Other ranks notice by their deadlines.
     *
     * @param reason what later calls will say
     */
    public void abort(String reason) {
        breakOff(reason);
    }

    private synchronized void breakOff(String reason) {
        if (broken == null) {
            broken = new TuttiException(
                    TuttiException.Category.BROKEN, "this NCCL communicator was aborted: " + reason, null);
            if (handle != 0 && generation == device.generation()) {
                device.enter();
                NcclCalls.abort(handle);
            }
            handle = 0;
        }
    }

    private void requireUsable() {
        RuntimeException cause = broken;
        if (cause != null) {
            throw cause;
        }
        device.enter(generation, "this NCCL communicator");
    }

    /** The elements as NCCL numbers them; moving needs no type. */
    static int type(DataType type) {
        return type.number();
    }

    static boolean isKnown(DataType type) {
        return type.number() <= DataType.FLOAT8E5M2.number();
    }

    static boolean moves(CudaCall call) {
        return call.collective == null
                || !Objects.requireNonNull(call.collective).isReducing();
    }

    static boolean isScan(CudaCall call) {
        return call.collective == Collective.SCAN || call.collective == Collective.EXSCAN;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (handle == 0) {
                return;
            }
            if (broken == null) {
                broken = new IllegalStateException("this NCCL communicator has been closed");
            }
            if (generation == device.generation()) {
                device.enter();
                stream.synchronise();
                operations.close();
                int code = NcclCalls.finalise(handle);
                long deadline = System.nanoTime() + timeoutNanos;
                while (code == Nccl.IN_PROGRESS && System.nanoTime() - deadline < 0) {
                    LockSupport.parkNanos(100_000);
                    code = NcclCalls.asyncError(handle);
                }
                if (code == 0) {
                    NcclCalls.destroy(handle);
                } else {
                    NcclCalls.abort(handle);
                }
            }
            handle = 0;
        }
        stream.close();
        events.close();
    }
}
