package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Fabric;
import org.jspecify.annotations.Nullable;

/**
 * Makes of a caller's memory what a plan of a file wants. A plan is in place or it is not, and so is a call, on each rank for itself; a
 * plan that reaches peers needs memory that they can reach; and what the plan calls input may be written by it. Where the caller's
 * memory does not do, memory of the library's own stands in, filled before and copied from after.
 */
final class PlanBuffers {
    /** No copy is longer, so that none holds up a safepoint. */
    private static final long PIECE = 256 << 10;

    private final PlanContext context;
    private final int rank;
    private final boolean inPlace;
    private @Nullable Allocation stage;
    private long stageAddress;

    private long input;
    private long output;
    private long inputBytes;
    private long outputBytes;
    /** Where the result has to be copied to the caller from, or 0 if it is there. */
    private long result;

    PlanBuffers(PlanContext context) {
        this.context = context;
        this.rank = context.endpoint().rank;
        this.inPlace = context.plan().header().inPlace();
    }

    /** Gets buffers for the launches of a call. */
    void take(Call call) {
        Collective collective = call.collective();
        int ranks = context.plan().ranks();
        long block = call.longestBytes();
        inputBytes = collective.inputBlocks(ranks) * block;
        outputBytes = collective.outputBlocks(ranks) * block;
        result = 0;
        if (inPlace) {
            takeOne(call, rank * block);
        } else {
            takeTwo(call);
        }
    }

    /** One memory is both: the longer of the two holds the shorter, at this rank's share. */
    private void takeOne(Call call, long share) {
        long all = Math.max(inputBytes, outputBytes);
        long inputAt = inputBytes < outputBytes ? share : 0;
        long outputAt = outputBytes < inputBytes ? share : 0;
        boolean scatters = outputBytes < inputBytes;
        Operand holder = scatters ? call.input() : call.output();
        long there = usable(holder, all);
        // A reduce-scatter that is not in place must leave its input alone.
        boolean own = there == 0 || (scatters && address(call.output()) != there + outputAt);
        long base = own ? stage(all) : there;
        input = base + inputAt;
        output = base + outputAt;
        boolean filled = !own && address(call.input()) == input;
        if (!filled || isScaled(call)) {
            load(call, filled ? input : 0, input);
        }
        result = own ? output : 0;
    }

    private void takeTwo(Call call) {
        long given = usable(call.input(), inputBytes);
        long wanted = usable(call.output(), outputBytes);
        boolean overlaps = given != 0
                && address(call.output()) != 0
                && given < address(call.output()) + outputBytes
                && address(call.output()) < given + inputBytes;
        boolean ownInput = given == 0 || overlaps || context.writesInput() || isScaled(call);
        boolean ownOutput = wanted == 0;
        long room = Memory.roundUp(inputBytes, 128);
        long base = ownInput || ownOutput ? stage((ownInput ? room : 0) + (ownOutput ? outputBytes : 0)) : 0;
        input = ownInput ? base : given;
        output = ownOutput ? base + (ownInput ? room : 0) : wanted;
        if (ownInput) {
            load(call, 0, input);
        }
        result = ownOutput ? output : 0;
    }

    /** The address of memory that the plan may use where it is, or 0. */
    private long usable(Operand operand, long bytes) {
        long address = address(operand);
        if (address == 0
                || (context.reachesPeers() && context.endpoint().fabric.location(address, bytes) == Fabric.NOWHERE)) {
            return 0;
        }
        return address;
    }

    private static long address(Operand operand) {
        return operand.isPresent() && operand.isDirect() ? operand.address() : 0;
    }

    private static boolean isScaled(Call call) {
        return call.op() != null && call.op().kind() == ReduceOp.Kind.PRE_MUL_SUM;
    }

    /** Brings the caller's input to where the plan reads it; it may be there already, and only be multiplied. */
    private void load(Call call, long from, long to) {
        if (from == 0) {
            for (long done = 0; done < inputBytes; done += PIECE) {
                call.input().load(done, to + done, Math.min(PIECE, inputBytes - done));
            }
        }
        PlanFolds.prepareInput(call.op(), call.type(), to, inputBytes);
    }

    /** After the launches: divides where that is left to do, and brings the result to the caller. */
    void giveBack(Call call) {
        PlanFolds.finishOutput(
                call.op(), call.type(), output, outputBytes, context.plan().ranks());
        if (result != 0) {
            for (long done = 0; done < outputBytes; done += PIECE) {
                call.output().store(done, result + done, Math.min(PIECE, outputBytes - done));
            }
        }
    }

    long input() {
        return input;
    }

    long output() {
        return output;
    }

    long inputLocation() {
        return context.endpoint().fabric.location(input, inputBytes);
    }

    long outputLocation() {
        return context.endpoint().fabric.location(output, outputBytes);
    }

    private long stage(long bytes) {
        if (stage == null || stage.memory().byteSize() < bytes) {
            if (stage != null) {
                stage.free();
            }
            stage = context.registered().apply(Math.max(4096, bytes));
            stageAddress = stage.memory().address();
        }
        return stageAddress;
    }
}
