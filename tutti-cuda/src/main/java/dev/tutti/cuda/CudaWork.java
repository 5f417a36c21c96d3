package dev.tutti.cuda;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.DeviceWork;
import dev.tutti.TuttiException;
import dev.tutti.exec.Durations;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation that is in its streams. Kernels that come after it in the rank's stream need not wait for it; the host must
 * before it reads the result.
 */
public final class CudaWork implements DeviceWork {
    /** How the host learns that an operation is over. */
    public enum Notice {
        /** Who waits looks at an event again and again; actions run on a thread of Tutti's that does. */
        POLL,
        /** Who waits sleeps in the driver, without a deadline; actions run as for {@link #POLL}. */
        SYNCHRONISE,
        /** The driver calls back; actions run on its thread and must not call CUDA. */
        CALLBACK
    }

    private static final int SPINS = 2000;
    private static final long PARK_NANOS = 20_000;
    private static final int PARKS_PER_LOOK = 16;

    private final @Nullable Completion completion;
    private final Notice notice;
    private final long timeoutNanos;
    private final String what;
    private final @Nullable Watch watch;

    /** What else somebody who waits looks at. */
    interface Watch {
        /** Throws if there is no use in waiting any longer. */
        void look();

        /** A deadline has passed: ends what is going on, and says why it was not over, as far as that is known. */
        String late();
    }

    CudaWork(@Nullable Completion completion, Notice notice, long timeoutNanos, String what) {
        this(completion, notice, timeoutNanos, what, null);
    }

    CudaWork(@Nullable Completion completion, Notice notice, long timeoutNanos, String what, @Nullable Watch watch) {
        this.watch = watch;
        this.completion = completion;
        this.notice = notice;
        this.timeoutNanos = timeoutNanos;
        this.what = what;
    }

    @Override
    public void await() {
        if (notice == Notice.SYNCHRONISE) {
            running().synchronise();
            rethrow();
        } else {
            await(timeoutNanos);
        }
    }

    @Override
    public void await(Duration timeout) {
        await(timeout.toNanos());
    }

    private void await(long nanos) {
        Completion waited = running();
        long deadline = 0;
        for (int spins = 0; !waited.isDone(); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            long now = System.nanoTime();
            if (deadline == 0) {
                deadline = now + nanos;
            } else if (now - deadline > 0) {
                throw new CollectiveTimeoutException(
                        what + " is in its streams but not over after " + Durations.text(nanos) + ": "
                                + (watch != null
                                        ? watch.late()
                                        : "something before it in a stream does not end, or the device is busy"),
                        null);
            }
            if (watch != null && spins % PARKS_PER_LOOK == 0) {
                watch.look();
            }
            if (Thread.interrupted()) {
                Thread.currentThread().interrupt();
                throw new TuttiException(TuttiException.Category.BROKEN, "interrupted while waiting for " + what, null);
            }
            LockSupport.parkNanos(this, PARK_NANOS);
        }
        rethrow();
    }

    private void rethrow() {
        Throwable error = running().error();
        if (error instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (error != null) {
            throw new TuttiException(TuttiException.Category.BROKEN, what + " failed: " + error, error);
        }
    }

    @Override
    public boolean isDone() {
        return running().isDone();
    }

    @Override
    public @Nullable Throwable error() {
        return running().error();
    }

    @Override
    public void onComplete(Consumer<@Nullable Throwable> action) {
        running().onEnd(action);
        Notices.watch(running(), notice);
    }

    private Completion running() {
        if (completion == null) {
            throw new IllegalStateException(
                    what + " was captured into a graph: launch the graph and wait for its stream");
        }
        return completion;
    }

    @Override
    public String toString() {
        return what;
    }
}
