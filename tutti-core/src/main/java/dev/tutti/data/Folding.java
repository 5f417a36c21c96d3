package dev.tutti.data;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;

/** The reduction of a few elements, one after the other, without rounding: the inputs are made so that none is needed. */
record Folding(DataType type, ReduceOp.Kind kind) {
    /** Bits of the result of the first ranks' values of a pattern. */
    long fold(long[][] inputs, int pattern, int ranks) {
        return type.isInteger() ? foldIntegers(inputs, pattern, ranks) : foldFloats(inputs, pattern, ranks);
    }

    private long foldFloats(long[][] inputs, int pattern, int ranks) {
        FloatFormat format = FloatFormat.of(type);
        double result = format.decode(inputs[0][pattern]);
        for (int rank = 1; rank < ranks; rank++) {
            double next = format.decode(inputs[rank][pattern]);
            result = switch (kind) {
                case SUM, AVG -> result + next;
                case PRE_MUL_SUM -> result + next * ExactData.scalar(rank);
                case PROD -> result * next;
                case MIN -> Math.min(result, next);
                case MAX -> Math.max(result, next);
                default -> throw new IllegalStateException(kind + " of floats");
            };
        }
        return format.encode(kind == ReduceOp.Kind.AVG ? result / ranks : result);
    }

    private long foldIntegers(long[][] inputs, int pattern, int ranks) {
        long result = extended(inputs[0][pattern]);
        for (int rank = 1; rank < ranks; rank++) {
            long next = extended(inputs[rank][pattern]);
            result = switch (kind) {
                case SUM, AVG -> result + next;
                case PRE_MUL_SUM -> result + next * ExactData.scalar(rank);
                case PROD -> result * next;
                case MIN -> isLess(next, result) ? next : result;
                case MAX -> isLess(result, next) ? next : result;
                case AND -> result & next;
                case OR -> result | next;
                case XOR -> result ^ next;
                case USER -> throw new IllegalStateException("a function of the user's");
            };
        }
        if (kind == ReduceOp.Kind.AVG) {
            return isUnsigned() ? Long.divideUnsigned(result, ranks) : result / ranks;
        }
        return result;
    }

    private boolean isUnsigned() {
        return type.kind() == DataType.Kind.UNSIGNED;
    }

    private boolean isLess(long one, long other) {
        return (isUnsigned() ? Long.compareUnsigned(one, other) : Long.compare(one, other)) < 0;
    }

    private long extended(long bits) {
        int unused = 64 - 8 * type.bytes();
        return isUnsigned() ? bits << unused >>> unused : bits << unused >> unused;
    }
}
