package dev.tutti.reduce;

import dev.tutti.DataType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Folds elements of several sources into one destination. One call rounds once, however many sources it has.
 *
 * <p>Until a vector kernel is compiled, and where the Vector API is absent, its scalar twin runs, with the same bits.
 * A kernel that is used more than a little is trained in the background; {@link #warm} asks for that earlier.
 *
 * <p>The reductions are hot: they neither allocate nor check. Addresses are absolute and may have any alignment; the
 * destination may be one of the sources, but must not overlap one partially.
 */
public final class Kernels {
    /** Longer calls are cut: a copy or kernel that runs too long holds up safepoints. */
    private static final int SLICE_ELEMENTS = 1 << 17;

    static final byte UNKNOWN = 0;
    static final byte REQUESTED = 1;
    static final byte READY = 2;
    static final byte NEVER = 3;

    /** By {@link #state}. Plain: a stale value costs one more scalar run, and code that is ready stays so. */
    static final byte[] NATIVE_STATES = new byte[Codes.kernel(Codes.TYPES, 0) * VectorFolds.SOURCES];

    static final byte[] HEAP_STATES = new byte[Codes.kernel(Codes.TYPES, 0) * VectorFolds.SOURCES];

    /**
     * Work that a kernel has done before it is worth training, in elements: the trainer and the compiler need a core for a while,
     * which whoever makes a first small call would have to share.
     */
    private static final int TRIAL = 1 << 13;

    /** What a call counts beside its elements, unless it has so few that vectors would not help. */
    private static final int TRIAL_CALL = 1 << 7;

    private static final int FEW = 16;

    /** Work done by the scalar twin, by {@link #state}. Plain: what two threads lose makes the trial longer. */
    private static final int[] NATIVE_WORK = new int[NATIVE_STATES.length];

    private static final int[] HEAP_WORK = new int[HEAP_STATES.length];

    private static volatile boolean counting = true;

    private Kernels() {}

    /** The number by which {@link #reduce} knows a type and a fold: below 256. */
    public static int id(DataType type, Fold fold) {
        if (!fold.accepts(type)) {
            throw new IllegalArgumentException(fold + " does not apply to " + type);
        }
        return Codes.kernel(type.number(), fold.ordinal());
    }

    /**
     * {@code dst[i] = source 0 [i] op source 1 [i] op ...}, from left to right.
     *
     * @param kernel from {@link #id}
     * @param code holds the addresses of the sources, from index {@code srcAt}
     * @param n number of sources, at least 1
     * @param byteOffset added to each source's address, not to {@code dst}
     * @param dst address of the destination
     * @param count elements
     * @param aux {@link Fold#AVG}: the divisor; {@link Fold#MUL_SUM}: bits of the scalar in the accumulation type
     * @param scaled {@link Fold#MUL_SUM}: index of the source that is multiplied, or -1
     */
    public static void reduce(
            int kernel, long[] code, int srcAt, int n, long byteOffset, long dst, long count, long aux, int scaled) {
        if (count <= SLICE_ELEMENTS) {
            slice(kernel, code, srcAt, n, byteOffset, dst, (int) count, aux, scaled);
            return;
        }
        int shift = Codes.shift(Codes.type(kernel));
        for (long done = 0; done < count; done += SLICE_ELEMENTS) {
            int m = (int) Math.min(SLICE_ELEMENTS, count - done);
            slice(kernel, code, srcAt, n, byteOffset + (done << shift), dst + (done << shift), m, aux, scaled);
        }
    }

    private static void slice(
            int kernel, long[] code, int srcAt, int n, long byteOffset, long dst, int count, long aux, int scaled) {
        int state = state(kernel, n);
        if (n > VectorFolds.SOURCES && NATIVE_STATES[state] == READY && Passes.suit(kernel)) {
            Passes.reduce(kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        } else if (NATIVE_STATES[state] == READY && hasKernel(kernel, n)) {
            Vectors.reduce(kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        } else if (n == 1 && isCopy(kernel)) {
            Memory.copy(code[srcAt] + byteOffset, dst, (long) count << Codes.shift(Codes.type(kernel)));
        } else {
            Scalars.reduce(kernel, null, 0, null, 0, code, srcAt, n, byteOffset, dst, count, aux, scaled);
            if (NATIVE_STATES[state] == UNKNOWN && isWorthTraining(NATIVE_WORK, state, count)) {
                Warmup.request(false, kernel, n);
            }
        }
    }

    /**
     * {@code dst[dstAt + i] = own[ownAt + i] op source 0 [i] op source 1 [i] ...}: as {@link #reduce}, but the first
     * source and the destination are arrays ({@code float[]}, {@code double[]}, {@code int[]}, {@code long[]}, or
     * {@code short[]} and {@code byte[]} for the types of that width), which may be the same.
     *
     * @param n number of sources beside {@code ownArray}, 0 or more
     * @param scaled as for {@link #reduce}, where {@code ownArray} has index 0 and source k has index k + 1; where it is above 0 the
     *     scalar twin runs
     */
    public static void reduceHeap(
            int kernel,
            Object dstArray,
            int dstAt,
            Object ownArray,
            int ownAt,
            long[] code,
            int srcAt,
            int n,
            long byteOffset,
            int count,
            long aux,
            int scaled) {
        int state = state(kernel, n + 1);
        boolean scalesOther = scaled > 0 && Codes.fold(kernel) == Codes.MUL_SUM;
        if (HEAP_STATES[state] == READY && hasKernel(kernel, n + 1) && !scalesOther) {
            Vectors.reduceHeap(
                    kernel, dstArray, dstAt, ownArray, ownAt, code, srcAt, n, byteOffset, count, aux, scaled);
        } else if (n == 0 && isCopy(kernel)) {
            System.arraycopy(ownArray, ownAt, dstArray, dstAt, count);
        } else {
            Scalars.reduce(kernel, ownArray, ownAt, dstArray, dstAt, code, srcAt, n, byteOffset, 0, count, aux, scaled);
            if (HEAP_STATES[state] == UNKNOWN && isWorthTraining(HEAP_WORK, state, count)) {
                Warmup.request(true, kernel, n + 1);
            }
        }
    }

    /** Whether {@link #reduceHeap} takes these arrays and this many sources, own array included. */
    public static boolean takesArrays(int kernel, int sources, Object dstArray, Object ownArray) {
        Class<?> expected = Codes.arrayClass(Codes.type(kernel));
        return sources <= VectorFolds.SOURCES && dstArray.getClass() == expected && ownArray.getClass() == expected;
    }

    private static boolean isWorthTraining(int[] work, int state, int count) {
        if (!counting || count < FEW) {
            return false;
        }
        work[state] += count + TRIAL_CALL;
        return work[state] >= TRIAL;
    }

    private static boolean isCopy(int kernel) {
        return Codes.fold(kernel) < Codes.AVG;
    }

    /** Kernels for 8 sources share their state with calls of more, which most types have no kernel for. */
    private static boolean hasKernel(int kernel, int sources) {
        return sources <= VectorFolds.SOURCES || Codes.isFloat8(Codes.type(kernel));
    }

    static int state(int kernel, int sources) {
        return kernel * VectorFolds.SOURCES + Math.min(sources, VectorFolds.SOURCES) - 1;
    }

    /**
     * Loads and links what the first call needs. Takes some milliseconds, once; without it, the first call takes them.
     */
    public static void prepare() {
        Warmup.prepare();
    }

    /** Whether calls count as use, after enough of which a kernel is trained; those of a rehearsal should not. */
    public static void countUse(boolean count) {
        counting = count;
    }

    /** Has kernels for this many sources (own array included) trained in the background, native and heap. */
    public static void warm(int sources, int... kernels) {
        for (int kernel : kernels) {
            Warmup.request(false, kernel, sources);
            Warmup.request(true, kernel, sources);
        }
    }

    /**
     * Waits until nothing is left to train.
     *
     * @return false if that took longer than the timeout
     */
    public static boolean awaitWarm(Duration timeout) throws InterruptedException {
        return Warmup.await(timeout);
    }

    /** Whether vector kernels are used, once they are trained. */
    public static boolean vectorised() {
        return VectorModule.CAUSE == null;
    }

    /** Why vector kernels are not used, or null. */
    public static @Nullable String unavailabilityCause() {
        return VectorModule.CAUSE;
    }
}
