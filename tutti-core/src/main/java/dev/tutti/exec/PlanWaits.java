package dev.tutti.exec;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Says for each lane of a rank that cannot go on which operation it is at, what it waits for, and whose turn it is. */
final class PlanWaits implements Supplier<String> {
    private static final int MOST_LANES = 4;

    private final Plan plan;
    private final Endpoint endpoint;
    private final LaneMachine machine;
    private final int[] semaphores;
    private final long[] arrivals;
    private final PlanResolver.Counters counters;
    private @Nullable PlanProgram program;

    PlanWaits(
            Plan plan,
            Endpoint endpoint,
            LaneMachine machine,
            int[] semaphores,
            long[] arrivals,
            PlanResolver.Counters counters) {
        this.plan = plan;
        this.endpoint = endpoint;
        this.machine = machine;
        this.semaphores = semaphores;
        this.arrivals = arrivals;
        this.counters = counters;
    }

    void begin(PlanProgram launched) {
        program = launched;
    }

    @Override
    public String get() {
        PlanProgram current = Objects.requireNonNull(program);
        StringJoiner text = new StringJoiner("; ");
        int listed = 0;
        int more = 0;
        for (int lane = 0; lane < current.symbolic.length; lane++) {
            if (!machine.isDone(lane)) {
                if (listed++ < MOST_LANES) {
                    text.add(lane(current, lane));
                } else {
                    more++;
                }
            }
        }
        if (more > 0) {
            text.add(more + " more lanes");
        }
        return "plan '" + plan.name() + "', launch " + Integer.toUnsignedString(endpoint.flag()) + ", rank "
                + endpoint.rank + ": " + (listed == 0 ? "all lanes are done" : text);
    }

    private String lane(PlanProgram current, int lane) {
        PlanStep step = current.step(lane, machine.position(lane));
        return "lane " + lane + " " + step + " " + reason(step.op(), (int) machine.inside(lane));
    }

    private String reason(Op op, int passed) {
        RankPlan part = plan.rank(endpoint.rank);
        return switch (op.code()) {
            case WAIT, RELAXED_WAIT -> {
                int id = op.channels().get(Math.min(passed, op.channels().size() - 1));
                RankPlan.Channel channel = part.channels().get(id);
                yield "waits for a signal from rank " + channel.peer() + " on " + channel.type() + " channel " + id;
            }
            case ACQUIRE -> {
                int id = op.semaphores().get(Math.min(passed, op.semaphores().size() - 1));
                yield "waits for semaphore " + id + ", which is " + semaphores[id];
            }
            case BARRIER -> {
                Op.Barrier barrier = Objects.requireNonNull(op.barrier());
                long arrived = arrivals[counters.barrier(barrier.id())] % barrier.lanes();
                yield "waits at barrier " + barrier.id() + ", where " + arrived + " of " + barrier.lanes()
                        + " lanes are";
            }
            default -> op.code().shape() == Code.Shape.PACKET ? packets(op) : "is not waiting";
        };
    }

    private String packets(Op op) {
        for (Chunk chunk : op.sources()) {
            if (chunk.space() == Space.SCRATCH) {
                for (int slot = chunk.index(); slot < chunk.index() + chunk.count(); slot++) {
                    String writer = writer(slot);
                    if (writer == null) {
                        return "waits for packets in scratch " + slot + ", which nobody writes";
                    }
                }
            }
        }
        int first = op.code().folds() ? 1 : 0;
        Chunk chunk = op.sources().get(Math.min(first, op.sources().size() - 1));
        return "waits for packets in " + chunk + ", written by " + writer(chunk.index());
    }

    /** Who puts packets into a slot of this rank's scratch. */
    private @Nullable String writer(int slot) {
        for (int rank = 0; rank < plan.ranks(); rank++) {
            List<List<Op>> lanes = plan.rank(rank).lanes();
            for (int lane = 0; lane < lanes.size(); lane++) {
                for (int index = 0; index < lanes.get(lane).size(); index++) {
                    Op op = lanes.get(lane).get(index);
                    if (op.withInner().anyMatch(each -> writes(each, slot))) {
                        return "rank " + rank + " lane " + lane + " op " + index + " ("
                                + op.code().symbol() + ")";
                    }
                }
            }
        }
        return null;
    }

    private boolean writes(Op op, int slot) {
        return op.code().shape() == Code.Shape.PACKET
                && op.destinations().stream()
                        .anyMatch(chunk -> chunk.rank() == endpoint.rank
                                && chunk.space() == Space.SCRATCH
                                && slot >= chunk.index()
                                && slot < chunk.index() + chunk.count());
    }
}
