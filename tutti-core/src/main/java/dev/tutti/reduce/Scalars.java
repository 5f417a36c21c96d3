package dev.tutti.reduce;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** Sends a call to the scalar twin of its accumulation type. Arrays are null for the native form. */
final class Scalars {
    /** So many elements are sooner folded one by one, where they lie, than in tiles. */
    private static final int FEW = FewFloats.FEW;

    /** C1 compiles a method of loops after some hundred calls and some thousand turns. */
    private static final int TURNS = 32;

    private static final int CALLS = 50;

    private Scalars() {}

    /** Runs every twin once, which loads and links it. */
    static void link() {
        runEach(1, false);
    }

    /** Runs every loop of the twins some times. A first call of kilobytes takes milliseconds unless they are compiled. */
    static void run() {
        runEach(CALLS, true);
    }

    private static void runEach(int calls, boolean loopsOnce) {
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(TURNS * Long.BYTES, Long.BYTES).address();
            long[] code = {address, address};
            for (int type = 0; type < Codes.TYPES; type++) {
                for (int fold = 0; fold < Codes.FOLDS; fold++) {
                    if (loopsOnce && !hasLoop(type, fold)) {
                        continue;
                    }
                    int kernel = Codes.kernel(type, fold);
                    for (int call = 0; call < calls; call++) {
                        reduce(kernel, null, 0, null, 0, code, 0, 2, 0, address, TURNS, 2, 0);
                    }
                }
            }
        }
    }

    /** Whether no type before this one has the same loop. */
    private static boolean hasLoop(int type, int fold) {
        return switch (type) {
            case Codes.UINT8, Codes.UINT16, Codes.UINT32, Codes.UINT64 ->
                fold == Codes.MIN || fold == Codes.MAX || fold == Codes.AVG;
            case Codes.FLOAT16, Codes.BFLOAT16, Codes.FLOAT8E4M3, Codes.FLOAT8E5M2 -> fold == Codes.SUM;
            default -> Codes.isInteger(type) || fold < Codes.AND || fold > Codes.XOR;
        };
    }

    /** What folds two sources of so many elements where they lie; null if a tile or a vector is better. */
    static @Nullable PairKernel few(int kernel, int count) {
        int type = Codes.type(kernel);
        int fold = Codes.fold(kernel);
        if (count > FEW || fold >= Codes.AVG) {
            return null;
        }
        if (Codes.isUnsigned(type) && (fold == Codes.MIN || fold == Codes.MAX)) {
            fold = fold == Codes.MIN ? Codes.UNSIGNED_MIN : Codes.UNSIGNED_MAX;
        }
        return switch (type) {
            case Codes.INT8, Codes.UINT8 -> new FewBytes(fold);
            case Codes.INT16, Codes.UINT16 -> new FewShorts(fold);
            case Codes.INT32, Codes.UINT32 -> new FewInts(fold);
            case Codes.INT64, Codes.UINT64 -> new FewLongs(fold);
            case Codes.FLOAT32 -> new FewFloats(fold);
            case Codes.FLOAT64 -> new FewDoubles(fold);
            default -> null;
        };
    }

    static void reduce(
            int kernel,
            @Nullable Object own,
            int ownAt,
            @Nullable Object out,
            int outAt,
            long[] code,
            int srcAt,
            int n,
            long byteOffset,
            long dst,
            long count,
            long aux,
            int scaled) {
        switch (Codes.type(kernel)) {
            case Codes.INT8, Codes.UINT8 ->
                ScalarBytes.reduce(kernel, own, ownAt, out, outAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
            case Codes.INT16, Codes.UINT16 ->
                ScalarShorts.reduce(
                        kernel, own, ownAt, out, outAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
            case Codes.INT32, Codes.UINT32 ->
                ScalarInts.reduce(kernel, own, ownAt, out, outAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
            case Codes.INT64, Codes.UINT64 ->
                ScalarLongs.reduce(kernel, own, ownAt, out, outAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
            case Codes.FLOAT64 ->
                ScalarDoubles.reduce(
                        kernel, own, ownAt, out, outAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
            default ->
                ScalarFloats.reduce(
                        kernel, own, ownAt, out, outAt, code, srcAt, n, byteOffset, dst, count, aux, scaled);
        }
    }
}
