package dev.tutti.exec;

import dev.tutti.plan.Op;
import dev.tutti.plan.RankPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Writes the records of a rank's lanes, and notes where each operation's begin. What an operation moves is for others to say. */
abstract sealed class LaneWriter permits PlanResolver, BlockResolver {
    final RankPlan plan;
    private final PlanResolver.Counters counters;
    private final List<Integer> starts = new ArrayList<>();
    private final List<PlanStep> steps = new ArrayList<>();
    long[] out = new long[64];
    int length;

    LaneWriter(RankPlan plan, PlanResolver.Counters counters) {
        this.plan = plan;
        this.counters = counters;
    }

    /** Writes all lanes. */
    final PlanProgram program() {
        int lanes = plan.lanes().size();
        long[][] symbolic = new long[lanes][];
        int[][] starts = new int[lanes][];
        PlanStep[][] steps = new PlanStep[lanes][];
        for (int lane = 0; lane < lanes; lane++) {
            symbolic[lane] = lane(plan.lanes().get(lane));
            starts[lane] = this.starts.stream().mapToInt(Integer::intValue).toArray();
            steps[lane] = this.steps.toArray(PlanStep[]::new);
        }
        return new PlanProgram(symbolic, starts, steps);
    }

    private long[] lane(List<Op> ops) {
        length = 0;
        starts.clear();
        steps.clear();
        for (int i = 0; i < ops.size(); i++) {
            begin(new PlanStep(i, -1, ops.get(i)));
            write(i, ops.get(i));
        }
        return Arrays.copyOf(out, length);
    }

    /** What is written from here on is of this step. */
    final void begin(PlanStep step) {
        starts.add(length);
        steps.add(step);
    }

    /** Writes the {@code index}-th operation of a lane. */
    void write(int index, Op op) {
        switch (op.code().shape()) {
            case PLAIN -> plain(op);
            case PACKET -> packets(op);
            case CONTROL -> control(op);
        }
    }

    abstract void plain(Op op);

    abstract void packets(Op op);

    private void control(Op op) {
        switch (op.code()) {
            // Operations of a lane follow each other, and puts are done when they return.
            case NOP, FLUSH -> {}
            case SIGNAL, RELAXED_SIGNAL -> signal(op.channels());
            case WAIT, RELAXED_WAIT -> await(op.channels());
            case ACQUIRE -> semaphores(Records.ACQUIRE, op.semaphores());
            case RELEASE -> semaphores(Records.RELEASE, op.semaphores());
            case BARRIER -> {
                Op.Barrier barrier = Objects.requireNonNull(op.barrier());
                emit(Records.header(Records.BARRIER, 0, 0, 0, 3), counters.barrier(barrier.id()), barrier.lanes());
            }
            default -> throw new IllegalArgumentException("cannot run " + op + " of rank " + plan.rank());
        }
    }

    final void signal(List<Integer> channels) {
        emit(Records.header(Records.SIGNAL, channels.size(), 0, 0, 1 + 2 * channels.size()));
        channels.forEach(id -> emit(counters.outbound(id), where(id)));
    }

    private void await(List<Integer> channels) {
        emit(Records.header(Records.WAIT, channels.size(), 0, 0, 1 + 2 * channels.size()));
        channels.forEach(id -> emit(counters.inbound(id), where(id)));
    }

    private long where(int channel) {
        return ((long) plan.channels().get(channel).peer() << 32) | channel;
    }

    private void semaphores(int kind, List<Integer> ids) {
        emit(Records.header(kind, ids.size(), 0, 0, 1 + ids.size()));
        ids.forEach(id -> emit(id.longValue()));
    }

    final void emit(long... words) {
        if (length + words.length > out.length) {
            out = Arrays.copyOf(out, Math.max(2 * out.length, length + words.length));
        }
        System.arraycopy(words, 0, out, length, words.length);
        length += words.length;
    }
}
