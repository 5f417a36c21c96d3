package dev.tutti.cuda;

import dev.tutti.cuda.driver.Driver;
import dev.tutti.cuda.driver.Streams;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The end of one launch, shared by the ranks that took part: an event that goes back to its pool once somebody has seen it
 * happen.
 */
final class Completion {
    private final CudaDevice device;
    private final EventPool pool;
    private final int generation;
    private long event;
    private volatile boolean done;
    private volatile @Nullable Throwable error;
    private @Nullable List<Consumer<@Nullable Throwable>> actions;
    private final Verdict verdict;

    /** Says what went wrong although the driver saw no error, or null. It must not call CUDA. */
    interface Verdict {
        @Nullable
        Throwable get();
    }

    /** Notes what is in the stream now. */
    Completion(CudaDevice device, EventPool pool, long stream) {
        this(device, pool, stream, () -> null);
    }

    /**
     * Notes what is in the stream now.
     *
     * @param verdict asked at the end
     */
    Completion(CudaDevice device, EventPool pool, long stream, Verdict verdict) {
        this.verdict = verdict;
        this.device = device;
        this.pool = pool;
        this.generation = device.generation();
        this.event = pool.take();
        Streams.record(event, stream);
    }

    /** Makes a stream wait for it, if it is not over already. */
    synchronized void order(long stream) {
        if (event != 0) {
            Streams.await(stream, event, 0);
        }
    }

    boolean isDone() {
        if (done) {
            return true;
        }
        Throwable failure = null;
        try {
            device.enter(generation, "this operation");
            synchronized (this) {
                if (done) {
                    return true;
                }
                int code = Streams.queryEvent(event);
                if (code == Driver.NOT_READY) {
                    return false;
                }
                if (code != 0) {
                    failure = Driver.failure(code, "cuEventQuery", "the end of an operation");
                }
            }
        } catch (RuntimeException lost) {
            failure = lost;
        }
        finish(failure);
        return true;
    }

    /** Waits in the driver; there is no deadline but the device's. */
    void synchronise() {
        if (!done) {
            device.enter(generation, "this operation");
            long waited = event;
            // Recycled meanwhile: then it is done, and waiting for whatever it is now does no harm.
            Streams.synchroniseEvent(waited);
            isDone();
        }
    }

    /** Runs an action at the end, or now. */
    void onEnd(Consumer<@Nullable Throwable> action) {
        synchronized (this) {
            if (!done) {
                if (actions == null) {
                    actions = new ArrayList<>();
                }
                actions.add(action);
                return;
            }
        }
        action.accept(error);
    }

    /** From whoever learned that it is over: a poll, or the driver's callback. */
    void finish(@Nullable Throwable failure) {
        List<Consumer<@Nullable Throwable>> waiting;
        Throwable told;
        synchronized (this) {
            if (done) {
                return;
            }
            error = failure != null ? failure : verdict.get();
            done = true;
            if (failure == null) {
                pool.give(event);
            }
            event = 0;
            waiting = actions;
            actions = null;
            told = error;
        }
        if (waiting != null) {
            waiting.forEach(each -> each.accept(told));
        }
    }

    @Nullable
    Throwable error() {
        return error;
    }
}
