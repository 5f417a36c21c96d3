package dev.tutti.cuda;

import dev.tutti.AbortedException;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.MismatchException;
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
 * Ranks of this process that share one CUDA device. A collective of theirs is one launch, made by the last rank to come, or by a
 * {@link CudaGroup} that has all of them: each input is read once, each output written once, and nothing on the device waits for
 * anything, so it cannot deadlock there.
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
    private final Map<Long, Round> rounds = new ConcurrentHashMap<>();
    private final Map<String, String> functions = new ConcurrentHashMap<>();
    private final ArrayDeque<Completion> outstanding = new ArrayDeque<>();
    private final List<Long> captured = new ArrayList<>();
    private final EventPool events;
    private final Launcher launcher;
    private final Messages messages;

    private volatile @Nullable RuntimeException aborted;
    private volatile boolean closed;
    /** Ranks that have left; only those of {@link DeviceCommunicator#open} do. */
    private int left;

    private volatile CudaWork.Notice notice = CudaWork.Notice.POLL;

    private CudaWorld(CudaDevice device, int size, Duration timeout) {
        this.device = device;
        this.size = size;
        this.timeoutNanos = timeout.toNanos();
        device.enter();
        this.generation = device.generation();
        this.events = new EventPool(device);
        this.launcher = new Launcher(device, size, functions);
        this.messages = new Messages(this);
        for (int rank = 0; rank < size; rank++) {
            communicators.add(new CudaCommunicator(this, rank));
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
     * The part of one rank.
     *
     * @param rank whose
     * @return always the same
     */
    public CudaCommunicator communicator(int rank) {
        return communicators.get(Objects.checkIndex(rank, size));
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
        rounds.values().forEach(round -> {
            synchronized (round) {
                round.notifyAll();
            }
        });
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
        if (call.op != null && call.op.kind() == ReduceOp.Kind.USER && !functions.containsKey(call.op.toString())) {
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

    Launcher launcher() {
        return launcher;
    }

    long timeoutNanos() {
        return timeoutNanos;
    }

    CudaWork.Notice notice() {
        return notice;
    }

    /** Brings a rank's part. The last one launches, for all; everybody then calls {@link #await}. */
    Round post(long number, Round.Post post) {
        Round round = rounds.computeIfAbsent(number, key -> new Round(key, size));
        if (round.bring(post)) {
            rounds.remove(number);
            try {
                requireActive();
                launch(round, post.rank());
            } catch (RuntimeException failure) {
                abort(failure);
                synchronized (round) {
                    round.notifyAll();
                }
                throw failure;
            }
        }
        return round;
    }

    private void launch(Round round, int last) {
        Mismatch.check(round.number, round.calls()).ifPresent(text -> {
            throw new MismatchException(text, null);
        });
        long stream = launcher.launch(round, last);
        if (round.post(last).stream().isCapturing()) {
            round.launched(stream, null, captureEvent(stream));
        } else {
            round.launched(stream, completion(stream), 0);
        }
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
        Completion completion = new Completion(device, events, stream);
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

    /** Waits until a round is launched. */
    void await(Round round, int rank, CudaCall call) {
        for (int spins = 0; spins < 1000 && !round.isLaunched(); spins++) {
            Thread.onSpinWait();
        }
        if (round.isLaunched()) {
            return;
        }
        long deadline = System.nanoTime() + timeoutNanos;
        synchronized (round) {
            while (!round.isLaunched()) {
                requireActive();
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    RuntimeException late = new CollectiveTimeoutException(missing(round, rank, call), null);
                    abort(late);
                    throw late;
                }
                try {
                    round.wait(Math.max(1, Math.min(left / 1_000_000, 100)));
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    RuntimeException cause = new AbortedException(
                            "rank " + rank + " was interrupted in " + call + " #" + round.number, interrupted);
                    abort(cause);
                    throw cause;
                }
            }
        }
    }

    private String missing(Round round, int rank, CudaCall call) {
        List<Integer> here = new ArrayList<>();
        List<Integer> absent = new ArrayList<>();
        for (int each = 0; each < size; each++) {
            (round.hasCome(each) ? here : absent).add(each);
        }
        return "rank " + rank + " of " + size + " on " + device + " waited "
                + Duration.ofNanos(timeoutNanos) + " in " + call + " #" + round.number + ": ranks " + here
                + " have come, ranks " + absent + " have not; see what these are doing, or give a longer timeout";
    }

    /** A rank is done; the last one ends the world. */
    void leave() {
        boolean last;
        synchronized (this) {
            last = ++left == size;
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
        abort(new TuttiException(TuttiException.Category.USAGE, "this world has been closed", null));
        recycle();
        if (generation == device.generation()) {
            device.synchronise();
            recycle();
        }
        launcher.close();
        synchronized (outstanding) {
            captured.forEach(events::give);
        }
        communicators.forEach(CudaCommunicator::closeMemory);
        events.close();
    }
}
