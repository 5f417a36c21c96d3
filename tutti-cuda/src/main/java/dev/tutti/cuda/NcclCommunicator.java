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
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
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
    private final @Nullable Board board;
    private long handle;
    private long number;
    private volatile @Nullable RuntimeException broken;

    private NcclCommunicator(
            CudaDevice device, int rank, int size, long handle, long timeoutNanos, @Nullable Board board) {
        this.device = device;
        this.generation = device.generation();
        this.rank = rank;
        this.size = size;
        this.handle = handle;
        this.timeoutNanos = timeoutNanos;
        this.stream = device.stream();
        this.events = new EventPool(device);
        this.operations = new NcclOperations(this);
        this.board = board;
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
        return open(device, ranks, id, rank, timeout.toNanos(), null);
    }

    /** The ranks of a communicator of Tutti's, which is this one's from now on. */
    static NcclCommunicator join(Communicator ranks, CudaDevice device) {
        byte[] id = new byte[0];
        RuntimeException failure = null;
        try {
            requireAvailable();
            id = ranks.rank() == 0 ? newId() : id;
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
        Board board = new Board(ranks);
        return open(
                device, ranks.size(), id, ranks.rank(), Opening.timeout(ranks).toNanos(), board);
    }

    private static NcclCommunicator open(
            CudaDevice device, int ranks, byte[] id, int rank, long timeoutNanos, @Nullable Board board) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment idMemory = arena.allocate(Nccl.ID_BYTES, 8).copyFrom(MemorySegment.ofArray(id));
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            long config = NcclJoining.config(arena);
            return joined(
                    device,
                    rank,
                    ranks,
                    timeoutNanos,
                    board,
                    "ncclCommInitRankConfig",
                    made,
                    to -> Nccl.initRank(to.address(), ranks, idMemory, rank, config));
        }
    }

    private static NcclCommunicator joined(
            CudaDevice device,
            int rank,
            int ranks,
            long timeoutNanos,
            @Nullable Board board,
            String call,
            MemorySegment made,
            ToIntFunction<MemorySegment> begin) {
        device.enter();
        if (board != null) {
            board.come(1);
        }
        NcclJoining.Watch watch = new NcclJoining.Watch() {
            @Override
            public void look() {
                if (board != null) {
                    board.requireAll();
                }
            }

            @Override
            public String missing() {
                return board != null ? board.whoIsMissing(1) : "not all " + ranks + " ranks have come with this id";
            }
        };
        String who = "rank " + rank + " of " + ranks + " on " + device;
        try {
            long handle = NcclJoining.join(who, timeoutNanos, call, made, watch, () -> begin.applyAsInt(made));
            NcclCommunicator comm = new NcclCommunicator(device, rank, ranks, handle, timeoutNanos, board);
            comm.number = 1;
            return comm;
        } catch (RuntimeException failed) {
            if (board != null) {
                board.abort(who + " could not join through NCCL: " + failed.getMessage());
                board.close();
            }
            throw failed;
        }
    }

    private static void requireAvailable() {
        String cause = Nccl.unavailabilityCause();
        if (cause != null) {
            throw new UnsupportedOperationException(cause);
        }
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
        if (board != null) {
            board.come(number);
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
        while (board != null) {
            try {
                board.requireAll();
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
            return board != null
                    ? board.whoIsMissing(number)
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
        Optional<Communicator> some =
                board == null ? Optional.empty() : board.ranks().splitOptional(color, key);
        // Who is in which is not for NCCL to say: ranks tell each other.
        long[] all = operations.exchange(color, key);
        int members = 0;
        int place = 0;
        for (int each = 0; each < size; each++) {
            if (all[2 * each] == color) {
                members++;
                boolean before = all[2 * each + 1] < key || (all[2 * each + 1] == key && each < rank);
                place += before ? 1 : 0;
            }
        }
        try (Arena arena = Arena.ofConfined()) {
            long config = NcclJoining.config(arena);
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            device.enter();
            if (color < 0) {
                settled(NcclCalls.split(handle, Communicator.NO_COLOR, key, made.address(), config), "ncclCommSplit");
                return Optional.empty();
            }
            return Optional.of(child(
                    place,
                    members,
                    some.map(Board::new).orElse(null),
                    "ncclCommSplit",
                    made,
                    to -> NcclCalls.split(handle, color, key, to.address(), config)));
        }
    }

    /**
     * Makes a communicator without some ranks; those that stay call it. Needs NCCL 2.27. It does not know who is missing: the ranks
     * that left belong to what would tell.
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
        int before = 0;
        for (int each : excluded) {
            before += each < rank ? 1 : 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment ranks = arena.allocateFrom(ValueLayout.JAVA_INT, excluded);
            long config = NcclJoining.config(arena);
            device.enter();
            return child(
                    rank - before,
                    size - excluded.length,
                    null,
                    "ncclCommShrink",
                    made,
                    to -> NcclCalls.shrink(handle, ranks.address(), excluded.length, to.address(), config, 0));
        }
    }

    private NcclCommunicator child(
            int place,
            int members,
            @Nullable Board childBoard,
            String call,
            MemorySegment made,
            ToIntFunction<MemorySegment> begin) {
        return joined(device, place, members, timeoutNanos, childBoard, call, made, to -> {
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
            if (board != null) {
                board.abort(reason);
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
        if (board != null) {
            board.close();
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
