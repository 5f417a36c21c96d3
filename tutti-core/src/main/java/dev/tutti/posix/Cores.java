package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/**
 * Which cores a thread may run on.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html">sched_setaffinity(2)</a>
 */
public final class Cores {
    private static final long SET_AFFINITY = Libc.systemCall(203, 122);
    private static final long GET_AFFINITY = Libc.systemCall(204, 123);
    private static final long GET_CPU = Libc.systemCall(309, 168);

    private static final int MASK_BYTES = 1024;

    /** What a thread may use, and the same without the core that it leaves. */
    private static final ThreadLocal<MemorySegment> MASKS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(2 * MASK_BYTES, 8));

    private Cores() {}

    /**
     * Moves the calling thread to another of the cores that it may use, once: the system may move it back. Does nothing where there is no other, or
     * no such call.
     *
     * @param full cores to move to only if there are no others: the system takes any, not one that is free
     * @return whether the thread was moved
     */
    public static boolean leave(BitSet full) {
        if (Libc.UNAVAILABILITY_CAUSE != null) {
            return false;
        }
        MemorySegment scratch = Libc.scratch();
        MemorySegment all = MASKS.get();
        long bytes = Libc.call(scratch, GET_AFFINITY, 0, MASK_BYTES, all.address());
        int own = current();
        if (bytes <= 0 || own < 0) {
            return false;
        }
        MemorySegment others = all.asSlice(MASK_BYTES);
        MemorySegment.copy(all, 0, others, 0, bytes);
        clear(others, own);
        for (int core = full.nextSetBit(0); core >= 0 && core < bytes * Byte.SIZE; core = full.nextSetBit(core + 1)) {
            clear(others, core);
        }
        // The call refuses an empty set.
        boolean left = Libc.call(scratch, SET_AFFINITY, 0, bytes, others.address()) == 0;
        if (!left) {
            MemorySegment.copy(all, 0, others, 0, bytes);
            clear(others, own);
            left = Libc.call(scratch, SET_AFFINITY, 0, bytes, others.address()) == 0;
        }
        return left && Libc.call(scratch, SET_AFFINITY, 0, bytes, all.address()) == 0;
    }

    private static void clear(MemorySegment mask, int core) {
        long at = (long) core / Byte.SIZE;
        mask.set(ValueLayout.JAVA_BYTE, at, (byte) (mask.get(ValueLayout.JAVA_BYTE, at) & ~(1 << core % Byte.SIZE)));
    }

    /** The core that the calling thread is on, or -1. */
    public static int current() {
        MemorySegment scratch = Libc.scratch();
        MemorySegment core = Libc.structure(scratch);
        boolean known = Libc.UNAVAILABILITY_CAUSE == null && Libc.call(scratch, GET_CPU, core.address(), 0, 0) == 0;
        return known ? core.get(ValueLayout.JAVA_INT, 0) : -1;
    }
}
