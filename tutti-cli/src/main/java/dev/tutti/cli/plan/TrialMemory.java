package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.data.DataStream;
import dev.tutti.data.ExactData;
import dev.tutti.exec.PlanFolds;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanSizes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Inputs and outputs of one rank for several launches of one case: filled with exact data and poison before, compared after. Guards of
 * poison stand before and behind each.
 */
final class TrialMemory {
    private static final long GUARD = 256;
    private static final byte POISON = (byte) 0xA7;

    private final Expectation expectation;
    private final TrialCase each;
    private final int rank;
    private final int ranks;
    private final boolean inPlace;
    private final ExactData data;
    private final long seed;
    private final MemorySegment[] inputs;
    private final MemorySegment[] outputs;
    private final MemorySegment[] whole;

    TrialMemory(
            Plan plan,
            Expectation expectation,
            TrialCase each,
            int rank,
            int launches,
            ExactData data,
            long seed,
            LongFunction<MemorySegment> allocate) {
        this.expectation = expectation;
        this.each = each;
        this.rank = rank;
        this.ranks = plan.ranks();
        this.inPlace = plan.header().inPlace() && expectation.collective() != null;
        this.data = data;
        this.seed = seed;
        this.inputs = new MemorySegment[launches];
        this.outputs = new MemorySegment[launches];
        long input = bytes(plan, true);
        long output = bytes(plan, false);
        this.whole = new MemorySegment[launches];
        for (int launch = 0; launch < launches; launch++) {
            if (inPlace) {
                long all = Math.max(input, output);
                MemorySegment memory = guarded(launch, all, allocate);
                boolean gathers = input < output;
                long share = rank * each.blockBytes();
                inputs[launch] = gathers ? memory.asSlice(share, input) : memory.asSlice(0, input);
                outputs[launch] = input > output ? memory.asSlice(share, output) : memory.asSlice(0, output);
            } else {
                long apart = (input + GUARD + 63) / 64 * 64;
                MemorySegment memory = guarded(launch, apart + output, allocate);
                inputs[launch] = memory.asSlice(0, input);
                outputs[launch] = memory.asSlice(apart, output);
            }
        }
    }

    /** What the collective has, or what the plan's chunks take up where there is no collective. */
    private long bytes(Plan plan, boolean input) {
        Collective collective = expectation.collective();
        if (collective == null) {
            PlanSizes sizes = PlanSizes.of(plan, each.blockBytes(), each.type().bytes());
            return input ? sizes.inputBytes() : sizes.outputBytes();
        }
        return (input ? collective.inputBlocks(ranks) : collective.outputBlocks(ranks)) * each.blockBytes();
    }

    private MemorySegment guarded(int launch, long bytes, LongFunction<MemorySegment> allocate) {
        whole[launch] = allocate.apply(bytes + 2 * GUARD);
        return whole[launch].asSlice(GUARD, bytes);
    }

    static MemorySegment allocate(long bytes) {
        return Arena.ofAuto().allocate(bytes, 64);
    }

    int launches() {
        return inputs.length;
    }

    /** Input, output and the guards around them. */
    MemorySegment whole(int launch) {
        return whole[launch];
    }

    MemorySegment input(int launch) {
        return inputs[launch];
    }

    MemorySegment output(int launch) {
        return outputs[launch];
    }

    void fill() {
        for (int launch = 0; launch < inputs.length; launch++) {
            whole[launch].fill(POISON);
            MemorySegment input = inputs[launch];
            long usable = input.byteSize() / each.type().bytes() * each.type().bytes();
            data.input(rank, seed + launch).fill(input.asSlice(0, usable), 0);
        }
    }

    /** Does to the inputs what operators want done before launches. */
    void before(@Nullable ReduceOp operator) {
        for (MemorySegment input : inputs) {
            PlanFolds.prepareInput(operator, each.type(), input.address(), input.byteSize());
        }
    }

    /** Does to the outputs what operators want done after launches. */
    void after(@Nullable ReduceOp operator) {
        for (MemorySegment output : outputs) {
            PlanFolds.finishOutput(operator, each.type(), output.address(), output.byteSize(), ranks);
        }
    }

    /** What is wrong after the launches, or null. */
    @Nullable
    String check() {
        for (int launch = 0; launch < inputs.length; launch++) {
            String wrong = check(launch);
            if (wrong != null) {
                return "launch " + (launch + 1) + " of " + inputs.length + ", rank " + rank + ", " + each + ": "
                        + wrong;
            }
        }
        return null;
    }

    private @Nullable String check(int launch) {
        if (!isPoison(whole[launch].asSlice(0, GUARD))
                || !isPoison(whole[launch].asSlice(whole[launch].byteSize() - GUARD))) {
            return "wrote outside of its buffers";
        }
        if (!expectation.isKnown()) {
            return null;
        }
        MemorySegment output =
                inPlace && outputs[launch].byteSize() == inputs[launch].byteSize() ? inputs[launch] : outputs[launch];
        long count = each.count();
        Collective collective = expectation.collective();
        if (collective == null) {
            return Comparison.of(output, data.input(expectation.sender(rank), seed + launch), 0, 0);
        }
        boolean atRoot = rank == expectation.root();
        DataStream fromRoot = data.input(expectation.root(), seed + launch);
        return switch (collective) {
            case ALL_REDUCE -> Comparison.of(output, data.reduced(seed + launch), 0, 0);
            case REDUCE -> atRoot ? Comparison.of(output, data.reduced(seed + launch), 0, 0) : null;
            case SCAN -> Comparison.of(output, data.reduced(rank + 1, seed + launch), 0, 0);
            case EXSCAN -> rank == 0 ? null : Comparison.of(output, data.reduced(rank, seed + launch), 0, 0);
            case REDUCE_SCATTER -> Comparison.of(output, data.reduced(seed + launch), rank * count, 0);
            case BROADCAST -> Comparison.of(output, fromRoot, 0, 0);
            case SCATTER -> Comparison.of(output, fromRoot, rank * count, 0);
            case ALL_GATHER -> Comparison.ofBlocks(output, data, ranks, count, seed + launch, 0);
            case GATHER -> atRoot ? Comparison.ofBlocks(output, data, ranks, count, seed + launch, 0) : null;
            case ALL_TO_ALL -> Comparison.ofBlocks(output, data, ranks, count, seed + launch, rank * count);
            case BARRIER -> null;
        };
    }

    private static boolean isPoison(MemorySegment guard) {
        for (long i = 0; i < guard.byteSize(); i++) {
            if (guard.get(java.lang.foreign.ValueLayout.JAVA_BYTE, i) != POISON) {
                return false;
            }
        }
        return true;
    }
}
