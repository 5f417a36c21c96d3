package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.posix.Futex;
import dev.tutti.spi.RegionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

        /**
         * Says that the calling thread is about to sleep until something happens to this; it must {@link #move} once more first.
         *
         * @return an unsigned 32-bit number that {@link #sleep} has to be given, or {@link #NOT_NOW} if somebody else is inside
         */
        long announceSleep();

        /** Sleeps. The memory may be gone by now: that only ends the sleep. */
        void sleep(int shown, long nanos);

        /** The word that changes when something happens. */
        long bell();

        /** How a thread waits for this alone. */
        Pace pace();
    }

    /** What {@link Moving#announceSleep} returns when it cannot be said now. */
    public static final long NOT_NOW = -1;

    private static final Progress INSTANCE = new Progress();
    private static final long LINGER_NANOS = 2_000_000_000L;
    private static final int SPINS = 100;
    private static final int YIELDS = 100;
    private static final long LONGEST_PARK_NANOS = 500_000;

    private final List<Moving> active = new ArrayList<>();
    /** Rung when there is something new; the first of the words that the worker sleeps on. */
    private final MemorySegment doorbell = Arena.ofAuto().allocate(RegionLayout.LINE, RegionLayout.LINE);

    /** Whether the worker's last sleep ended before its time. Its own. */
    private boolean disturbed;

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
        // After woken, which is volatile: either the worker sees that, or this sees that it sleeps.
        if (Memory.getAndSetInt(doorbell.address() + RegionLayout.SLEEPING, 0) != 0) {
            Memory.getAndAddInt(doorbell.address(), 1);
            Futex.wake(doorbell.address());
        }
    }

    private void loop() {
        Futex.Words words = new Futex.Words(Futex.MOST_WORDS);
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
            } else if (!woken && !rest(nothingToDo, ++idle, idleSince, current, words)) {
                return;
            }
        }
    }

    /** Gives the core away; false if the thread should end. */
    private boolean rest(boolean nothingToDo, int idle, long idleSince, Moving[] current, Futex.Words words) {
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
        } else if (idle < SPINS) {
            Thread.onSpinWait();
        } else if (idle < SPINS + YIELDS) {
            Thread.yield();
        } else {
            if (disturbed) {
                // Whoever is woken again and again for nothing lets some of it pass: each time costs the peer that
                // rings.
                LockSupport.parkNanos(this, Math.min(LONGEST_PARK_NANOS, 10_000L * (idle - SPINS - YIELDS)));
            }
            if (!woken) {
                long began = System.nanoTime();
                long nanos = Pace.sleepNanos(began - idleSince);
                sleep(current, words, nanos);
                disturbed = System.nanoTime() - began < nanos;
            }
        }
        return true;
    }

    /** Sleeps until something happens to anything that is active, if it can be told. */
    private void sleep(Moving[] current, Futex.Words words, long nanos) {
        if (!Futex.isAnyAvailable()) {
            return;
        }
        long own = doorbell.address();
        words.set(0, own, Memory.getIntAcquire(own));
        Memory.putIntVolatile(own + RegionLayout.SLEEPING, 1);
        int count = 1;
        for (Moving moving : current) {
            if (moving.isActive()) {
                long shown = moving.announceSleep();
                if (shown == NOT_NOW || count == Futex.MOST_WORDS) {
                    // Somebody else moves it, and may stop to; or there is too much to sleep on.
                    return;
                }
                words.set(count++, moving.bell(), (int) shown);
            }
        }
        for (Moving moving : current) {
            if (woken || (moving.isActive() && moving.move() != Execution.BLOCKED)) {
                return;
            }
        }
        words.await(nanos);
    }
}
