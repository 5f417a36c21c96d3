package dev.tutti.data;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Reduces elements in a random order, in random groups, and rounds or wraps to the element type after every single step: the
 * worst that a plan may do. Written with other means than the code under test: big numbers, and a search for the nearest value
 * in a list of all values of the small types.
 */
record NaiveReduction(DataType type, ReduceOp.Kind kind) {
    record Element(int rank, long bits) {}

    long reduce(List<Element> elements, Random random) {
        List<BigDecimal> values = new ArrayList<>();
        for (Element element : elements) {
            BigDecimal value = value(element.bits());
            boolean doubled = kind == ReduceOp.Kind.PRE_MUL_SUM && element.rank() % 2 == 1;
            values.add(doubled ? value(bits(value.multiply(BigDecimal.TWO))) : value);
        }
        int ranks = values.size();
        while (values.size() > 1) {
            Collections.shuffle(values, random);
            BigDecimal joined = join(values.removeLast(), values.removeLast());
            values.add(value(bits(joined)));
        }
        if (kind != ReduceOp.Kind.AVG) {
            return bits(values.getFirst());
        }
        BigDecimal count = BigDecimal.valueOf(ranks);
        return bits(
                type.isInteger()
                        ? new BigDecimal(values.getFirst().toBigIntegerExact().divide(count.toBigInteger()))
                        : new BigDecimal(values.getFirst().doubleValue() / ranks));
    }

    private BigDecimal join(BigDecimal one, BigDecimal other) {
        return switch (kind) {
            case SUM, AVG, PRE_MUL_SUM -> one.add(other);
            case PROD -> one.multiply(other);
            case MIN -> one.min(other);
            case MAX -> one.max(other);
            case AND -> new BigDecimal(one.toBigInteger().and(other.toBigInteger()));
            case OR -> new BigDecimal(one.toBigInteger().or(other.toBigInteger()));
            case XOR -> new BigDecimal(one.toBigInteger().xor(other.toBigInteger()));
            case USER -> throw new AssertionError();
        };
    }

    private BigDecimal value(long bits) {
        return switch (type) {
            case FLOAT64 -> new BigDecimal(Double.longBitsToDouble(bits));
            case FLOAT32 -> new BigDecimal(Float.intBitsToFloat((int) bits));
            case FLOAT16 -> new BigDecimal(Float.float16ToFloat((short) bits));
            case BFLOAT16 -> new BigDecimal(Float.intBitsToFloat((int) bits << 16));
            case FLOAT8E5M2 -> new BigDecimal(Float.float16ToFloat((short) (bits << 8)));
            case FLOAT8E4M3 -> new BigDecimal(e4m3((int) bits));
            default -> {
                BigInteger unsigned = new BigInteger(Long.toUnsignedString(bits & -1L >>> 64 - 8 * type.bytes()));
                boolean negative = type.kind() == DataType.Kind.SIGNED && unsigned.testBit(8 * type.bytes() - 1);
                yield new BigDecimal(
                        negative ? unsigned.subtract(BigInteger.ONE.shiftLeft(8 * type.bytes())) : unsigned);
            }
        };
    }

    private long bits(BigDecimal value) {
        return switch (type) {
            case FLOAT64 -> Double.doubleToRawLongBits(value.doubleValue());
            case FLOAT32 -> Integer.toUnsignedLong(Float.floatToRawIntBits(value.floatValue()));
            case FLOAT16 -> Short.toUnsignedLong(Float.floatToFloat16(value.floatValue()));
            case BFLOAT16 -> nearest(value, 0x7F7F);
            case FLOAT8E5M2 -> nearest(value, 0x7B);
            case FLOAT8E4M3 -> nearest(value, 0x7E);
            default -> value.toBigIntegerExact().longValue() & -1L >>> 64 - 8 * type.bytes();
        };
    }

    /** Bits of the value nearest in magnitude, found by halving; of two as near the even one. */
    private long nearest(BigDecimal value, int largest) {
        BigDecimal magnitude = value.abs();
        int low = 0;
        int high = largest;
        while (high - low > 1) {
            int middle = (low + high) / 2;
            if (value(middle).compareTo(magnitude) <= 0) {
                low = middle;
            } else {
                high = middle;
            }
        }
        int nearer = magnitude.subtract(value(low)).compareTo(value(high).subtract(magnitude));
        long chosen = nearer < 0 ? low : nearer > 0 ? high : low % 2 == 0 ? low : high;
        return value.signum() < 0 ? chosen | 1L << 8 * type.bytes() - 1 : chosen;
    }

    private static double e4m3(int bits) {
        int exponent = bits >> 3 & 15;
        int mantissa = bits & 7;
        double magnitude = exponent == 0 ? mantissa / 512.0 : (8 + mantissa) / 8.0 * Math.pow(2, exponent - 7);
        return bits > 127 ? -magnitude : magnitude;
    }
}
