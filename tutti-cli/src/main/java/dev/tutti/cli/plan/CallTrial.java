package dev.tutti.cli.plan;

import dev.tutti.Buffer;
import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.data.ExactData;
import dev.tutti.plan.Plan;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs a plan as users do: a communicator is told to use it, and then makes ordinary calls, on whatever its ranks are. Each rank compares
 * its own results.
 */
final class CallTrial {
    private static final byte POISON = (byte) 0xA7;

    private final Communicator comm;
    private final Plan plan;
    private final Collective collective;
    private final int launches;
    private final long seed;

    CallTrial(Communicator comm, Plan plan, int launches, long seed) {
        this.comm = comm;
        this.plan = plan;
        this.collective = plan.collective();
        this.launches = launches;
        this.seed = seed;
    }

    /** Runs all cases; what is wrong on this rank, or null. */
    @Nullable
    String run(List<TrialCase> cases) {
        comm.use(plan);
        for (TrialCase each : cases) {
            ExactData data = each.checked() == null
                    ? ExactData.moving(each.type(), comm.size())
                    : ExactData.reducing(each.type(), each.checked(), comm.size());
            for (int launch = 0; launch < launches; launch++) {
                String wrong = run(each, data, seed + launch);
                if (wrong != null) {
                    return "launch " + (launch + 1) + " of " + launches + ", rank " + comm.rank() + ", " + each + ": "
                            + wrong;
                }
            }
        }
        return null;
    }

    private @Nullable String run(TrialCase each, ExactData data, long now) {
        long count = each.count();
        try (Buffer input = comm.allocate(each.type(), collective.inputBlocks(comm.size()) * count);
                Buffer output = comm.allocate(each.type(), collective.outputBlocks(comm.size()) * count)) {
            output.segment().fill(POISON);
            data.input(comm.rank(), now).fill(input.segment(), 0);
            call(input, output, each.checked() == null ? null : ExactData.operator(each.checked(), comm.rank()));
            return check(output.segment(), data, count, now);
        }
    }

    private void call(Buffer input, Buffer output, @Nullable ReduceOp operator) {
        int root = plan.root();
        switch (collective) {
            case ALL_REDUCE -> comm.allReduce(input, output, Objects.requireNonNull(operator));
            case REDUCE -> comm.reduce(input, output, Objects.requireNonNull(operator), root);
            case BROADCAST -> {
                if (comm.rank() == root) {
                    output.segment().copyFrom(input.segment());
                }
                comm.broadcast(output, root);
            }
            case ALL_GATHER -> comm.allGather(input, output);
            case REDUCE_SCATTER -> comm.reduceScatter(input, output, Objects.requireNonNull(operator));
            case GATHER -> comm.gather(input, output, root);
            case SCATTER -> comm.scatter(input, output, root);
            case ALL_TO_ALL -> comm.allToAll(input, output);
            case BARRIER -> comm.barrier();
            case SCAN -> comm.scan(input, output, Objects.requireNonNull(operator));
            case EXSCAN -> comm.exscan(input, output, Objects.requireNonNull(operator));
        }
    }

    private @Nullable String check(MemorySegment output, ExactData data, long count, long now) {
        int rank = comm.rank();
        boolean root = rank == plan.root();
        return switch (collective) {
            case ALL_REDUCE -> Comparison.of(output, data.reduced(now), 0, 0);
            case REDUCE -> root ? Comparison.of(output, data.reduced(now), 0, 0) : null;
            case BROADCAST -> Comparison.of(output, data.input(plan.root(), now), 0, 0);
            case REDUCE_SCATTER -> Comparison.of(output, data.reduced(now), rank * count, 0);
            case SCATTER -> Comparison.of(output, data.input(plan.root(), now), rank * count, 0);
            case ALL_GATHER -> Comparison.ofBlocks(output, data, comm.size(), count, now, 0);
            case GATHER -> root ? Comparison.ofBlocks(output, data, comm.size(), count, now, 0) : null;
            case ALL_TO_ALL -> Comparison.ofBlocks(output, data, comm.size(), count, now, rank * count);
            case SCAN -> Comparison.of(output, data.reduced(rank + 1, now), 0, 0);
            case EXSCAN -> rank == 0 ? null : Comparison.of(output, data.reduced(rank, now), 0, 0);
            case BARRIER -> null;
        };
    }
}
