package dev.tutti.reduce;

import dev.tutti.DataType;

/**
 * The numbers behind {@link DataType} and {@link Fold} as compile-time constants: switches on them need no helper
 * class, which keeps the first call short.
 */
final class Codes {
    static final int INT8 = 0;
    static final int UINT8 = 1;
    static final int INT32 = 2;
    static final int UINT32 = 3;
    static final int INT64 = 4;
    static final int UINT64 = 5;
    static final int FLOAT16 = 6;
    static final int FLOAT32 = 7;
    static final int FLOAT64 = 8;
    static final int BFLOAT16 = 9;
    static final int FLOAT8E4M3 = 10;
    static final int FLOAT8E5M2 = 11;
    static final int INT16 = 12;
    static final int UINT16 = 13;
    static final int TYPES = 14;

    static final int SUM = 0;
    static final int PROD = 1;
    static final int MIN = 2;
    static final int MAX = 3;
    static final int AND = 4;
    static final int OR = 5;
    static final int XOR = 6;
    static final int AVG = 7;
    static final int MUL_SUM = 8;
    static final int FOLDS = 9;
    /** Minimum and maximum of unsigned integers, where these are told from the signed ones. */
    static final int UNSIGNED_MIN = FOLDS;

    static final int UNSIGNED_MAX = FOLDS + 1;

    private static final int FOLD_BITS = 4;
    private static final int FOLD_MASK = (1 << FOLD_BITS) - 1;

    /** log2 of the element's bytes, by type. */
    private static final byte[] SHIFTS = {0, 0, 2, 2, 3, 3, 1, 2, 3, 1, 0, 0, 1, 1};

    /** What elements are stored in on the heap, by type. */
    private static final Class<?>[] ARRAYS = {
        byte[].class,
        byte[].class,
        int[].class,
        int[].class,
        long[].class,
        long[].class,
        short[].class,
        float[].class,
        double[].class,
        short[].class,
        byte[].class,
        byte[].class,
        short[].class,
        short[].class
    };

    private Codes() {}

    static int kernel(int type, int fold) {
        return type << FOLD_BITS | fold;
    }

    static int type(int kernel) {
        return kernel >>> FOLD_BITS;
    }

    static int fold(int kernel) {
        return kernel & FOLD_MASK;
    }

    static int shift(int type) {
        return SHIFTS[type];
    }

    /** The class of arrays with elements of a type. */
    static Class<?> arrayClass(int type) {
        return ARRAYS[type];
    }

    static boolean isInteger(int type) {
        return type <= UINT64 || type >= INT16;
    }

    static boolean isFloat8(int type) {
        return type == FLOAT8E4M3 || type == FLOAT8E5M2;
    }

    static boolean isUnsigned(int type) {
        return type == UINT8 || type == UINT16 || type == UINT32 || type == UINT64;
    }
}
