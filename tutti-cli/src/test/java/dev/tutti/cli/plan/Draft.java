package dev.tutti.cli.plan;

import dev.tutti.ReduceOp;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An operation while it is being changed. */
final class Draft {
    List<Chunk> sources;
    List<Chunk> destinations;
    List<Integer> channels;

    @Nullable
    ReduceOp fold;

    int plainPosition;
    Op.@Nullable Slice slice;
    Op.@Nullable Barrier barrier;
    Op.@Nullable Loop loop;

    private Draft(Op op) {
        this.sources = op.sources();
        this.destinations = op.destinations();
        this.channels = op.channels();
        this.fold = op.fold();
        this.plainPosition = op.plainPosition();
        this.slice = op.slice();
        this.barrier = op.barrier();
        this.loop = op.loop();
    }

    /** The operation with something changed. */
    static Op of(Op op, Consumer<Draft> change) {
        Draft draft = new Draft(op);
        change.accept(draft);
        return new Op(
                op.code(),
                draft.sources,
                draft.destinations,
                draft.channels,
                op.semaphores(),
                draft.fold,
                draft.plainPosition,
                op.finishes(),
                draft.slice,
                draft.barrier,
                draft.loop);
    }
}
