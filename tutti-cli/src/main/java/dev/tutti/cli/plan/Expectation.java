package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.Space;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a plan should compute, as far as it says. */
final class Expectation {
    private final Plan plan;
    private final int @Nullable [] senders;

    private Expectation(Plan plan) {
        this.plan = plan;
        this.senders = plan.header().purpose().equals(PlanHeader.SENDRECV) ? senders(plan) : null;
    }

    static Expectation of(Plan plan) {
        return new Expectation(plan);
    }

    @Nullable
    Collective collective() {
        return plan.header().collective();
    }

    /** The root of a rooted collective. */
    int root() {
        return plan.root();
    }

    /** Whether there is anything to compare. */
    boolean isKnown() {
        return collective() != null || senders != null;
    }

    /** Whose input a rank receives, in a plan that sends and receives. */
    int sender(int rank) {
        return senders == null ? rank : senders[rank];
    }

    /** The operator that all folds of the plan name; null if they name none; an exception if they differ. */
    static ReduceOp.@Nullable Kind operator(Plan plan) {
        List<ReduceOp.Kind> kinds = plan.all().stream()
                .flatMap(part -> part.operations())
                .filter(op -> op.code().folds() && op.fold() != null)
                .map(op -> java.util.Objects.requireNonNull(op.fold()).kind())
                .distinct()
                .toList();
        if (kinds.size() > 1) {
            throw new IllegalArgumentException("folds by " + kinds + ": give the one to use by -o");
        }
        return kinds.isEmpty() ? null : kinds.getFirst();
    }

    /** The file does not say who sends to whom; the puts into outputs do, and they must pair everybody up. */
    private static int[] senders(Plan plan) {
        int[] senders = new int[plan.ranks()];
        Arrays.fill(senders, -1);
        plan.all()
                .forEach(part -> part.operations()
                        .filter(op -> op.code().shape() == Code.Shape.PLAIN)
                        .forEach(op -> note(op, part.rank(), senders)));
        boolean[] sends = new boolean[plan.ranks()];
        for (int rank = 0; rank < senders.length; rank++) {
            if (senders[rank] < 0 || sends[senders[rank]]) {
                throw new IllegalArgumentException("rank " + rank + " receives "
                        + (senders[rank] < 0
                                ? "nothing"
                                : "what another rank receives too, from rank " + senders[rank]));
            }
            sends[senders[rank]] = true;
        }
        return senders;
    }

    private static void note(Op op, int self, int[] senders) {
        op.destinations().stream()
                .filter(chunk -> chunk.space() == Space.OUTPUT && chunk.rank() != self)
                .forEach(chunk -> {
                    if (senders[chunk.rank()] >= 0 && senders[chunk.rank()] != self) {
                        throw new IllegalArgumentException("ranks " + senders[chunk.rank()] + " and " + self
                                + " both send to rank " + chunk.rank());
                    }
                    senders[chunk.rank()] = self;
                });
    }
}
