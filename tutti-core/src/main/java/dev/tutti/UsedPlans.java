package dev.tutti;

import dev.tutti.exec.PlanContext;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verifier;

/** What must hold before a communicator lets a plan of the user's serve calls. */
final class UsedPlans {
    private static final long RIGHT = 1;
    private static final long WRONG = 2;

    private UsedPlans() {}

    static void requireUsable(Plan plan, int size, long minBytes, long maxBytes) {
        if (plan.ranks() != size) {
            throw new IllegalArgumentException(
                    "plan " + plan.name() + " is for " + plan.ranks() + " ranks, this communicator has " + size);
        }
        if (minBytes < 0 || maxBytes < minBytes) {
            throw new IllegalArgumentException("sizes from " + minBytes + " to " + maxBytes + " bytes make no sense");
        }
        if (plan.header().collective() == null) {
            throw new IllegalArgumentException(
                    "plan " + plan.name() + " is for '" + plan.header().purpose() + "', for which there is no call");
        }
        if (plan.header().style() == PlanHeader.Style.POSITIONS) {
            switch (plan.collective()) {
                case ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL -> {}
                default ->
                    throw new IllegalArgumentException(
                            "plan files cannot say what " + plan.collective() + " needs, such as a root");
            }
        }
    }

    static long digest(Plan plan) {
        return PlanContext.digest(plan);
    }

    /** What is too large for a proof is taken as it is: the verifier knows when to stop. */
    static long verdict(Plan plan) {
        return Verifier.check(plan).status() == Verdict.Status.FAIL ? WRONG : RIGHT;
    }

    /** Compares what all ranks said: a digest each, and rank 0's verdict. */
    static void requireAgreement(Plan plan, int rank, long[] all) {
        for (int peer = 0; peer < all.length / 2; peer++) {
            if (all[2 * peer] != all[0]) {
                throw new IllegalArgumentException(
                        "rank " + peer + " gave another plan than rank 0: all ranks must give equal" + " plans; rank "
                                + rank + " gave '" + plan.name() + "'");
            }
        }
        if (all[1] == WRONG) {
            throw new IllegalArgumentException(
                    "plan " + plan.name() + " is wrong: " + Verifier.check(plan).reason());
        }
    }
}
