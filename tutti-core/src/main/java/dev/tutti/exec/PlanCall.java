package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Plan;
import dev.tutti.spi.Fabric;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An ordinary call of a collective that a plan of a file serves, moved step by step: buffers are made what the plan wants them to be, peers
 * are told where they are if it reaches them, the plan is launched window by window, and whoever reached into peers' buffers waits until
 * nobody does any more.
 */
final class PlanCall implements Supplier<String> {
    private static final int WRAPPING = 0;
    private static final int CLEARED = 1;
    private static final int ENTERING = 2;
    private static final int READY = 3;
    private static final int RUNNING = 4;
    private static final int LEAVING = 5;

    private final PlanContext context;
    private final PlanBuffers buffers;
    private final long[] inputs;
    private final long[] outputs;
    private final long[] roundInputs;
    private final long[] roundOutputs;

    private @Nullable Call call;
    private int phase;
    private long start;
    private long window;
    private long blockBytes;

    PlanCall(PlanContext context) {
        this.context = context;
        this.buffers = new PlanBuffers(context);
        int ranks = context.plan().ranks();
        this.inputs = new long[ranks];
        this.outputs = new long[ranks];
        this.roundInputs = new long[ranks];
        this.roundOutputs = new long[ranks];
    }

    void begin(Call begun) {
        call = begun;
        blockBytes = begun.longestBytes();
        window = Math.max(1, context.window(blockBytes, begun.type().bytes()));
        start = 0;
        buffers.take(begun);
        phase = context.isWrapping() ? WRAPPING : afterWrap();
        if (phase == WRAPPING) {
            context.door().arrive(0, 0);
        }
        context.endpoint().stall.describe(this);
    }

    private int afterWrap() {
        int own = context.endpoint().rank;
        inputs[own] = buffers.input();
        outputs[own] = buffers.output();
        if (!context.reachesPeers()) {
            return READY;
        }
        context.door().arrive(buffers.inputLocation(), buffers.outputLocation());
        return ENTERING;
    }

    /** Goes on as far as possible without waiting; returns as {@link Execution#advance}. */
    int advance() {
        Call current = Objects.requireNonNull(call);
        switch (phase) {
            case WRAPPING -> {
                if (context.door().missing() >= 0) {
                    return Execution.BLOCKED;
                }
                context.clearPackets();
                context.door().arrive(0, 0);
                phase = CLEARED;
            }
            case CLEARED -> {
                if (context.door().missing() >= 0) {
                    return Execution.BLOCKED;
                }
                phase = start == 0 ? afterWrap() : READY;
            }
            case ENTERING -> {
                if (context.door().missing() >= 0) {
                    return Execution.BLOCKED;
                }
                findPeers();
                phase = READY;
            }
            case READY -> launch(current);
            case RUNNING -> {
                boolean moved = context.step();
                if (context.isDone()) {
                    return nextRound(current);
                }
                return moved ? Execution.MOVED : Execution.BLOCKED;
            }
            default -> {
                if (context.door().missing() >= 0) {
                    return Execution.BLOCKED;
                }
                return finish(current);
            }
        }
        return Execution.MOVED;
    }

    private void findPeers() {
        Fabric fabric = context.endpoint().fabric;
        int own = context.endpoint().rank;
        for (int peer = 0; peer < inputs.length; peer++) {
            if (peer != own) {
                inputs[peer] = fabric.address(peer, context.door().input(peer));
                outputs[peer] = fabric.address(peer, context.door().output(peer));
            }
        }
    }

    private void launch(Call current) {
        long bytes = Math.min(window, blockBytes - start);
        context.prepare(bytes, blockBytes, current.type(), current.op());
        for (int rank = 0; rank < inputs.length; rank++) {
            roundInputs[rank] = inputs[rank] + start;
            roundOutputs[rank] = outputs[rank] + start;
        }
        context.start(roundInputs, roundOutputs);
        phase = RUNNING;
    }

    private int nextRound(Call current) {
        start += window;
        if (start < blockBytes) {
            if (context.isWrapping()) {
                context.door().arrive(0, 0);
                phase = WRAPPING;
            } else {
                phase = READY;
            }
            return Execution.MOVED;
        }
        if (context.reachesPeers()) {
            context.door().arrive(0, 0);
            phase = LEAVING;
            return Execution.MOVED;
        }
        return finish(current);
    }

    private int finish(Call current) {
        buffers.giveBack(current);
        context.endpoint().stall.describe(null);
        call = null;
        return Execution.DONE;
    }

    @Override
    public String get() {
        Plan plan = context.plan();
        return switch (phase) {
            case READY, RUNNING -> context.describe();
            default ->
                "plan '" + plan.name() + "': rank " + context.endpoint().rank + " waits for rank "
                        + context.door().missing() + " to " + (phase == LEAVING ? "finish" : "begin");
        };
    }

    /** Whether a plan of a file can serve a call; the same on all ranks. */
    static boolean serves(Plan plan, ReduceOp.@Nullable Kind planned, Call call, long minBytes, long maxBytes) {
        Collective collective = call.collective();
        if (plan.header().collective() != collective || !call.isUniform() || call.root() != plan.root()) {
            return false;
        }
        long blocks = Math.max(collective.inputBlocks(plan.ranks()), collective.outputBlocks(plan.ranks()));
        long message = blocks * call.longestBytes();
        return message >= minBytes && message <= maxBytes && plan.header().admits(message) && folds(planned, call.op());
    }

    /** Sum serves whatever is a sum in between; a plan that names no operator serves them all. */
    private static boolean folds(ReduceOp.@Nullable Kind planned, @Nullable ReduceOp op) {
        if (op == null) {
            return true;
        }
        if (!op.isCommutative()) {
            return false;
        }
        return planned == null
                || planned == op.kind()
                || (planned == ReduceOp.Kind.SUM
                        && (op.kind() == ReduceOp.Kind.AVG || op.kind() == ReduceOp.Kind.PRE_MUL_SUM));
    }
}
