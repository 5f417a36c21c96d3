package dev.tutti.cuda;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.TuttiException;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nccl.NcclCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A rank that talks to the others through NCCL: ranks of several devices, processes and hosts. {@link DeviceCommunicator#open} makes
 * one of a Tutti communicator, which then knows who is missing; {@link #open} makes one of an id, for ranks some of which are other
 * programs. It never blocks inside NCCL: what does not come about in time is aborted and thrown.
 *
 * {@snippet :
 * byte[] id = rank == 0 ? NcclCommunicator.newId() : received;      // 128 bytes, to every rank
 * try (NcclCommunicator comm = NcclCommunicator.open(device, ranks, id, rank, Duration.ofSeconds(30))) {
 *     comm.allReduce(x, ReduceOp.SUM).await();
 * }
 * }
 *
 * <p>Arithmetic is NCCL's. It has no 16-bit integers and no bitwise operators; such reductions are refused.
 */
public final class NcclCommunicator extends DeviceCommunicator {
    private static final long NAMING_NANOS = 2_000_000_000L;

    /** Looks at NCCL's state and at the other ranks while one waits. */
    private final CudaWork.Watch watch = new CudaWork.Watch() {
        @Override
        public void look() {
            requireHealthy();
        }

        @Override
        public String late() {
            String who = missing();
            breakOff("rank " + rank + " waited too long: " + who);
            return who;
        }
    };

    private final CudaDevice device;
    private final int generation;
    private final int rank;
    private final int size;
    private final long timeoutNanos;
    private final CudaStream stream;
    private final EventPool events;
    private final NcclOperations operations;
    private final @Nullable Attendance attendance;
    private long handle;
    /** Joining was the first. */
    private long number = 1;

    private volatile @Nullable RuntimeException broken;

    NcclCommunicator(NcclJoining joining, long handle) {
        this.device = joining.device();
        this.generation = device.generation();
        this.rank = joining.rank();
        this.size = joining.ranks();
        this.handle = handle;
        this.timeoutNanos = joining.timeoutNanos();
        this.stream = device.stream();
        this.events = new EventPool(device);
        this.operations = new NcclOperations(this);
        this.attendance = joining.attendance();
    }

    /**
     * An id by which the ranks of a new communicator find each other; one rank makes it and gives it to all.
     *
     * @return 128 bytes
     */
    public static byte[] newId() {
        NcclJoining.requireAvailable();
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
        NcclJoining.requireAvailable();
        if (id.length != Nccl.ID_BYTES) {
            throw new IllegalArgumentException("an id has " + Nccl.ID_BYTES + " bytes, got " + id.length);
        }
        Objects.checkIndex(rank, ranks);
        return new NcclJoining(device, rank, ranks, timeout.toNanos(), null).byId(id);
    }

    @Override
    public Backend backend() {
        return Backend.NCCL;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public CudaStream stream() {
        return stream;
    }

    @Override
    public CudaDevice device() {
        return device;
    }

    long handle() {
        return handle;
    }

    @Override
    void check(CudaCall call) {
        requireUsable();
        call.check(rank, size);
        call.requireOpen();
        operations.requirePossible(call);
    }

    @Override
    public CudaWork start(CudaCall call) {
        return startAll(List.of(call));
    }

    @Override
    public CudaWork startAll(List<CudaCall> calls) {
        calls.forEach(this::check);
        stream.enter();
        number++;
        if (attendance != null) {
            attendance.come(number);
        }
        operations.run(calls);
        return new CudaWork(
                new Completion(device, events, stream.handle()),
                CudaWork.Notice.POLL,
                timeoutNanos,
                who() + ", " + (calls.size() == 1 ? calls.getFirst() : calls) + " #" + number + " through NCCL",
                watch);
    }

    /** Waits until NCCL has taken what it was given; a call that does not block may come back before. */
    void settle(int code, String what) {
        int now = code;
        long deadline = 0;
        for (int spins = 1; now == Nccl.IN_PROGRESS; spins++) {
            if (spins % 64 == 0) {
                long time = System.nanoTime();
                if (deadline == 0) {
                    deadline = time + timeoutNanos;
                } else if (time - deadline > 0) {
                    String who = watch.late();
                    throw new CollectiveTimeoutException(
                            who() + " waited " + Duration.ofNanos(timeoutNanos) + " in " + what + " for #" + number
                                    + ": " + who,
                            null);
                }
                requireHealthy();
                LockSupport.parkNanos(20_000);
            }
            Thread.onSpinWait();
            now = NcclCalls.asyncError(handle);
        }
        if (now != 0) {
            throw failed(now, what);
        }
    }

    /** After making another communicator of this one: this one is at it even where the call says that it is done. */
    private void settled(int code, String what) {
        settle(code == 0 ? Nccl.IN_PROGRESS : code, what);
    }

    private RuntimeException failed(int code, String what) {
        RuntimeException failure = Nccl.failure(code, what, who() + ", #" + number);
        breakOff(String.valueOf(failure.getMessage()));
        return failure;
    }

    /** Throws if NCCL has noticed a failure, or another rank has failed or given up. */
    private void requireHealthy() {
        requireUsable();
        int code = NcclCalls.asyncError(handle);
        boolean failed = code != 0 && code != Nccl.IN_PROGRESS;
        // NCCL sees a connection that ended; who was at its other end is known a moment later.
        long until = failed ? System.nanoTime() + NAMING_NANOS : 0;
        while (attendance != null) {
            try {
                attendance.requireAll();
            } catch (RuntimeException cause) {
                breakOff(String.valueOf(cause.getMessage()));
                throw cause;
            }
            if (!failed || System.nanoTime() - until > 0) {
                break;
            }
            LockSupport.parkNanos(1_000_000);
        }
        if (failed) {
            throw failed(code, "ncclCommGetAsyncError");
        }
    }

    private String missing() {
        try {
            return attendance != null
                    ? attendance.whoIsMissing(number)
                    : "a rank has not come; NCCL does not say which (DeviceCommunicator.open would)";
        } catch (RuntimeException failed) {
            return String.valueOf(failed.getMessage());
        }
    }

    private String who() {
        return "rank " + rank + " of " + size + " on " + device;
    }

    /**
     * {@inheritDoc}
     *
     * <p>NCCL divides what it has; nothing is connected anew where it can be kept.
     */
    @Override
    public Optional<NcclCommunicator> split(int color, int key) {
        requireUsable();
        // Who is in which is not for NCCL to say: ranks tell each other.
        long[] all = operations.exchange(color, key);
        int[] members = IntStream.range(0, size)
                .filter(each -> all[2 * each] == color)
                .boxed()
                .sorted(Comparator.comparingLong(each -> all[2 * each + 1]))
                .mapToInt(Integer::intValue)
                .toArray();
        Attendance some = divided(color, key, members);
        try (Arena arena = Arena.ofConfined()) {
            long config = NcclJoining.config(arena);
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            device.enter();
            if (color < 0) {
                settled(NcclCalls.split(handle, Communicator.NO_COLOR, key, made.address(), config), "ncclCommSplit");
                return Optional.empty();
            }
            return Optional.of(child(
                    members,
                    some,
                    "ncclCommSplit",
                    made,
                    to -> NcclCalls.split(handle, color, key, to.address(), config)));
        }
    }

    /** Who tells of those with the same colour. All ranks call it, as all that divide a communicator must. */
    private @Nullable Attendance divided(int color, int key, int[] members) {
        if (attendance == null) {
            return null;
        }
        Communicator ranks = attendance.ranks();
        if (ranks != null) {
            return ranks.splitOptional(color, key).map(Attendance::of).orElse(null);
        }
        if (color < 0) {
            attendance.skip();
            return null;
        }
        return attendance.among(members);
    }

    /**
     * Makes a communicator without some ranks, which may have failed; those that stay call it. Needs NCCL 2.27.
     *
     * @param excluded ranks that leave
     * @return this rank's new communicator
     */
    public NcclCommunicator shrink(int... excluded) {
        if (handle == 0) {
            requireUsable();
        }
        if (!Nccl.has("ncclCommShrink")) {
            throw new UnsupportedOperationException(
                    "NCCL " + Nccl.version() + " cannot shrink: 2.27 or later is needed");
        }
        int[] members = IntStream.range(0, size)
                .filter(each -> Arrays.stream(excluded).noneMatch(gone -> gone == each))
                .toArray();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment ranks = arena.allocateFrom(ValueLayout.JAVA_INT, excluded);
            long config = NcclJoining.config(arena);
            device.enter();
            return child(
                    members,
                    attendance == null ? null : attendance.among(members),
                    "ncclCommShrink",
                    made,
                    to -> NcclCalls.shrink(handle, ranks.address(), excluded.length, to.address(), config, 0));
        }
    }

    private NcclCommunicator child(
            int[] members,
            @Nullable Attendance some,
            String call,
            MemorySegment made,
            ToIntFunction<MemorySegment> begin) {
        int place = IntStream.range(0, members.length)
                .filter(each -> members[each] == rank)
                .findFirst()
                .orElseThrow();
        return new NcclJoining(device, place, members.length, timeoutNanos, some).by(call, made, to -> {
            settled(begin.applyAsInt(to), call);
            return 0;
        });
    }

    @Override
    public void abort(String reason) {
        breakOff(reason);
    }

    private synchronized void breakOff(String reason) {
        if (broken == null) {
            broken = new TuttiException(
                    TuttiException.Category.BROKEN, "this NCCL communicator was aborted: " + reason, null);
            if (attendance != null) {
                attendance.abort(reason);
            }
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

    @Override
    public void close() {
        synchronized (this) {
            boolean usable = handle != 0;
            if (broken == null) {
                broken = new IllegalStateException("this NCCL communicator has been closed");
            }
            if (usable && generation == device.generation()) {
                device.enter();
                finish();
            }
            handle = 0;
        }
        closeStaging();
        stream.close();
        events.close();
        if (attendance != null) {
            attendance.close();
        }
    }

    /** What has not ended by the deadline never will. */
    private void finish() {
        long deadline = System.nanoTime() + timeoutNanos;
        while (!stream.isEmpty()) {
            if (System.nanoTime() - deadline > 0) {
                NcclCalls.abort(handle);
                return;
            }
            LockSupport.parkNanos(50_000);
        }
        operations.close();
        int code = NcclCalls.finalise(handle);
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
}
