package dev.tutti;

import dev.tutti.exec.Call;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The collectives that move elements, and the barrier, which moves none; they return when they are done. */
abstract sealed class BlockingMoves extends PreparedCollectives permits BlockingReductions {
    BlockingMoves(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
    }

    /**
     * Waits until every rank has come here. The only operation that promises to synchronise.
     *
     * {@snippet :
     * comm.barrier();
     * }
     */
    public void barrier() {
        Call call = beginBarrier();
        if (call == null) {
            return;
        }
        try {
            requests.barrier(call);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Copies the root's {@code float[]} to every rank.
     *
     * {@snippet :
     * comm.broadcast(x, 0);
     * }
     *
     * @param x read at the root, written elsewhere
     * @param root the rank with a special part
     */
    public void broadcast(float[] x, int root) {
        runBroadcast(DataType.FLOAT32, x, x, root);
    }

    /**
     * Copies the root's {@code double[]} to every rank.
     *
     * {@snippet :
     * comm.broadcast(x, 0);
     * }
     *
     * @param x read at the root, written elsewhere
     * @param root the rank with a special part
     */
    public void broadcast(double[] x, int root) {
        runBroadcast(DataType.FLOAT64, x, x, root);
    }

    /**
     * Copies the root's {@code int[]} to every rank.
     *
     * {@snippet :
     * comm.broadcast(x, 0);
     * }
     *
     * @param x read at the root, written elsewhere
     * @param root the rank with a special part
     */
    public void broadcast(int[] x, int root) {
        runBroadcast(DataType.INT32, x, x, root);
    }

    /**
     * Copies the root's {@code long[]} to every rank.
     *
     * {@snippet :
     * comm.broadcast(x, 0);
     * }
     *
     * @param x read at the root, written elsewhere
     * @param root the rank with a special part
     */
    public void broadcast(long[] x, int root) {
        runBroadcast(DataType.INT64, x, x, root);
    }

    /**
     * Copies the root's segments to every rank.
     *
     * {@snippet :
     * comm.broadcast(x, type, root);
     * }
     *
     * @param x read at the root, written elsewhere
     * @param type what the elements are
     * @param root the rank with a special part
     */
    public void broadcast(MemorySegment x, DataType type, int root) {
        runBroadcast(type, x, x, root);
    }

    /**
     * Copies the root's buffer to every rank.
     *
     * {@snippet :
     * comm.broadcast(weights, 0);
     * }
     *
     * @param buffer read at the root, written elsewhere
     * @param root the rank with a special part
     */
    public void broadcast(Buffer buffer, int root) {
        runBroadcast(buffer.type(), buffer, buffer, root);
    }

    /**
     * Copies the root's input to every rank's output.
     *
     * {@snippet :
     * comm.broadcast(comm.rank() == 0 ? source : null, copy, 0);
     * }
     *
     * @param in what to send; needed at the root only
     * @param out where the result goes
     * @param root the rank with a special part
     */
    public void broadcast(@Nullable Buffer in, Buffer out, int root) {
        runBroadcast(out.type(), in, out, root);
    }

    private void runBroadcast(DataType type, @Nullable Object in, Object out, int root) {
        Call call = begin(Collective.BROADCAST, type, member.rank() == root ? in : null, out, null, root);
        if (call == null) {
            return;
        }
        try {
            requests.broadcast(call, type, in, out, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Copies the root's buffers, all of one type, to every rank, in one operation.
     *
     * {@snippet :
     * comm.broadcast(List.of(weights, biases), 0);
     * }
     *
     * @param buffers read at the root, written elsewhere; the same counts in the same order
     * @param root the rank with a special part
     */
    public void broadcast(List<Buffer> buffers, int root) {
        Call call = begin();
        try {
            requests.list(call, Collective.BROADCAST, buffers, null, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Puts the {@code float[]} of all ranks one after the other, in rank order, on every rank.
     *
     * {@snippet :
     * comm.allGather(mine, all);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     */
    public void allGather(float[] in, float[] out) {
        runAllGather(DataType.FLOAT32, in, out);
    }

    /**
     * Puts the {@code double[]} of all ranks one after the other, in rank order, on every rank.
     *
     * {@snippet :
     * comm.allGather(mine, all);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     */
    public void allGather(double[] in, double[] out) {
        runAllGather(DataType.FLOAT64, in, out);
    }

    /**
     * Puts the {@code int[]} of all ranks one after the other, in rank order, on every rank.
     *
     * {@snippet :
     * comm.allGather(mine, all);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     */
    public void allGather(int[] in, int[] out) {
        runAllGather(DataType.INT32, in, out);
    }

    /**
     * Puts the {@code long[]} of all ranks one after the other, in rank order, on every rank.
     *
     * {@snippet :
     * comm.allGather(mine, all);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     */
    public void allGather(long[] in, long[] out) {
        runAllGather(DataType.INT64, in, out);
    }

    /**
     * Puts the segments of all ranks one after the other, in rank order, on every rank.
     *
     * {@snippet :
     * comm.allGather(in, out, type);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     * @param type what the elements are
     */
    public void allGather(MemorySegment in, MemorySegment out, DataType type) {
        runAllGather(type, in, out);
    }

    /**
     * Puts the buffers of all ranks one after the other, in rank order, on every rank.
     *
     * {@snippet :
     * comm.allGather(mine, all);
     * }
     *
     * @param in this rank's elements
     * @param out size times as many elements
     */
    public void allGather(Buffer in, Buffer out) {
        runAllGather(in.type(), in, out);
    }

    /**
     * Like {@link #allGather(Buffer, Buffer)}, with this rank's elements already in their place.
     *
     * {@snippet :
     * comm.allGather(all);
     * }
     *
     * @param buffer block {@code rank} is the input, all of it the output
     */
    public void allGather(Buffer buffer) {
        runAllGather(buffer.type(), null, buffer);
    }

    private void runAllGather(DataType type, @Nullable Object in, Object out) {
        Call call = begin(Collective.ALL_GATHER, type, in, out, null, 0);
        if (call == null) {
            return;
        }
        try {
            requests.allGather(call, type, in, out, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Like {@link #allGather(Buffer, Buffer)}, with as many elements of each rank as {@code counts} says.
     *
     * {@snippet :
     * comm.allGatherV(mine, all, new long[] {3, 0, 5}, null);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param counts elements of each rank; the same on every rank
     * @param offsets where each rank's elements begin in the output, or null for one after the other
     */
    public void allGatherV(Buffer in, Buffer out, long[] counts, long @Nullable [] offsets) {
        Call call = begin();
        try {
            ragged.allGather(call, in.type(), in, out, counts, offsets, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Puts the buffers of all ranks one after the other, in rank order, at the root.
     *
     * {@snippet :
     * comm.gather(mine, comm.rank() == 0 ? all : null, 0);
     * }
     *
     * @param in this rank's elements; null at the root if they are in their place in the output
     * @param out size times as many elements; needed at the root only
     * @param root the rank with a special part
     */
    public void gather(@Nullable Buffer in, @Nullable Buffer out, int root) {
        Call call = begin();
        try {
            requests.gather(call, typeOf(in, out), in, out, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Like {@link #gather}, with as many elements of each rank as that rank gives.
     *
     * {@snippet :
     * comm.gatherV(mine, all, new long[] {3, 0, 5}, null, 0);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param counts elements of each rank; needed at the root only
     * @param offsets where each rank's elements begin in the output, or null for one after the other
     * @param root the rank with a special part
     */
    public void gatherV(
            Buffer in, @Nullable Buffer out, long @Nullable [] counts, long @Nullable [] offsets, int root) {
        Call call = begin();
        try {
            ragged.gather(call, in.type(), in, out, counts, offsets, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Gives block r of the root's buffer to rank r.
     *
     * {@snippet :
     * comm.scatter(comm.rank() == 0 ? all : null, mine, 0);
     * }
     *
     * @param in size blocks; needed at the root only
     * @param out this rank's block; null at the root if it stays in its place in the input
     * @param root the rank with a special part
     */
    public void scatter(@Nullable Buffer in, @Nullable Buffer out, int root) {
        Call call = begin();
        try {
            requests.scatter(call, typeOf(in, out), in, out, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Like {@link #scatter}, with blocks of {@code counts} elements.
     *
     * {@snippet :
     * comm.scatterV(all, new long[] {3, 0, 5}, null, mine, 0);
     * }
     *
     * @param in the blocks; needed at the root only
     * @param counts elements of each block; needed at the root only
     * @param offsets where each block begins in the input, or null for one after the other
     * @param out this rank's block
     * @param root the rank with a special part
     */
    public void scatterV(
            @Nullable Buffer in, long @Nullable [] counts, long @Nullable [] offsets, Buffer out, int root) {
        Call call = begin();
        try {
            ragged.scatter(call, out.type(), in, counts, offsets, out, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Sends block p to rank p and gets block {@code rank} of every rank. Input and output may be the same buffer.
     *
     * {@snippet :
     * comm.allToAll(outgoing, incoming);
     * }
     *
     * @param in size blocks
     * @param out size blocks
     */
    public void allToAll(Buffer in, Buffer out) {
        Call call = begin(Collective.ALL_TO_ALL, in.type(), in, out, null, 0);
        if (call == null) {
            return;
        }
        try {
            requests.allToAll(call, in.type(), in, out, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Like {@link #allToAll}, with blocks of any length. Ranks compare their counts pair by pair.
     *
     * {@snippet :
     * comm.allToAllV(tokens, sendCounts, null, received, receiveCounts, null);
     * }
     *
     * @param in blocks to send
     * @param sendCounts elements for each rank
     * @param sendOffsets where each block begins in the input, or null for one after the other
     * @param out blocks received
     * @param receiveCounts elements from each rank
     * @param receiveOffsets where each block begins in the output, or null for one after the other
     */
    public void allToAllV(
            Buffer in,
            long[] sendCounts,
            long @Nullable [] sendOffsets,
            Buffer out,
            long[] receiveCounts,
            long @Nullable [] receiveOffsets) {
        Call call = begin();
        try {
            ragged.allToAll(call, in.type(), in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets, false);
            end(call);
        } finally {
            leave(call);
        }
    }
}
