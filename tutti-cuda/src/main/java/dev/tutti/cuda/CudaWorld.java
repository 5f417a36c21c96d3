package dev.tutti.cuda;

import dev.tutti.AbortedException;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Ranks with memory on CUDA devices. Those of one process on one device are fused: a collective of theirs is one launch, made by
 * the last rank to come, or by a {@link CudaGroup} that has all of them: each input is read once, each output written once, and
 * nothing on the device waits for anything, so it cannot deadlock there. Ranks in several processes come together
 * {@linkplain #open(CudaDevice, Communicator) over a communicator}.
 *
 * {@snippet :
 * try (CudaWorld world = CudaWorld.open(Cuda.device(0), 4)) {
 *     CudaCommunicator comm = world.communicator(rank);      // in the thread of this rank
 *     comm.allReduce(x, ReduceOp.SUM).await();
 * }
 * }
 */
public final class CudaWorld implements AutoCloseable {
    private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(5);

    private final CudaDevice device;
    private final int size;
    private final int generation;
    private final long timeoutNanos;
    private final List<CudaCommunicator> communicators = new ArrayList<>();
    private final Map<String, String> functions = new ConcurrentHashMap<>();
    private final ArrayDeque<Completion> outstanding = new ArrayDeque<>();
    private final List<Long> captured = new ArrayList<>();
    private final EventPool events;
    private final Rounds rounds;
    private final Messages messages;
    /** Null: all ranks are here. */
    private final @Nullable Distant distant;

    private final String reason;

    private volatile @Nullable RuntimeException aborted;
    private volatile boolean closed;
    /** Ranks that have left; only those of {@link DeviceCommunicator#open} do. */
    private int left;

    private volatile CudaWork.Notice notice = CudaWork.Notice.POLL;

    private CudaWorld(CudaDevice device, int size, Duration timeout) {
        this(device, size, timeout, null, null);
    }

    private CudaWorld(
            CudaDevice device,
            int size,
            Duration timeout,
            @Nullable Communicator host,
            @Nullable Introduction introduction) {
        this.device = device;
        this.size = size;
        this.timeoutNanos = timeout.toNanos();
        device.enter();
        this.generation = device.generation();
        this.events = new EventPool(device);
        this.rounds = new Rounds(this, new Launcher(device, size, functions));
        this.messages = new Messages(this);
        for (int rank = 0; rank < size; rank++) {
            communicators.add(new CudaCommunicator(this, rank));
        }
        if (host == null || introduction == null) {
            distant = null;
            reason = "all ranks are in one process and on one device";
        } else {
            reason = introduction.reason();
            distant = introduction.path() == CudaPath.STAGED
                    ? new Staged(this, host)
                    : new Processes(this, host, introduction);
        }
    }

    /**
     * Ranks on a device, with the default deadline of five minutes.
     *
     * @param device where
     * @param ranks how many
     * @return the world, to be closed
     */
    public static CudaWorld open(CudaDevice device, int ranks) {
        return open(device, ranks, DEFAULT_TIMEOUT);
    }

    /**
     * Ranks on a device.
     *
     * @param device where
     * @param ranks how many
     * @param timeout how long a rank waits for the others at most
     * @return the world, to be closed
     */
    public static CudaWorld open(CudaDevice device, int ranks, Duration timeout) {
        if (ranks < 1 || ranks > CudaCapabilities.MAX_RANKS) {
            throw new IllegalArgumentException("ranks must be in 1.." + CudaCapabilities.MAX_RANKS + ", got " + ranks);
        }
        return new CudaWorld(Objects.requireNonNull(device, "device"), ranks, timeout);
    }

    /**
     * The ranks of an ordinary communicator, each in its own process or thread, on the best path that all of them have:
     * {@link #path} says which. All ranks call it together. The communicator stays the caller's and must outlive the world.
     *
     * {@snippet :
     * try (Communicator host = Communicator.fromEnvironment();
     *         CudaWorld world = CudaWorld.open(Cuda.device(0), host)) {
     *     CudaCommunicator comm = world.communicator();
     *     CudaBuffer x = comm.allocate(DataType.FLOAT32, 1 << 20);      // the others read it where it lies
     *     comm.allReduce(x, ReduceOp.SUM).await();
     * }
     * }
     *
     * @param device this rank's
     * @param host the ranks
     * @return the world, to be closed
     */
    public static CudaWorld open(CudaDevice device, Communicator host) {
        return open(device, host, host.world().config().duration(Config.Key.TIMEOUT), null);
    }

    /**
     * Like {@link #open(CudaDevice, Communicator)}, with a deadline and perhaps a path.
     *
     * @param device this rank's
     * @param host the ranks
     * @param timeout how long a rank waits for the others at most, on the host and on the device
     * @param path the path to use, if any rank wants a certain one; else null
     * @return the world, to be closed
     */
    public static CudaWorld open(CudaDevice device, Communicator host, Duration timeout, @Nullable CudaPath path) {
        if (path == CudaPath.FUSED) {
            throw new IllegalArgumentException(
                    "ranks of a communicator are not one launch: CudaWorld.open(device, ranks) is");
        }
        Communicator own = host.dup();
        Introduction introduction = null;
        boolean opened = false;
        try {
            Communicator patient = own.withTimeout(timeout);
            introduction = new Introduction(device, patient, path);
            CudaWorld world = new CudaWorld(device, host.size(), timeout, patient, introduction);
            opened = true;
            return world;
        } finally {
            if (!opened) {
                if (introduction != null) {
                    introduction.close();
                }
                own.close();
            }
        }
    }

    /**
     * The part of one rank of this process.
     *
     * @param rank whose
     * @return always the same
     */
    public CudaCommunicator communicator(int rank) {
        Objects.checkIndex(rank, size);
        if (distant != null && rank != distant.rank()) {
            throw new IllegalArgumentException(
                    "rank " + rank + " is not here: this world is rank " + distant.rank() + "'s");
        }
        return communicators.get(rank);
    }

    /**
     * The part of the rank that opened this world with a communicator.
     *
     * @return always the same
     */
    public CudaCommunicator communicator() {
        if (distant == null) {
            throw new IllegalStateException("all " + size + " ranks are here: say which");
        }
        return communicators.get(distant.rank());
    }

    /**
     * How the ranks reach each other.
     *
     * @return {@link CudaPath#FUSED} if all of them are here
     */
    public CudaPath path() {
        return distant == null ? CudaPath.FUSED : distant.path();
    }

    /**
     * Why it is this path and no better one.
     *
     * @return for people
     */
    public String pathReason() {
        return reason;
    }

    @Nullable
    Distant distant() {
        return distant;
    }

    /** The first cause of the end of this world, or this one. */
    RuntimeException cause(RuntimeException otherwise) {
        RuntimeException known = aborted;
        return known != null ? known : otherwise;
    }

    /**
     * Calls of several ranks that one thread makes together.
     *
     * @return an empty group; closing it runs it
     */
    public CudaGroup group() {
        return new CudaGroup(this);
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
     * Where they are.
     *
     * @return the device
     */
    public CudaDevice device() {
        return device;
    }

    /**
     * How ends of operations are noticed from now on.
     *
     * @param how what {@link CudaWork#await()} and {@link CudaWork#onComplete} do
     */
    public void notice(CudaWork.Notice how) {
        notice = Objects.requireNonNull(how, "how");
    }

    /**
     * Gives a function of the user's a form that runs on the device: CUDA C++ that defines {@code __device__ A user(A a, A x)},
     * where {@code A} is the type in which elements are accumulated (float for the small floats, 32 bits for the small integers).
     *
     * @param function what calls name
     * @param source the same function on the device
     */
    public void define(ReduceFunction function, String source) {
        functions.put(function.name(), Objects.requireNonNull(source, "source"));
    }

    /**
     * Ends every operation that still waits for ranks; from now on every call throws.
     *
     * @param reason what callers will read
     */
    public void abort(String reason) {
        abort(new AbortedException("the CUDA world of " + size + " ranks was aborted: " + reason, null));
    }

    void abort(RuntimeException cause) {
        synchronized (this) {
            if (aborted == null) {
                aborted = cause;
            }
        }
        if (distant != null) {
            distant.abort(cause);
        }
        rounds.wake();
        messages.wake();
    }

    void requireActive() {
        RuntimeException cause = aborted;
        if (cause != null) {
            throw cause;
        }
        if (closed) {
            throw new IllegalStateException("this world has been closed");
        }
        device.requireCurrent(generation, "this world of " + size + " ranks");
    }

    /** Checks a call before anything is posted. */
    void check(int rank, CudaCall call) {
        requireActive();
        call.check(rank, size);
        for (CudaBuffer buffer : new CudaBuffer[] {call.in, call.out}) {
            if (buffer != null) {
                buffer.requireUsable();
                if (buffer.device() != device) {
                    throw new IllegalArgumentException("rank " + rank + ": the buffer is on " + buffer.device()
                            + ", the communicator on " + device);
                }
            }
        }
        if (call.op != null
                && call.op.kind() == ReduceOp.Kind.USER
                && path() != CudaPath.STAGED
                && !functions.containsKey(call.op.toString())) {
            throw new IllegalArgumentException("the function '" + call.op
                    + "' has no form for the device: give it one by CudaWorld.define(function, source)");
        }
    }

    Map<String, String> functions() {
        return functions;
    }

    Messages messages() {
        return messages;
    }

    EventPool events() {
        return events;
    }

    Rounds rounds() {
        return rounds;
    }

    long timeoutNanos() {
        return timeoutNanos;
    }

    CudaWork.Notice notice() {
        return notice;
    }

    /** For other streams of a capture; it belongs to the capture, so it is not used again. */
    long captureEvent(long stream) {
        long event = events.take();
        dev.tutti.cuda.driver.Streams.record(event, stream);
        synchronized (outstanding) {
            captured.add(event);
        }
        return event;
    }

    /** The end of what is in a stream now. */
    Completion completion(long stream) {
        recycle();
        Completion completion = new Completion(
                device, events, stream, distant instanceof Processes processes ? processes::verdict : () -> null);
        if (notice == CudaWork.Notice.CALLBACK) {
            Notices.callBack(completion, stream);
        }
        synchronized (outstanding) {
            outstanding.add(completion);
        }
        return completion;
    }

    /** Gives back events of operations that nobody waited for. */
    private void recycle() {
        synchronized (outstanding) {
            while (!outstanding.isEmpty() && outstanding.getFirst().isDone()) {
                outstanding.removeFirst();
            }
        }
    }

    /** A rank is done; the last one ends the world. */
    void leave() {
        boolean last;
        synchronized (this) {
            last = ++left == (distant == null ? size : 1);
        }
        if (last) {
            close();
        }
    }

    /** Ends the world: ranks that still wait for others get an error. Memory and streams of callers stay theirs. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (distant == null) {
            abort(new TuttiException(TuttiException.Category.USAGE, "this world has been closed", null));
        }
        recycle();
        if (generation == device.generation()) {
            device.synchronise();
            recycle();
        }
        if (distant != null) {
            distant.close();
        }
        rounds.close();
        synchronized (outstanding) {
            captured.forEach(events::give);
        }
        communicators.forEach(CudaCommunicator::closeMemory);
        events.close();
    }
}
