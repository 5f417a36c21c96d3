package dev.tutti.matrix;

import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.data.ExactData;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** How elements are reduced. The two functions of the user's work on raw bits, so they exist for every type. */
enum Operator {
    NONE,
    SUM,
    PROD,
    MIN,
    MAX,
    AVG,
    AND,
    OR,
    XOR,
    PRE_MUL_SUM,
    /** Adds bits; commutative. */
    USER,
    /**
     * Composes affine maps: the upper half of the bits is the factor, made odd, the lower half the summand. Associative, not
     * commutative, and the result depends on every operand.
     */
    USER_IN_ORDER;

    boolean isUser() {
        return this == USER || this == USER_IN_ORDER;
    }

    boolean accepts(DataType type) {
        return switch (this) {
            case AND, OR, XOR -> type.isInteger();
            default -> true;
        };
    }

    ReduceOp of(DataType type, int rank) {
        return isUser()
                ? ReduceOp.of(new ReduceFunction(
                        name() + type,
                        type,
                        this == USER,
                        (accumulator, input, count) -> fold(type, accumulator, input, count)))
                : ExactData.operator(kind(), rank);
    }

    ReduceOp.Kind kind() {
        return isUser() ? ReduceOp.Kind.USER : ReduceOp.Kind.valueOf(name());
    }

    private void fold(DataType type, MemorySegment accumulator, MemorySegment input, long count) {
        for (long i = 0; i < count; i++) {
            put(type, accumulator, i, combine(type, get(type, accumulator, i), get(type, input, i)));
        }
    }

    long combine(DataType type, long left, long right) {
        if (this == USER) {
            return left + right;
        }
        int half = 4 * type.bytes();
        long mask = (1L << half) - 1;
        long leftFactor = left >>> half & mask | 1;
        long rightFactor = right >>> half & mask | 1;
        long summand = leftFactor * (right & mask) + (left & mask) & mask;
        return (leftFactor * rightFactor & mask) << half | summand;
    }

    static long get(DataType type, MemorySegment from, long i) {
        return switch (type.bytes()) {
            case 1 -> from.get(ValueLayout.JAVA_BYTE, i) & 0xFFL;
            case 2 -> from.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2 * i) & 0xFFFFL;
            case 4 -> from.get(ValueLayout.JAVA_INT_UNALIGNED, 4 * i) & 0xFFFFFFFFL;
            default -> from.get(ValueLayout.JAVA_LONG_UNALIGNED, 8 * i);
        };
    }

    static void put(DataType type, MemorySegment to, long i, long bits) {
        switch (type.bytes()) {
            case 1 -> to.set(ValueLayout.JAVA_BYTE, i, (byte) bits);
            case 2 -> to.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2 * i, (short) bits);
            case 4 -> to.set(ValueLayout.JAVA_INT_UNALIGNED, 4 * i, (int) bits);
            default -> to.set(ValueLayout.JAVA_LONG_UNALIGNED, 8 * i, bits);
        }
    }
}
