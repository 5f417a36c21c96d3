package dev.tutti.exec;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one platform thread of the process that moves what was started in the background. It begins with the first such work and
 * ends when there has been none for a while; until then it remembers whom it has moved, so that starting allocates nothing here.
 */
public final class Progress {
    /** Something that can be moved from outside. */
    public interface Moving {
        /** Moves what can be moved; returns as {@link Execution#advance}. */
        int move();

        /** Whether there is anything left to move. */
        boolean isActive();
    }

    private static final Progress INSTANCE = new Progress();
    private static final long LINGER_NANOS = 2_000_000_000L;

    private final List<Moving> active = new ArrayList<>();
    private volatile boolean changed;
    private volatile boolean woken;
    private @Nullable Thread worker;

    private Progress() {}

    /** Sees to it that this is moved until it is no longer active. */
    public static void add(Moving moving) {
        INSTANCE.enlist(moving);
    }

    private void enlist(Moving moving) {
        Thread thread;
        synchronized (active) {
            if (!active.contains(moving)) {
                active.removeIf(each -> !each.isActive());
                active.add(moving);
                changed = true;
            }
            woken = true;
            thread = worker;
            if (thread == null) {
                thread = Thread.ofPlatform().daemon().name("tutti-progress").unstarted(this::loop);
                worker = thread;
                thread.start();
                return;
            }
        }
        LockSupport.unpark(thread);
    }

    private void loop() {
        Moving[] current = {};
        int idle = 0;
        long idleSince = System.nanoTime();
        while (true) {
            if (changed) {
                synchronized (active) {
                    changed = false;
                    current = active.toArray(new Moving[0]);
                }
            }
            woken = false;
            boolean moved = false;
            boolean nothingToDo = true;
            for (Moving moving : current) {
                if (moving.isActive()) {
                    nothingToDo = false;
                    moved |= moving.move() != Execution.BLOCKED;
                }
            }
            if (moved) {
                idle = 0;
                idleSince = System.nanoTime();
            } else if (!woken && !rest(nothingToDo, ++idle, idleSince)) {
                return;
            }
        }
    }

    /** Gives the core away; false if the thread should end. */
    private boolean rest(boolean nothingToDo, int idle, long idleSince) {
        if (nothingToDo) {
            if (System.nanoTime() - idleSince > LINGER_NANOS) {
                synchronized (active) {
                    if (!woken) {
                        active.clear();
                        worker = null;
                        return false;
                    }
                }
            }
            LockSupport.parkNanos(this, LINGER_NANOS / 4);
        } else if (idle < 100) {
            Thread.onSpinWait();
        } else if (idle < 300) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(this, Math.min(500_000, 10_000L * (idle - 299)));
        }
        return true;
    }
}
