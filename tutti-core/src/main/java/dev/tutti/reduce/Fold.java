package dev.tutti.reduce;

import dev.tutti.DataType;

/** What a kernel does with its sources. {@code ReduceOp} is the user's word for it; this is the kernel's. */
public enum Fold {
    SUM,
    PROD,
    MIN,
    MAX,
    AND,
    OR,
    XOR,
    /** Sum, then divide by a count in the accumulation type; integers truncate toward zero. */
    AVG,
    /** Sum in which one source is first multiplied by a scalar. */
    MUL_SUM;

    /** Whether elements of this type can be folded so: the bitwise folds are for integers. */
    public boolean accepts(DataType type) {
        return switch (this) {
            case AND, OR, XOR -> type.isInteger();
            default -> true;
        };
    }
}
