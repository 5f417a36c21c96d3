package dev.tutti.exec;

import dev.tutti.plan.Op;

/**
 * An operation and where it stands in its lane.
 *
 * @param index position in the lane
 * @param inner position in the loop that stands there, or -1
 * @param op what it does
 */
public record PlanStep(int index, int inner, Op op) {
    @Override
    public String toString() {
        return "op " + index + (inner < 0 ? "" : "." + inner) + " (" + op.code().symbol() + ")";
    }
}
