package dev.tutti.cli.plan;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.data.ExactData;

/** Which operators go with which types. */
final class ReduceOpKinds {
    private ReduceOpKinds() {}

    static boolean accepts(ReduceOp.Kind kind, DataType type) {
        return ExactData.operator(kind, 0).accepts(type);
    }
}
