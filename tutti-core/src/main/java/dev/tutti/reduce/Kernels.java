package dev.tutti.reduce;

import dev.tutti.DataType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Folds elements of several sources into one destination. One call rounds once, however many sources it has.
 *
 * <p>Until a vector kernel is compiled, and where the Vector API is absent, its scalar twin runs, with the same bits.
 * A kernel that is used more than a little is trained in the background; {@link #warm} asks for that earlier. One that may have lost its
 * code shows on a few elements whether it has; if so, the twin takes over until it is trained again.
 *
 * <p>The reductions are hot: they neither allocate nor check. Addresses are absolute and may have any alignment; the
 * destination may be one of the sources, but must not overlap one partially.
 */
public final class Kernels {
    /** Longer calls are cut: a copy or kernel that runs too long holds up safepoints. */
    private static final int SLICE_ELEMENTS = 1 << 17;

    /** A kernel that is in doubt shows on so many elements, if that is a vector or more, whether it is still compiled. */
    private static final int PROBE_ELEMENTS = 128;

    private static final int PROBE_BYTES = 64;

    /** Compiled, that takes less than 500 ns; without, more than 10 µs. */
    private static final long PROBE_NANOS = 4000;

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
        int index = Readiness.index(kernel, n);
        if (Readiness.NATIVE.isReady(index) && hasKernel(kernel, n)) {
            vectors(kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        } else if (n == 1 && isCopy(kernel)) {
            Memory.copy(code[srcAt] + byteOffset, dst, (long) count << Codes.shift(Codes.type(kernel)));
        } else {
            unready(index, kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        }
    }

    private static void vectors(
            int kernel, long[] code, int srcAt, int n, long byteOffset, long dst, int count, long aux, int scaled) {
        if (n > VectorFolds.SOURCES && Passes.suit(kernel)) {
            Passes.reduce(kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        } else {
            Vectors.reduce(kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        }
    }

    /** Where the kernel is not known to be compiled. One in doubt goes first, on a few elements, and the call starts again behind these. */
    private static void unready(
            int index,
            int kernel,
            long[] code,
            int srcAt,
            int n,
            long byteOffset,
            long dst,
            int count,
            long aux,
            int scaled) {
        int shift = Codes.shift(Codes.type(kernel));
        if (isProbe(count << shift) && hasKernel(kernel, n) && Readiness.NATIVE.isInDoubt(index)) {
            int few = Math.min(count, PROBE_ELEMENTS);
            long start = System.nanoTime();
            vectors(kernel, code, srcAt, n, byteOffset, dst, few, aux, scaled);
            if (!Readiness.NATIVE.settle(index, System.nanoTime() - start < PROBE_NANOS)) {
                Warmup.request(false, kernel, n);
            }
            long done = (long) few << shift;
            slice(kernel, code, srcAt, n, byteOffset + done, dst + done, count - few, aux, scaled);
            return;
        }
        Scalars.reduce(kernel, null, 0, null, 0, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        if (Readiness.NATIVE.isWorthTraining(index, count)) {
            Warmup.request(false, kernel, n);
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
        int index = Readiness.index(kernel, n + 1);
        boolean vectors = n < VectorFolds.SOURCES && (scaled <= 0 || Codes.fold(kernel) != Codes.MUL_SUM);
        if (Readiness.HEAP.isReady(index) && vectors) {
            Vectors.reduceHeap(
                    kernel, dstArray, dstAt, ownArray, ownAt, code, srcAt, n, byteOffset, count, aux, scaled);
        } else if (n == 0 && isCopy(kernel)) {
            System.arraycopy(ownArray, ownAt, dstArray, dstAt, count);
        } else {
            unreadyHeap(
                    index,
                    vectors,
                    kernel,
                    dstArray,
                    dstAt,
                    ownArray,
                    ownAt,
                    code,
                    srcAt,
                    n,
                    byteOffset,
                    count,
                    aux,
                    scaled);
        }
    }

    /** As {@link #unready}. */
    private static void unreadyHeap(
            int index,
            boolean vectors,
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
        int shift = Codes.shift(Codes.type(kernel));
        if (isProbe(count << shift) && vectors && Readiness.HEAP.isInDoubt(index)) {
            int few = Math.min(count, PROBE_ELEMENTS);
            long start = System.nanoTime();
            Vectors.reduceHeap(kernel, dstArray, dstAt, ownArray, ownAt, code, srcAt, n, byteOffset, few, aux, scaled);
            if (!Readiness.HEAP.settle(index, System.nanoTime() - start < PROBE_NANOS)) {
                Warmup.request(true, kernel, n + 1);
            }
            long done = (long) few << shift;
            reduceHeap(
                    kernel,
                    dstArray,
                    dstAt + few,
                    ownArray,
                    ownAt + few,
                    code,
                    srcAt,
                    n,
                    byteOffset + done,
                    count - few,
                    aux,
                    scaled);
            return;
        }
        Scalars.reduce(kernel, ownArray, ownAt, dstArray, dstAt, code, srcAt, n, byteOffset, 0, count, aux, scaled);
        if (Readiness.HEAP.isWorthTraining(index, count)) {
            Warmup.request(true, kernel, n + 1);
        }
    }

    /** Whether a call is long enough to show whether a kernel is compiled. */
    private static boolean isProbe(int bytes) {
        return bytes >= PROBE_BYTES;
    }

    /** Whether {@link #reduceHeap} takes these arrays and this many sources, own array included. */
    public static boolean takesArrays(int kernel, int sources, Object dstArray, Object ownArray) {
        Class<?> expected = Codes.arrayClass(Codes.type(kernel));
        return sources <= VectorFolds.SOURCES && dstArray.getClass() == expected && ownArray.getClass() == expected;
    }

    private static boolean isCopy(int kernel) {
        return Codes.fold(kernel) < Codes.AVG;
    }

    /** Kernels for 8 sources share their state with folds of more, which some types do not do in passes. */
    private static boolean hasKernel(int kernel, int sources) {
        return sources <= VectorFolds.SOURCES || Passes.suit(kernel) || Codes.isFloat8(Codes.type(kernel));
    }

    /**
     * Loads and links what the first call needs. Takes some milliseconds, once; without it, the first call takes them.
     */
    public static void prepare() {
        Warmup.prepare();
    }

    /** Whether calls count as use, after enough of which a kernel is trained; those of a rehearsal should not. */
    public static void countUse(boolean count) {
        Readiness.countUse(count);
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
