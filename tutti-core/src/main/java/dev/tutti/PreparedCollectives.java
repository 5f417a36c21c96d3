package dev.tutti;

import dev.tutti.exec.Call;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The collectives that return a {@link Prepared}. */
abstract sealed class PreparedCollectives extends StartedCollectives permits BlockingMoves {
    PreparedCollectives(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
    }

    /**
     * Prepares a barrier.
     *
     * {@snippet :
     * Prepared barrier = comm.prepareBarrier();
     * }
     *
     * @return what to run
     */
    public Prepared prepareBarrier() {
        Call call = new Call();
        requests.barrier(call);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allReduce(Buffer, ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllReduce(buffer, op);
     * }
     *
     * @param buffer input and output
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareAllReduce(Buffer buffer, ReduceOp op) {
        Call call = new Call();
        requests.allReduce(call, buffer.type(), buffer, buffer, op, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allReduce(Buffer, Buffer, ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllReduce(in, out, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareAllReduce(Buffer in, Buffer out, ReduceOp op) {
        Call call = new Call();
        requests.allReduce(call, in.type(), in, out, op, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allReduce(List<Buffer>, ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllReduce(buffers, op);
     * }
     *
     * @param buffers inputs and outputs, the same counts in the same order on every rank
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareAllReduce(List<Buffer> buffers, ReduceOp op) {
        Call call = new Call();
        requests.list(call, Collective.ALL_REDUCE, buffers, op, 0, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#reduce(Buffer, ReduceOp, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareReduce(buffer, op, root);
     * }
     *
     * @param buffer input; at the root also the output
     * @param op how to reduce
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareReduce(Buffer buffer, ReduceOp op, int root) {
        Call call = new Call();
        requests.reduce(call, buffer.type(), buffer, buffer, op, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#reduce(Buffer, Buffer, ReduceOp, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareReduce(in, out, op, root);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param op how to reduce
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareReduce(Buffer in, @Nullable Buffer out, ReduceOp op, int root) {
        Call call = new Call();
        requests.reduce(call, in.type(), in, out, op, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#broadcast(Buffer, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareBroadcast(buffer, root);
     * }
     *
     * @param buffer read at the root, written elsewhere
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareBroadcast(Buffer buffer, int root) {
        Call call = new Call();
        requests.broadcast(call, buffer.type(), buffer, buffer, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#broadcast(Buffer, Buffer, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareBroadcast(in, out, root);
     * }
     *
     * @param in what to send; needed at the root only
     * @param out where the result goes
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareBroadcast(@Nullable Buffer in, Buffer out, int root) {
        Call call = new Call();
        requests.broadcast(call, out.type(), in, out, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#broadcast(List<Buffer>, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareBroadcast(buffers, root);
     * }
     *
     * @param buffers read at the root, written elsewhere; the same counts in the same order
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareBroadcast(List<Buffer> buffers, int root) {
        Call call = new Call();
        requests.list(call, Collective.BROADCAST, buffers, null, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allGather(Buffer, Buffer)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllGather(in, out);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     * @return what to run
     */
    public Prepared prepareAllGather(Buffer in, Buffer out) {
        Call call = new Call();
        requests.allGather(call, in.type(), in, out, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allGather(Buffer)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllGather(buffer);
     * }
     *
     * @param buffer block {@code rank} is the input, all of it the output
     * @return what to run
     */
    public Prepared prepareAllGather(Buffer buffer) {
        Call call = new Call();
        requests.allGather(call, buffer.type(), null, buffer, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allGatherV(Buffer, Buffer, long[], long [])} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllGatherV(in, out, counts, offsets);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param counts elements of each rank; the same on every rank
     * @param offsets where each rank's elements begin in the output, or null for one after the other
     * @return what to run
     */
    public Prepared prepareAllGatherV(Buffer in, Buffer out, long[] counts, long @Nullable [] offsets) {
        Call call = new Call();
        ragged.allGather(call, in.type(), in, out, counts, offsets, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#reduceScatter(Buffer, Buffer, ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareReduceScatter(in, out, op);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareReduceScatter(Buffer in, Buffer out, ReduceOp op) {
        Call call = new Call();
        requests.reduceScatter(call, in.type(), in, out, op, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#reduceScatter(Buffer, ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareReduceScatter(buffer, op);
     * }
     *
     * @param buffer size blocks; block {@code rank} gets the result
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareReduceScatter(Buffer buffer, ReduceOp op) {
        Call call = new Call();
        requests.reduceScatter(call, buffer.type(), buffer, null, op, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#reduceScatterV(Buffer, Buffer, long[], ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareReduceScatterV(in, out, counts, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param counts elements of each block; the same on every rank
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareReduceScatterV(Buffer in, Buffer out, long[] counts, ReduceOp op) {
        Call call = new Call();
        ragged.reduceScatter(call, in.type(), in, out, counts, op, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#gather(Buffer, Buffer, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareGather(in, out, root);
     * }
     *
     * @param in this rank's elements; null at the root if they are in their place in the output
     * @param out size times as many elements; needed at the root only
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareGather(@Nullable Buffer in, @Nullable Buffer out, int root) {
        Call call = new Call();
        requests.gather(call, typeOf(in, out), in, out, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#gatherV(Buffer, Buffer, long [], long [], int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareGatherV(in, out, counts, offsets, root);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param counts elements of each rank; needed at the root only
     * @param offsets where each rank's elements begin in the output, or null for one after the other
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareGatherV(
            Buffer in, @Nullable Buffer out, long @Nullable [] counts, long @Nullable [] offsets, int root) {
        Call call = new Call();
        ragged.gather(call, in.type(), in, out, counts, offsets, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#scatter(Buffer, Buffer, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareScatter(in, out, root);
     * }
     *
     * @param in size blocks; needed at the root only
     * @param out this rank's block; null at the root if it stays in its place in the input
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareScatter(@Nullable Buffer in, @Nullable Buffer out, int root) {
        Call call = new Call();
        requests.scatter(call, typeOf(in, out), in, out, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#scatterV(Buffer, long [], long [], Buffer, int)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareScatterV(in, counts, offsets, out, root);
     * }
     *
     * @param in the blocks; needed at the root only
     * @param counts elements of each block; needed at the root only
     * @param offsets where each block begins in the input, or null for one after the other
     * @param out this rank's block
     * @param root the rank with a special part
     * @return what to run
     */
    public Prepared prepareScatterV(
            @Nullable Buffer in, long @Nullable [] counts, long @Nullable [] offsets, Buffer out, int root) {
        Call call = new Call();
        ragged.scatter(call, out.type(), in, counts, offsets, out, root, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allToAll(Buffer, Buffer)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllToAll(in, out);
     * }
     *
     * @param in size blocks
     * @param out size blocks
     * @return what to run
     */
    public Prepared prepareAllToAll(Buffer in, Buffer out) {
        Call call = new Call();
        requests.allToAll(call, in.type(), in, out, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#allToAllV(Buffer, long[], long [], Buffer, long[], long [])} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareAllToAllV(in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets);
     * }
     *
     * @param in blocks to send
     * @param sendCounts elements for each rank
     * @param sendOffsets where each block begins in the input, or null for one after the other
     * @param out blocks received
     * @param receiveCounts elements from each rank
     * @param receiveOffsets where each block begins in the output, or null for one after the other
     * @return what to run
     */
    public Prepared prepareAllToAllV(
            Buffer in,
            long[] sendCounts,
            long @Nullable [] sendOffsets,
            Buffer out,
            long[] receiveCounts,
            long @Nullable [] receiveOffsets) {
        Call call = new Call();
        ragged.allToAll(call, in.type(), in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#scan(Buffer, Buffer, ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareScan(in, out, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareScan(Buffer in, Buffer out, ReduceOp op) {
        Call call = new Call();
        requests.scan(call, Collective.SCAN, in.type(), in, out, op, true);
        return new PreparedCall(self(), call);
    }

    /**
     * Prepares {@link Communicator#exscan(Buffer, Buffer, ReduceOp)} for many runs.
     *
     * {@snippet :
     * Prepared step = comm.prepareExscan(in, out, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     * @return what to run
     */
    public Prepared prepareExscan(Buffer in, Buffer out, ReduceOp op) {
        Call call = new Call();
        requests.scan(call, Collective.EXSCAN, in.type(), in, out, op, true);
        return new PreparedCall(self(), call);
    }
}
