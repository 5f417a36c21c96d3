package dev.tutti.reduce;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Folds of more sources than a kernel takes: eight at once, then the result so far and seven more, tile by tile. That is the same fold
 * from left to right, and the same bits, where partial results have the elements' type; those that round once at the end, sums of
 * small floats and averages of integers, are not for this.
 *
 * <p>Partial results go into a tile of the thread's own and not to the destination, which may be one of the sources yet to come.
 */
final class Passes {
    private static final int TILE_BYTES = 16 << 10;

    private static final ThreadLocal<Passes> OF_THREAD = ThreadLocal.withInitial(Passes::new);

    private final MemorySegment tile = Arena.ofAuto().allocate(TILE_BYTES, 64);
    private final long[] sources = new long[VectorFolds.SOURCES];

    private Passes() {}

    static boolean suit(int kernel, int sources) {
        return sources > VectorFolds.SOURCES && keepsType(Codes.type(kernel), Codes.fold(kernel));
    }

    private static boolean keepsType(int type, int fold) {
        return switch (type) {
            case Codes.FLOAT32, Codes.FLOAT64 -> true;
            case Codes.FLOAT16 -> fold == Codes.MIN || fold == Codes.MAX;
            default -> Codes.isInteger(type) && fold != Codes.AVG;
        };
    }

    static void reduce(
            int kernel, long[] code, int srcAt, int n, long byteOffset, long dst, int count, long aux, int scaled) {
        Passes passes = OF_THREAD.get();
        int shift = Codes.shift(Codes.type(kernel));
        int most = TILE_BYTES >> shift;
        for (int done = 0; done < count; done += most) {
            long at = (long) done << shift;
            passes.tile(kernel, code, srcAt, n, byteOffset + at, dst + at, Math.min(most, count - done), aux, scaled);
        }
    }

    private void tile(
            int kernel, long[] code, int srcAt, int n, long byteOffset, long dst, int count, long aux, int scaled) {
        // Only the last pass has the whole sum that avg divides.
        int partial = Codes.fold(kernel) == Codes.AVG ? Codes.kernel(Codes.type(kernel), Codes.SUM) : kernel;
        int taken = VectorFolds.SOURCES;
        Kernels.reduce(
                partial, code, srcAt, taken, byteOffset, tile.address(), count, aux, scaled < taken ? scaled : -1);
        sources[0] = tile.address();
        while (taken < n) {
            int more = Math.min(n - taken, VectorFolds.SOURCES - 1);
            for (int i = 0; i < more; i++) {
                sources[i + 1] = code[srcAt + taken + i] + byteOffset;
            }
            boolean last = taken + more == n;
            boolean scales = scaled >= taken && scaled < taken + more;
            Kernels.reduce(
                    last ? kernel : partial,
                    sources,
                    0,
                    more + 1,
                    0,
                    last ? dst : tile.address(),
                    count,
                    aux,
                    scales ? scaled - taken + 1 : -1);
            taken += more;
        }
    }
}
