package dev.tutti.reduce;

import dev.tutti.DataType;
import java.math.BigInteger;

/**
 * What a reduction has to give, written as plainly as possible and sharing no code with the kernels: integers by
 * {@link BigInteger}, small floats by their definition. Elements are raw bits in a long.
 */
final class Numbers {
    private Numbers() {}

    static long fold(DataType type, Fold fold, long[] elements, long aux, int scaled) {
        if (elements.length == 1 && fold != Fold.AVG && fold != Fold.MUL_SUM) {
            return elements[0];
        }
        return switch (type) {
            case FLOAT64 -> foldDoubles(fold, elements, aux, scaled);
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT8E4M3, FLOAT8E5M2 -> foldFloats(type, fold, elements, aux, scaled);
            default -> foldIntegers(type, fold, elements, aux, scaled);
        };
    }

    private static long foldIntegers(DataType type, Fold fold, long[] elements, long aux, int scaled) {
        BigInteger result = null;
        for (int k = 0; k < elements.length; k++) {
            BigInteger x = integer(type, elements[k]);
            if (fold == Fold.MUL_SUM && k == scaled) {
                x = x.multiply(BigInteger.valueOf(aux));
            }
            if (result == null) {
                result = x;
                continue;
            }
            result = switch (fold) {
                case SUM, AVG, MUL_SUM -> result.add(x);
                case PROD -> result.multiply(x);
                case MIN -> result.min(x);
                case MAX -> result.max(x);
                case AND -> result.and(x);
                case OR -> result.or(x);
                case XOR -> result.xor(x);
            };
        }
        if (fold == Fold.AVG) {
            result = integer(type, result.longValue()).divide(BigInteger.valueOf(aux));
        }
        return result.longValue() & mask(type);
    }

    private static BigInteger integer(DataType type, long bits) {
        int unused = 64 - 8 * type.bytes();
        if (type.kind() == DataType.Kind.SIGNED) {
            return BigInteger.valueOf(bits << unused >> unused);
        }
        return new BigInteger(Long.toUnsignedString(bits & mask(type)));
    }

    static long mask(DataType type) {
        return -1L >>> 64 - 8 * type.bytes();
    }

    private static long foldDoubles(Fold fold, long[] elements, long aux, int scaled) {
        double result = 0;
        for (int k = 0; k < elements.length; k++) {
            double x = Double.longBitsToDouble(elements[k]);
            if (fold == Fold.MUL_SUM && k == scaled) {
                x = x * Double.longBitsToDouble(aux);
            }
            result = k == 0
                    ? x
                    : switch (fold) {
                        case PROD -> result * x;
                        case MIN -> Math.min(result, x);
                        case MAX -> Math.max(result, x);
                        default -> result + x;
                    };
        }
        return Double.doubleToRawLongBits(fold == Fold.AVG ? result / aux : result);
    }

    private static long foldFloats(DataType type, Fold fold, long[] elements, long aux, int scaled) {
        float result = 0;
        for (int k = 0; k < elements.length; k++) {
            float x = decode(type, elements[k]);
            if (fold == Fold.MUL_SUM && k == scaled) {
                x = x * Float.intBitsToFloat((int) aux);
            }
            result = k == 0
                    ? x
                    : switch (fold) {
                        case PROD -> result * x;
                        case MIN -> Math.min(result, x);
                        case MAX -> Math.max(result, x);
                        default -> result + x;
                    };
        }
        return encode(type, fold == Fold.AVG ? result / (float) aux : result);
    }

    private static int mantissaBits(DataType type) {
        return switch (type) {
            case FLOAT16 -> 10;
            case BFLOAT16 -> 7;
            case FLOAT8E4M3 -> 3;
            case FLOAT8E5M2 -> 2;
            default -> throw new AssertionError(type);
        };
    }

    private static int bias(DataType type) {
        return (1 << 8 * type.bytes() - 2 - mantissaBits(type)) - 1;
    }

    static float decode(DataType type, long bits) {
        if (type == DataType.FLOAT32) {
            return Float.intBitsToFloat((int) bits);
        }
        int width = 8 * type.bytes();
        int mantissaBits = mantissaBits(type);
        int mantissa = (int) bits & (1 << mantissaBits) - 1;
        int exponent = (int) (bits >>> mantissaBits) & (1 << width - 1 - mantissaBits) - 1;
        boolean negative = (bits >>> width - 1 & 1) != 0;
        boolean allOnes = exponent == (1 << width - 1 - mantissaBits) - 1;
        double value;
        if (type == DataType.FLOAT8E4M3 && allOnes && mantissa == 7) {
            value = Double.NaN;
        } else if (type != DataType.FLOAT8E4M3 && allOnes) {
            value = mantissa == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else if (exponent == 0) {
            value = Math.scalb((double) mantissa, 1 - bias(type) - mantissaBits);
        } else {
            value = Math.scalb((double) (mantissa + (1 << mantissaBits)), exponent - bias(type) - mantissaBits);
        }
        return (float) (negative ? -value : value);
    }

    /** Nearest, ties to even, by the definition: a multiple of the unit in the last place of the value's binade. */
    static long encode(DataType type, float value) {
        if (type == DataType.FLOAT32) {
            return Float.floatToRawIntBits(value) & 0xFFFFFFFFL;
        }
        int width = 8 * type.bytes();
        int mantissaBits = mantissaBits(type);
        long sign = Float.floatToRawIntBits(value) < 0 ? 1L << width - 1 : 0;
        boolean eight = type.bytes() == 1;
        long infinity = (1L << width - 1) - (1L << mantissaBits);
        if (Float.isNaN(value)) {
            return sign | (eight ? 0x7F : infinity + 1);
        }
        long largest = type == DataType.FLOAT8E4M3 ? 0x7E : infinity - 1;
        double magnitude = Math.abs((double) value);
        int exponent = Math.max(magnitude == 0 ? -1000 : Math.getExponent(magnitude), 1 - bias(type));
        double units = magnitude == Double.POSITIVE_INFINITY
                ? Double.POSITIVE_INFINITY
                : Math.rint(Math.scalb(magnitude, mantissaBits - exponent));
        double rounded = units == Double.POSITIVE_INFINITY ? units : Math.scalb(units, exponent - mantissaBits);
        if (rounded > decode(type, largest)) {
            return sign | (eight ? largest : infinity);
        }
        long code = units < 1 << mantissaBits
                ? (long) units
                : (long) (exponent + bias(type) - 1 << mantissaBits) + (long) units;
        return sign | code;
    }

    static boolean isNaN(DataType type, long bits) {
        return switch (type) {
            case FLOAT64 -> Double.isNaN(Double.longBitsToDouble(bits));
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT8E4M3, FLOAT8E5M2 -> Float.isNaN(decode(type, bits));
            default -> false;
        };
    }

    /** Same bits, or both NaN: payloads are unspecified. */
    static boolean same(DataType type, long a, long b) {
        return a == b || isNaN(type, a) && isNaN(type, b);
    }
}
