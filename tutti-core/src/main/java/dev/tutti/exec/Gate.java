package dev.tutti.exec;

import dev.tutti.AbortedException;
import dev.tutti.TuttiException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Mutual exclusion for one rank's side of a communicator. Entering is one compare-and-set, leaving one release store: a lock with
 * a queue of waiters would cost a fence more, which is a good part of a small operation. Waiting for another thread is rare, and
 * done in bounded slices.
 */
public final class Gate {
    private static final VarHandle HELD;
    private static final Set<Gate> ALL = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(Gate.class, "held", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    @SuppressWarnings("UnusedVariable") // through the handle only
    private int held;

    /** Id of the thread inside, 0 for none. An id rather than the thread: storing a reference costs a barrier. */
    private long owner;

    Gate() {
        ALL.add(this);
    }

    boolean tryEnter() {
        if (!HELD.compareAndSet(this, 0, 1)) {
            return false;
        }
        owner = Thread.currentThread().threadId();
        return true;
    }

    void enter() {
        if (!tryEnter()) {
            enterContended();
        }
    }

    private void enterContended() {
        int tries = 0;
        while (!tryEnter()) {
            if (owner == Thread.currentThread().threadId()) {
                throw new TuttiException(
                        TuttiException.Category.USAGE,
                        "a reduce function or a callback must not call the communicator that runs it",
                        null);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new AbortedException("interrupted while waiting for another thread's operation", null);
            }
            if (++tries < 100) {
                Thread.onSpinWait();
            } else if (tries < 200) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(this, 20_000);
            }
        }
    }

    void exit() {
        owner = 0;
        HELD.setRelease(this, 0);
    }

    boolean isHeld() {
        return (int) HELD.getVolatile(this) != 0;
    }

    /**
     * Returns when every operation that was inside any gate of this process at the time of the call has left it. Whoever enters
     * later sees what the caller wrote before: entering is a full fence, as is the read here.
     */
    public static void awaitPassage() {
        VarHandle.fullFence();
        for (Gate gate : ALL.toArray(new Gate[0])) {
            while (gate.isHeld() && gate.owner != Thread.currentThread().threadId()) {
                LockSupport.parkNanos(gate, 20_000);
            }
        }
    }
}
