package dev.tutti.data;

import dev.tutti.DataType;

/**
 * Bits of a float type, from and to double. Written from the definition of the formats and apart from the kernels, so that
 * neither can hide a mistake of the other.
 *
 * @param bits width of an element
 * @param precision significant bits, the hidden one included
 * @param minExponent exponent of the smallest normal number
 * @param infinity bits of positive infinity, or one above the largest finite number where there is no infinity
 */
record FloatFormat(int bits, int precision, int minExponent, long infinity) {
    private static final FloatFormat FLOAT64 = new FloatFormat(64, 53, -1022, 0x7FF0000000000000L);
    private static final FloatFormat FLOAT32 = new FloatFormat(32, 24, -126, 0x7F800000L);
    private static final FloatFormat FLOAT16 = new FloatFormat(16, 11, -14, 0x7C00L);
    private static final FloatFormat BFLOAT16 = new FloatFormat(16, 8, -126, 0x7F80L);
    private static final FloatFormat FLOAT8E4M3 = new FloatFormat(8, 4, -6, 0x7FL);
    private static final FloatFormat FLOAT8E5M2 = new FloatFormat(8, 3, -14, 0x7CL);

    static FloatFormat of(DataType type) {
        return switch (type) {
            case FLOAT64 -> FLOAT64;
            case FLOAT32 -> FLOAT32;
            case FLOAT16 -> FLOAT16;
            case BFLOAT16 -> BFLOAT16;
            case FLOAT8E4M3 -> FLOAT8E4M3;
            case FLOAT8E5M2 -> FLOAT8E5M2;
            default -> throw new IllegalArgumentException(type + " is not a float type");
        };
    }

    /** The nearest number's bits, ties to even; what is too large becomes the largest finite number. */
    long encode(double value) {
        if (bits == 64) {
            return Double.doubleToRawLongBits(value);
        }
        long sign = Double.doubleToRawLongBits(value) >>> 63 << (bits - 1);
        double magnitude = Math.abs(value);
        int exponent = Math.max(Math.getExponent(magnitude), minExponent);
        // A count of units in the last place; reaching 2^precision carries into the exponent by itself.
        long units = (long) Math.rint(Math.scalb(magnitude, precision - 1 - exponent));
        long unsigned = ((long) (exponent - minExponent) << (precision - 1)) + units;
        return sign | Math.min(unsigned, infinity - 1);
    }

    /** The value of a finite number. */
    double decode(long pattern) {
        long unsigned = pattern & ((1L << (bits - 1)) - 1);
        long fraction = unsigned & ((1L << (precision - 1)) - 1);
        long field = unsigned >>> (precision - 1);
        int exponent = (int) Math.max(field, 1) - 1 + minExponent;
        long units = field == 0 ? fraction : fraction | 1L << (precision - 1);
        double magnitude = Math.scalb((double) units, exponent - (precision - 1));
        return (pattern >>> (bits - 1) & 1) == 0 ? magnitude : -magnitude;
    }

    /** Largest exponent of a finite number. */
    int maxExponent() {
        return Math.getExponent(decode(infinity - 1));
    }

    /** How many numbers lie between two, plus one; more than any tolerance if one of them is not finite. */
    long distance(long one, long other) {
        long mask = ((1L << (bits - 1)) - 1);
        if ((one & mask) >= infinity || (other & mask) >= infinity) {
            return one == other ? 0 : Long.MAX_VALUE;
        }
        long a = (one >>> (bits - 1) & 1) == 0 ? one & mask : -(one & mask);
        long b = (other >>> (bits - 1) & 1) == 0 ? other & mask : -(other & mask);
        long distance = Math.abs(a - b);
        // Numbers of opposite sign may be further apart than a long can say.
        return distance < 0 ? Long.MAX_VALUE : distance;
    }
}
