package dev.tutti.cli.plan;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * One size, type and operator to run a plan with.
 *
 * @param count elements of a block
 * @param type what they are
 * @param operator the call's operator, or null for the plan's own
 * @param checked the operator that results are compared by, or null if nothing is folded
 */
record TrialCase(long count, DataType type, ReduceOp.@Nullable Kind operator, ReduceOp.@Nullable Kind checked) {
    long blockBytes() {
        return count * type.bytes();
    }

    @Override
    public String toString() {
        return count + " x " + type
                + (checked == null ? "" : " " + checked.name().toLowerCase(java.util.Locale.ROOT));
    }
}
