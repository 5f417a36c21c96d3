package dev.tutti.plan.verify;

import java.util.List;

/**
 * What the verifier says of a plan.
 *
 * @param status whether it is right
 * @param reason one sentence
 * @param findings what is wrong with it, worst first
 * @param notes what is worth knowing and not wrong
 * @param classes how many choices of sizes and placement were proven
 * @param sameBits whether every rank folds in the same order, so that all get the same bits
 * @param rankOrder whether results are folded from the left in rank order
 */
public record Verdict(
        Status status,
        String reason,
        List<Finding> findings,
        List<String> notes,
        int classes,
        boolean sameBits,
        boolean rankOrder) {

    /** Whether a plan is right. */
    public enum Status {
        /** Proven to compute its collective under every schedule. */
        PASS,
        /** Proven to end under every schedule; what it computes is not defined. */
        RUNS,
        /** Proven wrong; the findings say how. */
        FAIL,
        /** It has no chunks from which sizes could follow. */
        NOT_EXECUTABLE,
        /** Right under every schedule tried; not proven for all. */
        NOT_PROVEN;

        /**
         * The word in reports.
         *
         * @return for example {@code NOT-PROVEN}
         */
        @Override
        public String toString() {
            return name().replace('_', '-');
        }
    }

    /** Keeps its own copies of the lists. */
    public Verdict {
        findings = List.copyOf(findings);
        notes = List.copyOf(notes);
    }

    /**
     * Whether the plan may run.
     *
     * @return true for {@link Status#PASS} and {@link Status#RUNS}
     */
    public boolean isGood() {
        return status == Status.PASS || status == Status.RUNS;
    }
}
