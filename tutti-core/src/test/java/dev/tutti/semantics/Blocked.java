package dev.tutti.semantics;

import dev.tutti.Asleep;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** An action on a thread of its own that has come to the point where it waits for others. */
final class Blocked {
    private final Thread thread;
    private final CompletableFuture<Throwable> end = new CompletableFuture<>();
    private volatile boolean interrupted;

    private Blocked(Runnable action) {
        this.thread = Thread.ofPlatform().daemon().name("blocked").unstarted(() -> {
            Throwable thrown = Outcomes.thrownBy(() -> {
                action.run();
                return null;
            });
            interrupted = Thread.currentThread().isInterrupted();
            end.complete(thrown);
        });
    }

    /** Starts the action and returns when its thread has given its core away: it waits in bounded slices. */
    static Blocked in(Runnable action) {
        Blocked blocked = new Blocked(action);
        blocked.thread.start();
        while (!blocked.end.isDone() && !Asleep.is(blocked.thread)) {
            Thread.onSpinWait();
            Thread.yield();
        }
        return blocked;
    }

    void interrupt() {
        thread.interrupt();
    }

    boolean isAlive() {
        return !end.isDone();
    }

    /** What it ended with; null if it went well. */
    Throwable thrown() throws Exception {
        return end.get(20, TimeUnit.SECONDS);
    }

    boolean wasInterruptedAtItsEnd() throws Exception {
        thrown();
        return interrupted;
    }
}
