package dev.tutti;

import dev.tutti.exec.Call;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The collectives that return a {@link Work}. */
abstract sealed class StartedCollectives extends CollectiveCalls permits PreparedCollectives {
    StartedCollectives(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
    }

    /**
     * Starts a barrier.
     *
     * {@snippet :
     * Work everybodyIsHere = comm.barrierAsync();
     * }
     *
     * @return what to wait for
     */
    public Work barrierAsync() {
        Call call = take();
        requests.barrier(call);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allReduce(Buffer, ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.allReduceAsync(buffer, op);
     * }
     *
     * @param buffer input and output
     * @param op how to reduce
     * @return what to wait for
     */
    public Work allReduceAsync(Buffer buffer, ReduceOp op) {
        Call call = take();
        requests.allReduce(call, buffer.type(), buffer, buffer, op, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allReduce(Buffer, Buffer, ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.allReduceAsync(in, out, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     * @return what to wait for
     */
    public Work allReduceAsync(Buffer in, Buffer out, ReduceOp op) {
        Call call = take();
        requests.allReduce(call, in.type(), in, out, op, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allReduce(List<Buffer>, ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.allReduceAsync(buffers, op);
     * }
     *
     * @param buffers inputs and outputs, the same counts in the same order on every rank
     * @param op how to reduce
     * @return what to wait for
     */
    public Work allReduceAsync(List<Buffer> buffers, ReduceOp op) {
        Call call = take();
        requests.list(call, Collective.ALL_REDUCE, buffers, op, 0, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#reduce(Buffer, ReduceOp, int)}.
     *
     * {@snippet :
     * Work work = comm.reduceAsync(buffer, op, root);
     * }
     *
     * @param buffer input; at the root also the output
     * @param op how to reduce
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work reduceAsync(Buffer buffer, ReduceOp op, int root) {
        Call call = take();
        requests.reduce(call, buffer.type(), buffer, buffer, op, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#reduce(Buffer, Buffer, ReduceOp, int)}.
     *
     * {@snippet :
     * Work work = comm.reduceAsync(in, out, op, root);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param op how to reduce
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work reduceAsync(Buffer in, @Nullable Buffer out, ReduceOp op, int root) {
        Call call = take();
        requests.reduce(call, in.type(), in, out, op, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#broadcast(Buffer, int)}.
     *
     * {@snippet :
     * Work work = comm.broadcastAsync(buffer, root);
     * }
     *
     * @param buffer read at the root, written elsewhere
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work broadcastAsync(Buffer buffer, int root) {
        Call call = take();
        requests.broadcast(call, buffer.type(), buffer, buffer, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#broadcast(Buffer, Buffer, int)}.
     *
     * {@snippet :
     * Work work = comm.broadcastAsync(in, out, root);
     * }
     *
     * @param in what to send; needed at the root only
     * @param out where the result goes
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work broadcastAsync(@Nullable Buffer in, Buffer out, int root) {
        Call call = take();
        requests.broadcast(call, out.type(), in, out, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#broadcast(List<Buffer>, int)}.
     *
     * {@snippet :
     * Work work = comm.broadcastAsync(buffers, root);
     * }
     *
     * @param buffers read at the root, written elsewhere; the same counts in the same order
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work broadcastAsync(List<Buffer> buffers, int root) {
        Call call = take();
        requests.list(call, Collective.BROADCAST, buffers, null, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allGather(Buffer, Buffer)}.
     *
     * {@snippet :
     * Work work = comm.allGatherAsync(in, out);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     * @return what to wait for
     */
    public Work allGatherAsync(Buffer in, Buffer out) {
        Call call = take();
        requests.allGather(call, in.type(), in, out, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allGather(Buffer)}.
     *
     * {@snippet :
     * Work work = comm.allGatherAsync(buffer);
     * }
     *
     * @param buffer block {@code rank} is the input, all of it the output
     * @return what to wait for
     */
    public Work allGatherAsync(Buffer buffer) {
        Call call = take();
        requests.allGather(call, buffer.type(), null, buffer, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allGatherV(Buffer, Buffer, long[], long [])}.
     *
     * {@snippet :
     * Work work = comm.allGatherVAsync(in, out, counts, offsets);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param counts elements of each rank; the same on every rank
     * @param offsets where each rank's elements begin in the output, or null for one after the other
     * @return what to wait for
     */
    public Work allGatherVAsync(Buffer in, Buffer out, long[] counts, long @Nullable [] offsets) {
        Call call = take();
        ragged.allGather(call, in.type(), in, out, counts, offsets, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#reduceScatter(Buffer, Buffer, ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.reduceScatterAsync(in, out, op);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     * @return what to wait for
     */
    public Work reduceScatterAsync(Buffer in, Buffer out, ReduceOp op) {
        Call call = take();
        requests.reduceScatter(call, in.type(), in, out, op, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#reduceScatter(Buffer, ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.reduceScatterAsync(buffer, op);
     * }
     *
     * @param buffer size blocks; block {@code rank} gets the result
     * @param op how to reduce
     * @return what to wait for
     */
    public Work reduceScatterAsync(Buffer buffer, ReduceOp op) {
        Call call = take();
        requests.reduceScatter(call, buffer.type(), buffer, null, op, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#reduceScatterV(Buffer, Buffer, long[], ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.reduceScatterVAsync(in, out, counts, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param counts elements of each block; the same on every rank
     * @param op how to reduce
     * @return what to wait for
     */
    public Work reduceScatterVAsync(Buffer in, Buffer out, long[] counts, ReduceOp op) {
        Call call = take();
        ragged.reduceScatter(call, in.type(), in, out, counts, op, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#gather(Buffer, Buffer, int)}.
     *
     * {@snippet :
     * Work work = comm.gatherAsync(in, out, root);
     * }
     *
     * @param in this rank's elements; null at the root if they are in their place in the output
     * @param out size times as many elements; needed at the root only
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work gatherAsync(@Nullable Buffer in, @Nullable Buffer out, int root) {
        Call call = take();
        requests.gather(call, typeOf(in, out), in, out, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#gatherV(Buffer, Buffer, long [], long [], int)}.
     *
     * {@snippet :
     * Work work = comm.gatherVAsync(in, out, counts, offsets, root);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param counts elements of each rank; needed at the root only
     * @param offsets where each rank's elements begin in the output, or null for one after the other
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work gatherVAsync(
            Buffer in, @Nullable Buffer out, long @Nullable [] counts, long @Nullable [] offsets, int root) {
        Call call = take();
        ragged.gather(call, in.type(), in, out, counts, offsets, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#scatter(Buffer, Buffer, int)}.
     *
     * {@snippet :
     * Work work = comm.scatterAsync(in, out, root);
     * }
     *
     * @param in size blocks; needed at the root only
     * @param out this rank's block; null at the root if it stays in its place in the input
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work scatterAsync(@Nullable Buffer in, @Nullable Buffer out, int root) {
        Call call = take();
        requests.scatter(call, typeOf(in, out), in, out, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#scatterV(Buffer, long [], long [], Buffer, int)}.
     *
     * {@snippet :
     * Work work = comm.scatterVAsync(in, counts, offsets, out, root);
     * }
     *
     * @param in the blocks; needed at the root only
     * @param counts elements of each block; needed at the root only
     * @param offsets where each block begins in the input, or null for one after the other
     * @param out this rank's block
     * @param root the rank with a special part
     * @return what to wait for
     */
    public Work scatterVAsync(
            @Nullable Buffer in, long @Nullable [] counts, long @Nullable [] offsets, Buffer out, int root) {
        Call call = take();
        ragged.scatter(call, out.type(), in, counts, offsets, out, root, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allToAll(Buffer, Buffer)}.
     *
     * {@snippet :
     * Work work = comm.allToAllAsync(in, out);
     * }
     *
     * @param in size blocks
     * @param out size blocks
     * @return what to wait for
     */
    public Work allToAllAsync(Buffer in, Buffer out) {
        Call call = take();
        requests.allToAll(call, in.type(), in, out, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#allToAllV(Buffer, long[], long [], Buffer, long[], long [])}.
     *
     * {@snippet :
     * Work work = comm.allToAllVAsync(in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets);
     * }
     *
     * @param in blocks to send
     * @param sendCounts elements for each rank
     * @param sendOffsets where each block begins in the input, or null for one after the other
     * @param out blocks received
     * @param receiveCounts elements from each rank
     * @param receiveOffsets where each block begins in the output, or null for one after the other
     * @return what to wait for
     */
    public Work allToAllVAsync(
            Buffer in,
            long[] sendCounts,
            long @Nullable [] sendOffsets,
            Buffer out,
            long[] receiveCounts,
            long @Nullable [] receiveOffsets) {
        Call call = take();
        ragged.allToAll(call, in.type(), in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#scan(Buffer, Buffer, ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.scanAsync(in, out, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     * @return what to wait for
     */
    public Work scanAsync(Buffer in, Buffer out, ReduceOp op) {
        Call call = take();
        requests.scan(call, Collective.SCAN, in.type(), in, out, op, true);
        return start(call);
    }

    /**
     * Starts {@link Communicator#exscan(Buffer, Buffer, ReduceOp)}.
     *
     * {@snippet :
     * Work work = comm.exscanAsync(in, out, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     * @return what to wait for
     */
    public Work exscanAsync(Buffer in, Buffer out, ReduceOp op) {
        Call call = take();
        requests.scan(call, Collective.EXSCAN, in.type(), in, out, op, true);
        return start(call);
    }
}
