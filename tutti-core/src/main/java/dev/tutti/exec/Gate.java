package dev.tutti.exec;

import dev.tutti.AbortedException;
import dev.tutti.TuttiException;
import dev.tutti.posix.Membarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Mutual exclusion for one rank's side of a communicator. Mostly one thread makes all calls of a rank, so the first to come is
 * favoured: it enters by a plain store and a load, without the fence that a compare-and-set is. Such a fence waits until
 * everything that the last operation sent has arrived at the other cores, which takes longer than a small operation. Whoever else
 * comes takes the favour away for good, by a fence on all cores ({@link Membarrier}); from then on everybody pays for a
 * compare-and-set. Waiting for another thread is rare, and done in bounded slices.
 *
 * <pre>
 *   favoured thread                        the first other one
 *   ---------------                        -------------------
 *   inside = 1                             favoured = NOBODY
 *   if (favoured == me) enter              fence, on all cores
 *   else inside = 0, enter as others do    inside != 0 ? wait : enter
 * </pre>
 */
public final class Gate {
    private static final long UNKNOWN = -1;
    private static final VarHandle HELD;
    private static final VarHandle INSIDE;
    private static final VarHandle FAVOURED;
    private static final long NOBODY = -1;
    private static final Set<Gate> ALL = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HELD = lookup.findVarHandle(Gate.class, "held", int.class);
            INSIDE = lookup.findVarHandle(Gate.class, "inside", int.class);
            FAVOURED = lookup.findVarHandle(Gate.class, "favoured", long.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private int held;

    /** Whether the favoured thread is inside, or about to look whether it may be. Written by that thread alone. */
    private int inside;

    /** Id of the favoured thread; 0 before the first comes. */
    private long favoured;

    /** Id of the thread that is favoured or once was. */
    private long favourite;

    /** Id of the thread inside, if it is not the favoured one. An id rather than the thread: storing a reference costs a barrier. */
    private long owner;

    /** Whose memory the operation inside reads and writes; {@link #UNKNOWN} until it has said so. */
    private long inputOwner = UNKNOWN;

    private long outputOwner = UNKNOWN;

    Gate() {
        ALL.add(this);
    }

    /** Nobody who enters from now on uses memory: those who wait for passage need not look here any more. */
    void retire() {
        ALL.remove(this);
    }

    boolean tryEnter() {
        long me = Thread.currentThread().threadId();
        if (favoured == me && inside == 0 && held == 0) {
            INSIDE.setOpaque(this, 1);
            // For the compiler, which must not look before it has said so; the processor is told by whoever takes the
            // favour away.
            VarHandle.releaseFence();
            if ((long) FAVOURED.getOpaque(this) == me) {
                return true;
            }
            INSIDE.setRelease(this, 0);
        }
        return tryEnterAmongOthers(me);
    }

    private boolean tryEnterAmongOthers(long me) {
        if (!HELD.compareAndSet(this, 0, 1)) {
            return false;
        }
        long favoured = (long) FAVOURED.getVolatile(this);
        if (favoured == 0) {
            favourite = me;
            FAVOURED.setVolatile(this, Membarrier.isAvailable() ? me : NOBODY);
        } else if (favoured != NOBODY && favoured != me) {
            FAVOURED.setVolatile(this, NOBODY);
            fence();
        }
        if ((int) INSIDE.getAcquire(this) != 0) {
            HELD.setRelease(this, 0);
            return false;
        }
        owner = me;
        return true;
    }

    /** A fence on this thread and on every favoured one. */
    private static void fence() {
        if (Membarrier.isAvailable()) {
            Membarrier.everywhere();
        } else {
            VarHandle.fullFence();
        }
    }

    void enter() {
        if (!tryEnter()) {
            enterContended();
        }
    }

    private void enterContended() {
        int tries = 0;
        while (!tryEnter()) {
            if (isInside(Thread.currentThread().threadId())) {
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
        if (inside != 0) {
            INSIDE.setRelease(this, 0);
        } else {
            owner = 0;
            HELD.setRelease(this, 0);
        }
    }

    /** Whether anybody is inside. Whoever enters later sees what the caller wrote before. */
    boolean isHeld() {
        fence();
        return isHeldNow();
    }

    /**
     * Whether an operation is inside that may wait for others. Whoever helped a queued one may still be on the way out when that has
     * ended, and is waited for. Whoever enters later sees what the caller wrote before.
     */
    boolean isUsed() {
        fence();
        long me = Thread.currentThread().threadId();
        while (isHeldNow()) {
            if (inputOwner != UNKNOWN || isInside(me)) {
                return true;
            }
            LockSupport.parkNanos(this, 20_000);
        }
        return false;
    }

    /** Whether the calling thread, whose id it is, is inside. */
    private boolean isInside(long me) {
        return owner == me || (inside != 0 && favourite == me);
    }

    private boolean isHeldNow() {
        return (int) HELD.getVolatile(this) != 0 || (int) INSIDE.getVolatile(this) != 0;
    }

    /**
     * Returns when no operation uses memory of this owner that was inside any gate of this process at the time of the call. Whoever
     * enters later sees what the caller wrote before, for the fence here is on all cores. It does not wait for operations on other
     * memory: those of other ranks may need the caller to go on.
     */
    public static void awaitPassage(long memoryOwner) {
        fence();
        for (Gate gate : ALL.toArray(new Gate[0])) {
            while (gate.isHeldNow()
                    && gate.mayUse(memoryOwner)
                    && !gate.isInside(Thread.currentThread().threadId())) {
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
