package dev.tutti;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How elements of several ranks become one: a built-in operator, a sum with a scalar, or a function of the user's.
 *
 * <p>One reduce step rounds once, however many sources it has; float16, bfloat16 and float8 accumulate in float32.
 * NaN wins in every float operator.
 *
 * {@snippet :
 * comm.allReduce(x, ReduceOp.SUM);
 * comm.allReduce(gradients, ReduceOp.preMulSum(1.0 / batch));
 * }
 */
public final class ReduceOp {
    /** What an operator does to its operands. */
    public enum Kind {
        /** Addition. */
        SUM,
        /** Multiplication. */
        PROD,
        /** The smaller; NaN wins. */
        MIN,
        /** The larger; NaN wins. */
        MAX,
        /** Addition, then division by the number of ranks; integers truncate toward zero. */
        AVG,
        /** Bitwise and, integers only. */
        AND,
        /** Bitwise or, integers only. */
        OR,
        /** Bitwise exclusive or, integers only. */
        XOR,
        /** Each rank's array times that rank's scalar, then addition. */
        PRE_MUL_SUM,
        /** A function of the user's. */
        USER
    }

    /** Addition. */
    public static final ReduceOp SUM = new ReduceOp(Kind.SUM, 0, null);
    /** Multiplication. */
    public static final ReduceOp PROD = new ReduceOp(Kind.PROD, 0, null);
    /** The smallest; NaN wins. */
    public static final ReduceOp MIN = new ReduceOp(Kind.MIN, 0, null);
    /** The largest; NaN wins. */
    public static final ReduceOp MAX = new ReduceOp(Kind.MAX, 0, null);
    /** Sum divided by the number of ranks, in the accumulation type; integers truncate toward zero. */
    public static final ReduceOp AVG = new ReduceOp(Kind.AVG, 0, null);
    /** Bitwise and, integers only. */
    public static final ReduceOp AND = new ReduceOp(Kind.AND, 0, null);
    /** Bitwise or, integers only. */
    public static final ReduceOp OR = new ReduceOp(Kind.OR, 0, null);
    /** Bitwise exclusive or, integers only. */
    public static final ReduceOp XOR = new ReduceOp(Kind.XOR, 0, null);

    private final Kind kind;
    private final double scalar;
    private final @Nullable ReduceFunction function;

    private ReduceOp(Kind kind, double scalar, @Nullable ReduceFunction function) {
        this.kind = kind;
        this.scalar = scalar;
        this.function = function;
    }

    /**
     * Sum of every rank's array times that rank's scalar; ranks may give different scalars. Integer types take the scalar's
     * integer part.
     *
     * @param scalar factor for this rank's array
     * @return the operator
     */
    public static ReduceOp preMulSum(double scalar) {
        return new ReduceOp(Kind.PRE_MUL_SUM, scalar, null);
    }

    /**
     * A function of the user's.
     *
     * @param function what to do with two arrays
     * @return the operator
     */
    public static ReduceOp of(ReduceFunction function) {
        return new ReduceOp(Kind.USER, 0, Objects.requireNonNull(function, "function"));
    }

    /**
     * Which operator this is.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * The factor of {@link #preMulSum}.
     *
     * @return the factor, 0 for other operators
     */
    public double scalar() {
        return scalar;
    }

    /**
     * The user's function.
     *
     * @return the function, or null for built-in operators
     */
    public @Nullable ReduceFunction function() {
        return function;
    }

    /**
     * Whether operands may change places; built-in operators always may.
     *
     * @return false only for a function that says so
     */
    public boolean isCommutative() {
        return function == null || function.commutative();
    }

    /**
     * Whether elements of a type can be reduced so.
     *
     * @param type the elements
     * @return false for bitwise operators on floats and for a function made for another type
     */
    public boolean accepts(DataType type) {
        return switch (kind) {
            case AND, OR, XOR -> type.isInteger();
            case USER -> function != null && function.type() == type;
            default -> true;
        };
    }

    /**
     * The name in tables and messages.
     *
     * @return for example {@code sum}, {@code mulsum}, or the function's name
     */
    @Override
    public String toString() {
        return switch (kind) {
            case PRE_MUL_SUM -> "mulsum";
            case USER -> function == null ? "user" : function.name();
            default -> kind.name().toLowerCase(java.util.Locale.ROOT);
        };
    }
}
