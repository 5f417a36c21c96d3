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
            fold(kernel, null, 0, null, 0, code, srcAt, n, byteOffset, dst, (int) count, aux, scaled);
            return;
        }
        int shift = Codes.shift(Codes.type(kernel));
        for (long done = 0; done < count; done += SLICE_ELEMENTS) {
            int m = (int) Math.min(SLICE_ELEMENTS, count - done);
            long at = done << shift;
            fold(kernel, null, 0, null, 0, code, srcAt, n, byteOffset + at, dst + at, m, aux, scaled);
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
        fold(kernel, dstArray, dstAt, ownArray, ownAt, code, srcAt, n, byteOffset, 0, count, aux, scaled);
    }

    /** Both forms: arrays are null where all memory is native, and {@code dst} is not used where it is not. */
    private static void fold(
            int kernel,
            @Nullable Object out,
            int outAt,
            @Nullable Object own,
            int ownAt,
            long[] code,
            int srcAt,
            int n,
            long byteOffset,
            long dst,
            int count,
            long aux,
            int scaled) {
        int sources = own == null ? n : n + 1;
        if (readiness(own).isReady(Readiness.index(kernel, sources)) && takes(kernel, own, scaled)) {
            vectors(kernel, out, outAt, own, ownAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        } else if (sources == 1 && Codes.fold(kernel) < Codes.AVG) {
            copy(kernel, out, outAt, own, ownAt, code, srcAt, byteOffset, dst, count);
        } else if (own == null && Passes.suit(kernel, n)) {
            Passes.reduce(kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        } else {
            unready(kernel, out, outAt, own, ownAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        }
    }

    private static Readiness readiness(@Nullable Object own) {
        return own == null ? Readiness.NATIVE : Readiness.HEAP;
    }

    /** Whether the vector kernel, if there is one, can do this: on arrays it multiplies nothing but the array. */
    private static boolean takes(int kernel, @Nullable Object own, int scaled) {
        return own == null || scaled <= 0 || Codes.fold(kernel) != Codes.MUL_SUM;
    }

    private static void vectors(
            int kernel,
            @Nullable Object out,
            int outAt,
            @Nullable Object own,
            int ownAt,
            long[] code,
            int srcAt,
            int n,
            long byteOffset,
            long dst,
            int count,
            long aux,
            int scaled) {
        if (own == null || out == null) {
            Vectors.reduce(kernel, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        } else {
            Vectors.reduceHeap(kernel, out, outAt, own, ownAt, code, srcAt, n, byteOffset, count, aux, scaled);
        }
    }

    private static void copy(
            int kernel,
            @Nullable Object out,
            int outAt,
            @Nullable Object own,
            int ownAt,
            long[] code,
            int srcAt,
            long byteOffset,
            long dst,
            int count) {
        if (own == null || out == null) {
            Memory.copy(code[srcAt] + byteOffset, dst, (long) count << Codes.shift(Codes.type(kernel)));
        } else {
            System.arraycopy(own, ownAt, out, outAt, count);
        }
    }

    /** Where the kernel is not known to be compiled. One in doubt goes first, on a few elements, and the call starts again behind these. */
    private static void unready(
            int kernel,
            @Nullable Object out,
            int outAt,
            @Nullable Object own,
            int ownAt,
            long[] code,
            int srcAt,
            int n,
            long byteOffset,
            long dst,
            int count,
            long aux,
            int scaled) {
        Readiness readiness = readiness(own);
        int sources = own == null ? n : n + 1;
        int index = Readiness.index(kernel, sources);
        int shift = Codes.shift(Codes.type(kernel));
        boolean probes = count << shift >= PROBE_BYTES && takes(kernel, own, scaled);
        if (probes && readiness.isInDoubt(index)) {
            int few = Math.min(count, PROBE_ELEMENTS);
            long done = (long) few << shift;
            int rest = count - few;
            long start = System.nanoTime();
            vectors(kernel, out, outAt, own, ownAt, code, srcAt, n, byteOffset, dst, few, aux, scaled);
            if (!readiness.settle(index, System.nanoTime() - start < PROBE_NANOS)) {
                Warmup.request(own != null, kernel, sources);
            }
            fold(
                    kernel,
                    out,
                    outAt + few,
                    own,
                    ownAt + few,
                    code,
                    srcAt,
                    n,
                    byteOffset + done,
                    dst + done,
                    rest,
                    aux,
                    scaled);
            return;
        }
        Scalars.reduce(kernel, own, ownAt, out, outAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        if (readiness.isWorthTraining(index, count)) {
            Warmup.request(own != null, kernel, sources);
        }
    }

    /** Whether {@link #reduceHeap} takes these arrays and this many sources, own array included. */
    public static boolean takesArrays(int kernel, int sources, Object dstArray, Object ownArray) {
        Class<?> expected = Codes.arrayClass(Codes.type(kernel));
        return sources <= VectorFolds.SOURCES && dstArray.getClass() == expected && ownArray.getClass() == expected;
    }

    /**
     * Loads and links what the first call needs. Takes some milliseconds, once; without it, the first call takes them.
     */
    public static void prepare() {
        if (vectorised()) {
            Vectors.exists(0, 1);
            Warmup.prepare();
        }
        Scalars.link();
    }

    /** Runs scalar twins for a few milliseconds; some such runs, and they are compiled. */
    public static void runTwins() {
        Scalars.run();
    }

    /** Whether calls count as use, after enough of which a kernel is trained; those of a rehearsal should not. */
    public static void countUse(boolean count) {
        Readiness.countUse(count);
    }

    /** Has kernels for this many sources (own array included) trained in the background, native and heap. */
    public static void warm(int sources, int... kernels) {
        for (int kernel : kernels) {
            int taken = Passes.suit(kernel, sources) ? VectorFolds.SOURCES : sources;
            Warmup.request(false, kernel, taken);
            Warmup.request(true, kernel, taken);
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
