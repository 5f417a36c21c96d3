package dev.tutti.exec;

import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Something that was started and ends later: a queued call, a send, a receive. It ends exactly once, with or without an error;
 * then its waiting thread is woken and its callbacks run on whichever thread ended it.
 */
public abstract class Task {
    private static final long OTHERS_PARK_NANOS = 1_000_000;
    private static final long LONGEST_PARK_NANOS = 1_000_000;

    private volatile boolean done;
    private @Nullable Throwable error;
    private @Nullable Thread waiter;
    private @Nullable Consumer<@Nullable Throwable> callback;

    /** Links tasks in a queue without a node of its own. */
    @Nullable
    Task next;

    /** Moves whatever this task waits for; returns as {@link Execution#advance}. */
    protected final int help() {
        return mover().move();
    }

    /** What this task is moved by. */
    protected abstract Progress.Moving mover();

    /** Called once at the end, before waiters are woken. */
    protected void finished() {}

    /** Ends every wait of this task's communicator with this reason. */
    protected abstract void abandon(String reason, boolean timedOut);

    public final boolean isDone() {
        return done;
    }

    /** What went wrong, or null while it runs and when it went well. */
    public final @Nullable Throwable error() {
        return done ? error : null;
    }

    /** Ends the task. */
    public final void complete(@Nullable Throwable cause) {
        end(cause);
        announce();
    }

    /** The first half of {@link #complete}: from here on the task is done. */
    public final void end(@Nullable Throwable cause) {
        finished();
        synchronized (this) {
            error = cause;
            done = true;
        }
    }

    /** The second half of {@link #complete}, once: wakes who waits and calls back, so nothing may be held that they need. */
    public final void announce() {
        Thread waiting;
        Consumer<@Nullable Throwable> called;
        synchronized (this) {
            waiting = waiter;
            called = callback;
        }
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
        if (called != null) {
            called.accept(error);
        }
    }

    /** Whoever ends a task has more to do, and so have other callbacks: what one of them throws is logged. */
    private static Consumer<@Nullable Throwable> guarded(Consumer<@Nullable Throwable> action) {
        return cause -> {
            try {
                action.accept(cause);
            } catch (Throwable thrown) {
                System.getLogger("dev.tutti").log(Level.WARNING, "a callback of a finished operation threw", thrown);
            }
        };
    }

    /** Runs a callback when the task ends, or now if it has. */
    public final void whenDone(Consumer<@Nullable Throwable> callee) {
        Consumer<@Nullable Throwable> action = guarded(callee);
        synchronized (this) {
            if (!done) {
                Consumer<@Nullable Throwable> before = callback;
                callback = before == null
                        ? action
                        : cause -> {
                            before.accept(cause);
                            action.accept(cause);
                        };
                return;
            }
        }
        action.accept(error);
    }

    /**
     * Waits for the end. A platform thread moves the work itself meanwhile; a virtual thread parks and leaves it to the worker.
     *
     * @param timeoutNanos how long at most; when it has passed the communicator is aborted
     */
    public final void join(long timeoutNanos) {
        if (done) {
            return;
        }
        long start = System.nanoTime();
        Progress.Moving mover = mover();
        boolean helps = !Thread.currentThread().isVirtual();
        Pace pace = mover.pace();
        long since = start;
        while (!done) {
            int moved = helps ? mover.move() : Execution.BLOCKED;
            if (moved != Execution.BLOCKED) {
                since = System.nanoTime();
                continue;
            }
            if (Thread.currentThread().isInterrupted()) {
                abandon("interrupted", false);
                awaitEnd();
                return;
            }
            long now = System.nanoTime();
            long waited = now - start;
            if (waited >= timeoutNanos) {
                abandon("not done within " + Durations.text(timeoutNanos), true);
                awaitEnd();
                return;
            }
            if (!helps) {
                parkOnce(1_000_000_000L);
            } else if (!pace.pass(since, now)) {
                sleepOnce(mover, Math.min(timeoutNanos - waited, Pace.sleepNanos(waited)));
            }
        }
    }

    /** Sleeps until a peer or another thread of this rank has done something, or for a while. */
    private void sleepOnce(Progress.Moving mover, long nanos) {
        long shown = mover.announceSleep();
        if (shown == Progress.NOT_NOW) {
            // Somebody else is moving it: that ends soon, or takes long and then another millisecond does not matter.
            parkOnce(Math.min(LONGEST_PARK_NANOS, nanos / 10));
        } else if (!done && mover.move() == Execution.BLOCKED && !done) {
            mover.sleep((int) shown, nanos);
        }
    }

    /** After an abort every task ends soon: whoever moves it next sees the abort. */
    private void awaitEnd() {
        boolean interrupted = Thread.interrupted();
        while (!done) {
            if (help() == Execution.BLOCKED) {
                parkOnce(100_000);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void parkOnce(long nanos) {
        boolean first;
        synchronized (this) {
            if (done) {
                return;
            }
            first = waiter == null;
            if (first) {
                waiter = Thread.currentThread();
            }
        }
        // Only the first to wait is woken; the others look again soon.
        LockSupport.parkNanos(this, first ? nanos : Math.min(nanos, OTHERS_PARK_NANOS));
        if (first) {
            synchronized (this) {
                waiter = null;
            }
        }
    }
}
