package dev.tutti.reduce;

import java.lang.ref.WeakReference;

/**
 * Which vector kernels are known to be compiled: those for native memory, and those for arrays.
 *
 * <p>Compiled code is not for ever. Since Java 20 a collector unloads code that nobody has entered during several of its markings, and
 * then the kernel is back at its slowest. So what is known holds until the next collection: an object that nobody holds is gone after
 * that, and every kernel is then in doubt, once, until a short call has shown how fast it is. A kernel whose code was thrown away for
 * another reason makes a collection by itself, because vectors that are not compiled are objects.
 */
final class Readiness {
    static final Readiness NATIVE = new Readiness();
    static final Readiness HEAP = new Readiness();

    static final int UNKNOWN = 0;
    static final int REQUESTED = 1;
    static final int NEVER = 2;
    /** This and above: compiled, when that many collections less this had been noticed. */
    private static final int READY = 3;

    /**
     * Work that a kernel has done before it is worth training, in elements: the trainer and the compiler need a core for a while,
     * which whoever makes a first small call would have to share.
     */
    private static final int TRIAL = 1 << 13;

    /** What a call counts beside its elements, unless it has so few that vectors would not help. */
    private static final int TRIAL_CALL = 1 << 7;

    private static final int FEW = 16;

    private static volatile boolean counting = true;

    private static volatile int now = READY;
    private static volatile WeakReference<Object> witness = new WeakReference<>(new Object());

    /** By {@link #index}. Plain: a stale value costs one more scalar run, or one more short call. */
    private final int[] states = new int[Codes.kernel(Codes.TYPES, 0) * VectorFolds.SLOTS];

    /** Work done by the scalar twin. Plain: what two threads lose makes the trial longer. */
    private final int[] work = new int[states.length];

    private Readiness() {}

    /** Where a kernel for this many sources, own array included, stands; more than eight are one number. */
    static int index(int kernel, int sources) {
        return kernel * VectorFolds.SLOTS + Math.min(sources, VectorFolds.SLOTS) - 1;
    }

    static void countUse(boolean count) {
        counting = count;
    }

    boolean isReady(int index) {
        return states[index] == now && !witness.refersTo(null);
    }

    /** Whether the kernel was ready before the last collection, and has not been looked at since. */
    boolean isInDoubt(int index) {
        if (!isTrained(index)) {
            return false;
        }
        if (witness.refersTo(null)) {
            noticeCollection();
        }
        return states[index] != now;
    }

    private static synchronized void noticeCollection() {
        if (witness.refersTo(null)) {
            witness = new WeakReference<>(new Object());
            now++;
        }
    }

    /** Makes a kernel ready, or as if nobody had ever used it. */
    boolean settle(int index, boolean ready) {
        states[index] = ready ? now : UNKNOWN;
        return ready;
    }

    /** Whether the kernel was ready once, and has not been found slow since. */
    boolean isTrained(int index) {
        return states[index] >= READY;
    }

    boolean is(int index, int state) {
        return states[index] == state;
    }

    void set(int index, int state) {
        states[index] = state;
    }

    /** Counts what the scalar twin has done; whether that is enough to have the kernel trained. */
    boolean isWorthTraining(int index, int count) {
        if (states[index] != UNKNOWN || !counting || count < FEW) {
            return false;
        }
        work[index] += count + TRIAL_CALL;
        return work[index] >= TRIAL;
    }
}
