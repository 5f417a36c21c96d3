package dev.tutti.reduce;

/**
 * Sends a call to its generated kernel. Linked only where the Vector API is there, and used only for kernels that have
 * been trained: see {@link Warmup}.
 */
final class Vectors {
    /** First slot of a kernel's fold, or -1 where there is no vector kernel. */
    private static final byte[] FIRST_SLOTS = new byte[Codes.kernel(Codes.TYPES, 0)];

    static {
        for (int type = 0; type < Codes.TYPES; type++) {
            for (int fold = 0; fold < Codes.FOLDS; fold++) {
                FIRST_SLOTS[Codes.kernel(type, fold)] = (byte) firstSlot(type, fold);
            }
        }
    }

    private Vectors() {}

    private static int firstSlot(int type, int fold) {
        if (Codes.isInteger(type)) {
            return switch (fold) {
                case Codes.AVG -> -1;
                case Codes.MIN -> Codes.isUnsigned(type) ? VectorFolds.UMIN : VectorFolds.MIN;
                case Codes.MAX -> Codes.isUnsigned(type) ? VectorFolds.UMAX : VectorFolds.MAX;
                default -> fold * VectorFolds.SLOTS;
            };
        }
        return fold == Codes.AND || fold == Codes.OR || fold == Codes.XOR ? -1 : fold * VectorFolds.SLOTS;
    }

    /** Whether there is a vector kernel for this many sources in all. */
    static boolean exists(int kernel, int sources) {
        return FIRST_SLOTS[kernel] >= 0
                && sources >= (Codes.fold(kernel) < Codes.AVG ? 2 : 1)
                && !Passes.suit(kernel, sources);
    }

    /** The 8-bit floats have kernels for 1, for 2 and for any number of sources, the others for 1 to 8, and 16-bit floats for more. */
    private static int slot(int kernel, int sources, long aux) {
        int first = FIRST_SLOTS[kernel];
        if (first == VectorFolds.AVG && (aux & aux - 1) == 0) {
            first = VectorFolds.SCALED_SUM;
        }
        return first
                + (Codes.isFloat8(Codes.type(kernel)) ? Math.min(sources, 3) : Math.min(sources, VectorFolds.SLOTS))
                - 1;
    }

    static void reduce(int kernel, long[] code, int at, int n, long offset, long dst, int count, long aux, int scaled) {
        int slot = slot(kernel, n, aux);
        switch (Codes.type(kernel)) {
            case Codes.INT8, Codes.UINT8 -> NativeInt8.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.INT16, Codes.UINT16 -> NativeInt16.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.INT32, Codes.UINT32 -> NativeInt32.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.INT64, Codes.UINT64 -> NativeInt64.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.FLOAT16 -> NativeFloat16.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.FLOAT32 -> NativeFloat32.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.FLOAT64 -> NativeFloat64.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.BFLOAT16 -> NativeBfloat16.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            case Codes.FLOAT8E4M3 -> NativeE4m3.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
            default -> NativeE5m2.reduce(slot, code, at, n, offset, dst, count, aux, scaled);
        }
    }

    /** A kernel for two sources, where there is one. */
    static PairKernel pair(int kernel, long aux) {
        int slot = slot(kernel, 2, aux);
        return switch (Codes.type(kernel)) {
            case Codes.INT8, Codes.UINT8 -> new NativeInt8(slot, aux);
            case Codes.INT16, Codes.UINT16 -> new NativeInt16(slot, aux);
            case Codes.INT32, Codes.UINT32 -> new NativeInt32(slot, aux);
            case Codes.INT64, Codes.UINT64 -> new NativeInt64(slot, aux);
            case Codes.FLOAT16 -> new NativeFloat16(slot, aux);
            case Codes.FLOAT32 -> new NativeFloat32(slot, aux);
            case Codes.FLOAT64 -> new NativeFloat64(slot, aux);
            case Codes.BFLOAT16 -> new NativeBfloat16(slot, aux);
            case Codes.FLOAT8E4M3 -> new NativeE4m3(slot, aux);
            default -> new NativeE5m2(slot, aux);
        };
    }

    static void reduceHeap(
            int kernel,
            Object out,
            int outAt,
            Object own,
            int ownAt,
            long[] code,
            int at,
            int n,
            long offset,
            int count,
            long aux,
            int scaled) {
        int slot = slot(kernel, n + 1, aux);
        switch (Codes.type(kernel)) {
            case Codes.INT8, Codes.UINT8 ->
                HeapInt8.reduce(
                        slot, (byte[]) out, outAt, (byte[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.INT16, Codes.UINT16 ->
                HeapInt16.reduce(
                        slot, (short[]) out, outAt, (short[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.INT32, Codes.UINT32 ->
                HeapInt32.reduce(slot, (int[]) out, outAt, (int[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.INT64, Codes.UINT64 ->
                HeapInt64.reduce(
                        slot, (long[]) out, outAt, (long[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.FLOAT16 ->
                HeapFloat16.reduce(
                        slot, (short[]) out, outAt, (short[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.FLOAT32 ->
                HeapFloat32.reduce(
                        slot, (float[]) out, outAt, (float[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.FLOAT64 ->
                HeapFloat64.reduce(
                        slot, (double[]) out, outAt, (double[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.BFLOAT16 ->
                HeapBfloat16.reduce(
                        slot, (short[]) out, outAt, (short[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            case Codes.FLOAT8E4M3 ->
                HeapE4m3.reduce(
                        slot, (byte[]) out, outAt, (byte[]) own, ownAt, code, at, n, offset, count, aux, scaled);
            default ->
                HeapE5m2.reduce(
                        slot, (byte[]) out, outAt, (byte[]) own, ownAt, code, at, n, offset, count, aux, scaled);
        }
    }
}
