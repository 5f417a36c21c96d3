package dev.tutti.plan.language;

import dev.tutti.ReduceOp;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An operation before the passes are through with it: channels are counted per type, and it knows where its threads meet. */
record Step(
        Code code,
        List<Chunk> sources,
        List<Chunk> destinations,
        @Nullable ChannelType type,
        List<Integer> ids,
        @Nullable ReduceOp fold,
        Op.@Nullable Slice slice,
        Op.@Nullable Barrier barrier,
        @Nullable Loop loop,
        DataSync sync) {

    /** Inner steps of a loop; the list grows while the loop is written. */
    record Loop(long unitBytes, int chunks, List<Step> body) {}

    static Step nop() {
        return control(Code.NOP, null, List.of(), DataSync.NONE);
    }

    static Step control(Code code, @Nullable ChannelType type, List<Integer> ids, DataSync sync) {
        return new Step(code, List.of(), List.of(), type, ids, null, null, null, null, sync);
    }

    static Step loop(long unitBytes, int chunks) {
        Loop loop = new Loop(unitBytes, chunks, new ArrayList<>());
        return new Step(Code.PIPELINE, List.of(), List.of(), null, List.of(), null, null, null, loop, DataSync.NONE);
    }

    Step with(Code other, List<Chunk> from, List<Chunk> to, List<Integer> otherIds) {
        return new Step(other, from, to, type, otherIds, fold, slice, barrier, loop, sync);
    }

    Step via(@Nullable ChannelType other) {
        return new Step(code, sources, destinations, other, ids, fold, slice, barrier, loop, sync);
    }

    Step with(List<Integer> otherIds, DataSync otherSync) {
        return new Step(code, sources, destinations, type, otherIds, fold, slice, barrier, loop, otherSync);
    }

    Step withBody(List<Step> body) {
        Loop old = java.util.Objects.requireNonNull(loop);
        Loop changed = new Loop(old.unitBytes, old.chunks, body);
        return new Step(code, sources, destinations, type, ids, fold, slice, barrier, changed, sync);
    }

    /** The operation of the plan; ports are counted after memory channels there. */
    Op op(int memoryChannels) {
        boolean semaphores = code == Code.ACQUIRE || code == Code.RELEASE;
        int shift = type == ChannelType.PORT ? memoryChannels : 0;
        List<Integer> shifted = ids.stream().map(id -> id + shift).toList();
        boolean packetFold = code.folds() && code.shape() == Code.Shape.PACKET;
        return new Op(
                code,
                sources,
                destinations,
                semaphores ? List.of() : shifted,
                semaphores ? ids : List.of(),
                fold,
                packetFold ? sources.size() - 1 : 0,
                false,
                slice,
                barrier,
                loop == null
                        ? null
                        : new Op.Loop(
                                loop.unitBytes,
                                loop.chunks,
                                loop.body.stream()
                                        .map(step -> step.op(memoryChannels))
                                        .toList()));
    }
}
