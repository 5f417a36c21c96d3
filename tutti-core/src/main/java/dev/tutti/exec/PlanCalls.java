package dev.tutti.exec;

import dev.tutti.ReduceOp;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The plans of files that serve ordinary calls of one communicator; the same on all ranks, so that all choose alike. */
final class PlanCalls {
    /** A plan and the messages that it is for. */
    record Used(
            PlanContext context,
            PlanCall call,
            ReduceOp.@Nullable Kind operator,
            long minBytes,
            long maxBytes,
            long digest) {}

    private final List<Used> all = new ArrayList<>();

    /** Later plans come before earlier ones. */
    void add(PlanContext context, long minBytes, long maxBytes) {
        Plan plan = context.plan();
        ReduceOp.Kind operator = plan.all().stream()
                .flatMap(RankPlan::operations)
                .map(Op::fold)
                .filter(Objects::nonNull)
                .map(fold -> Objects.requireNonNull(fold).kind())
                .findFirst()
                .orElse(null);
        all.addFirst(new Used(context, new PlanCall(context), operator, minBytes, maxBytes, digest(plan)));
    }

    @Nullable
    Used find(Call call) {
        for (int i = 0; i < all.size(); i++) {
            Used used = all.get(i);
            if (PlanCall.serves(used.context().plan(), used.operator(), call, used.minBytes(), used.maxBytes())) {
                return used;
            }
        }
        return null;
    }

    /** The same number in every process for the same plan, and for no other that anybody would confuse with it. */
    static long digest(Plan plan) {
        String text = plan.name() + plan.header() + plan.root() + plan.protocol() + plan.all();
        long digest = 1;
        for (int i = 0; i < text.length(); i++) {
            digest = Signature.mix(digest ^ text.charAt(i));
        }
        return digest;
    }
}
