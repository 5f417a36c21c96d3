package dev.tutti.reduce;

import org.jspecify.annotations.Nullable;

/** Sends a call to the scalar twin of its accumulation type. Arrays are null for the native form. */
final class Scalars {
    private Scalars() {}

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
