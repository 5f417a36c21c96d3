package dev.tutti.reduce;

import org.jspecify.annotations.Nullable;

/**
 * A fold of two sources on native memory that is made again and again. It does what {@link Kernels#reduce} does, and knows its kernel: to
 * find that takes a tenth of a small exchange.
 */
public final class PairFold {
    private final int kernel;
    private final int count;
    private final long aux;
    private final int index;
    private final long[] sources = new long[2];
    private final @Nullable PairKernel few;
    private @Nullable PairKernel vectors;

    /**
     * The fold of a kernel.
     *
     * @param kernel from {@link Kernels#id}, but not of {@link Fold#MUL_SUM}
     * @param count elements
     * @param aux {@link Fold#AVG}: the divisor
     */
    public PairFold(int kernel, int count, long aux) {
        this.kernel = kernel;
        this.count = count;
        this.aux = aux;
        this.index = Readiness.index(kernel, 2);
        this.few = Scalars.few(kernel, count);
    }

    /** {@code destination[i] = first[i] op second[i]}. */
    public void fold(long first, long second, long destination) {
        if (few != null) {
            few.fold(first, second, destination, count);
        } else if (Readiness.NATIVE.isReady(index)) {
            vectors().fold(first, second, destination, count);
        } else {
            sources[0] = first;
            sources[1] = second;
            Kernels.reduce(kernel, sources, 0, 2, 0, destination, count, aux, -1);
        }
    }

    private PairKernel vectors() {
        PairKernel known = vectors;
        if (known == null) {
            known = Vectors.pair(kernel, aux);
            vectors = known;
        }
        return known;
    }
}
