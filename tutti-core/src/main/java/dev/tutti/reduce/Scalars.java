package dev.tutti.reduce;

import org.jspecify.annotations.Nullable;

/** Sends a call to the scalar twin of its accumulation type. Arrays are null for the native form. */
final class Scalars {
    /** So many elements are sooner folded one by one, where they lie, than in tiles. */
    private static final int FEW = FewFloats.FEW;

    private Scalars() {}

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
