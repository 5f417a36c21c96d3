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
    private static final long UNKNOWN = -1;
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

    /** Whose memory the operation inside reads and writes; {@link #UNKNOWN} until it has said so. */
    private long inputOwner = UNKNOWN;

    private long outputOwner = UNKNOWN;

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

    /** Says, inside, whose memory this operation uses; 0 for memory that nobody waits for. */
    void uses(long input, long output) {
        inputOwner = input;
        outputOwner = output;
    }

    void exit() {
        inputOwner = UNKNOWN;
        outputOwner = UNKNOWN;
        owner = 0;
        HELD.setRelease(this, 0);
    }

    boolean isHeld() {
        return (int) HELD.getVolatile(this) != 0;
    }

    /**
     * Returns when no operation uses memory of this owner that was inside any gate of this process at the time of the call. Whoever
     * enters later sees what the caller wrote before: entering is a full fence, as is the read here. It does not wait for
     * operations on other memory: those of other ranks may need the caller to go on.
     */
    public static void awaitPassage(long memoryOwner) {
        VarHandle.fullFence();
        for (Gate gate : ALL.toArray(new Gate[0])) {
            while (gate.isHeld()
                    && gate.mayUse(memoryOwner)
                    && gate.owner != Thread.currentThread().threadId()) {
                LockSupport.parkNanos(gate, 20_000);
            }
        }
    }

    /** An operation that has not said what it uses does so, or leaves, without waiting for anybody. */
    private boolean mayUse(long memoryOwner) {
        long input = inputOwner;
        long output = outputOwner;
        return input == UNKNOWN || output == UNKNOWN || input == memoryOwner || output == memoryOwner;
    }
}
