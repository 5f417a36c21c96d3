package dev.tutti;

import dev.tutti.exec.Execution;
import dev.tutti.exec.Pace;
import dev.tutti.exec.Progress;
import dev.tutti.exec.Task;
import dev.tutti.memory.Operand;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One put or get: copies piece by piece, and stops when the communicator is aborted. */
final class WindowWork extends Task implements Work, Progress.Moving {
    private final Window window;
    private final Communicator communicator;
    private final boolean put;
    private final Buffer local;
    private final Operand operand;
    private final long remote;
    private final AtomicBoolean inside = new AtomicBoolean();
    private long done;

    WindowWork(Window window, boolean put, Buffer local, Operand operand, long remote) {
        this.window = window;
        this.communicator = window.communicator();
        this.put = put;
        this.local = local;
        this.operand = operand;
        this.remote = remote;
    }

    /** Copies everything on this thread. */
    static void run(WindowWork work) {
        work.begin();
        try {
            while (!work.copyPiece()) {}
        } finally {
            work.finished();
        }
    }

    /** Lets the worker copy. */
    static WindowWork start(WindowWork work) {
        work.begin();
        Progress.add(work);
        return work;
    }

    private void begin() {
        local.retain();
        try {
            window.begin();
        } catch (RuntimeException closed) {
            local.release();
            throw closed;
        }
    }

    /** Whether that was the last. */
    private boolean copyPiece() {
        if (communicator.member.endpoint().board().isAborted()) {
            throw communicator.member.endpoint().stall().failure();
        }
        long bytes = Math.min(Window.PIECE_BYTES, operand.bytes() - done);
        if (put) {
            operand.load(done, remote + done, bytes);
        } else {
            operand.store(done, remote + done, bytes);
        }
        done += bytes;
        return done == operand.bytes();
    }

    @Override
    public int move() {
        if (isDone() || !inside.compareAndSet(false, true)) {
            return Execution.BLOCKED;
        }
        try {
            if (!isDone() && copyPiece()) {
                complete(null);
            }
        } catch (Throwable thrown) {
            complete(thrown);
        } finally {
            inside.set(false);
        }
        return Execution.MOVED;
    }

    @Override
    public boolean isActive() {
        return !isDone();
    }

    @Override
    protected Progress.Moving mover() {
        return this;
    }

    /** There is always something to copy, so nobody has a reason to sleep. */
    @Override
    public long announceSleep() {
        return Progress.NOT_NOW;
    }

    @Override
    public void sleep(int shown, long nanos) {}

    @Override
    public long bell() {
        return communicator.member.endpoint().board().bell().address();
    }

    @Override
    public Pace pace() {
        return communicator.member.endpoint().pace();
    }

    @Override
    protected void finished() {
        local.release();
        window.end();
    }

    @Override
    protected void abandon(String reason, boolean timedOut) {
        communicator.schedule.abort(reason, timedOut);
    }

    @Override
    public void await() {
        Works.await(this, Long.MAX_VALUE);
    }

    @Override
    public void await(Duration timeout) {
        Works.await(this, Works.nanos(timeout));
    }

    @Override
    public void onComplete(Consumer<@Nullable Throwable> action) {
        whenDone(action);
    }
}
