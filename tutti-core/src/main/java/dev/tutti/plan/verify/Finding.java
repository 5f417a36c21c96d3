package dev.tutti.plan.verify;

/**
 * One thing that is wrong with a plan.
 *
 * @param kind what sort of defect
 * @param rank whose operation shows it
 * @param lane which lane of that rank; -1 for the caller
 * @param op position of the operation in its lane; -1 if it is not about one
 * @param counterpart the operation at the other end, or what is missing there
 * @param sentence why it is wrong
 * @param sizes the choice of sizes under which it was found
 * @param schedule an order of steps that shows it
 */
public record Finding(
        Kind kind,
        int rank,
        int lane,
        int op,
        String counterpart,
        String sentence,
        String sizes,
        Interleaving schedule) {

    /** Sorts of defects. */
    public enum Kind {
        /** Lanes that wait for ever. */
        DEADLOCK,
        /** A result other than the collective's. */
        WRONG_RESULT,
        /** Two accesses to the same bytes, one of them a write, in no order. */
        RACE,
        /** A peer touches a buffer while its owner is outside the call. */
        OUTSIDE_CALL,
        /** More or fewer signals than waits, so that launches drift apart. */
        UNBALANCED,
        /** An operand beyond the end of its memory. */
        OUT_OF_BOUNDS,
        /** Operands of one operation that overlap in part, or differ in length. */
        OPERANDS,
        /** A rank that finishes without having heard from all, though the executor relies on it. */
        UNHEARD,
        /** A rule that the executor of Tutti's own plans relies on. */
        RULE
    }

    @Override
    public String toString() {
        return kind + ": " + sentence + " (" + sizes + ")";
    }
}
