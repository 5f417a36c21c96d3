package dev.tutti.exec;

import dev.tutti.ReduceOp;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The plans of files that serve ordinary calls of one communicator, and the call that one of them serves just now. The same on all
 * ranks, so that all choose alike.
 */
final class PlanCalls {
    /** A plan and the messages that it is for. */
    record Used(
            PlanContext context,
            PlanCall call,
            ReduceOp.@Nullable Kind operator,
            long minBytes,
            long maxBytes,
            long digest) {}

    private final Endpoint endpoint;
    private final List<Used> all = new ArrayList<>();
    private @Nullable Used serving;
    private @Nullable Call served;

    PlanCalls(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

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

    /** Whether a plan serves a call; then ranks compare its digest, too. */
    boolean serves(Call call) {
        for (int i = 0; i < all.size(); i++) {
            Used used = all.get(i);
            if (PlanCall.serves(used.context().plan(), used.operator(), call, used.minBytes(), used.maxBytes())) {
                call.planned(used.digest());
                serving = used;
                served = call;
                return true;
            }
        }
        return false;
    }

    /** Whether a call is under way. */
    boolean isServing() {
        return serving != null;
    }

    /** Starts the call that a plan serves, once peers can see that it has begun. */
    void begin() {
        Used used = Objects.requireNonNull(serving);
        if (used.context().reachesPeers()) {
            // A number of its own, by which peers see whether this rank has left; but never the one at which flags
            // wrap.
            if ((int) (endpoint.launch + 1) != 0) {
                endpoint.launch++;
            }
            endpoint.peerBuffers.reach();
            VarHandle.fullFence();
            if (endpoint.board.isAborted()) {
                throw endpoint.stall.failure();
            }
        }
        used.call().begin(Objects.requireNonNull(served));
    }

    /** Runs the call that was begun to its end. */
    void run() {
        int turns = 0;
        while (true) {
            int moved = advance();
            if (moved == Execution.DONE) {
                return;
            }
            turns = moved == Execution.MOVED ? 0 : endpoint.stall.pause(turns);
        }
    }

    /** Moves the call that was begun as far as it goes without waiting; returns as {@link Execution#advance}. */
    int advance() {
        Used used = Objects.requireNonNull(serving);
        int moved = used.call().advance();
        if (moved != Execution.DONE) {
            return moved;
        }
        Call done = Objects.requireNonNull(served);
        serving = null;
        served = null;
        if (used.context().reachesPeers()) {
            endpoint.heardFromAll = endpoint.launch;
            endpoint.board.publishFinished(endpoint.launch);
            endpoint.peerBuffers.finished();
        }
        endpoint.stall.requireAgreement(Signature.meta(done), done.count(), done.extra());
        done.unplanned();
        return Execution.DONE;
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
