package dev.tutti;

import dev.tutti.exec.Call;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The collectives that return when they are done. */
abstract sealed class BlockingCollectives extends PreparedCollectives permits ByteCollectives {
    BlockingCollectives(World world, Member member, long timeoutNanos) {
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
        Call call = begin();
        try {
            requests.barrier(call);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces every rank's {@code float[]} by the reduction of all of them.
     *
     * {@snippet :
     * comm.allReduce(x, ReduceOp.SUM);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     */
    public void allReduce(float[] x, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.FLOAT32, x, x, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces every rank's {@code double[]} by the reduction of all of them.
     *
     * {@snippet :
     * comm.allReduce(x, ReduceOp.SUM);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     */
    public void allReduce(double[] x, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.FLOAT64, x, x, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces every rank's {@code int[]} by the reduction of all of them.
     *
     * {@snippet :
     * comm.allReduce(x, ReduceOp.SUM);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     */
    public void allReduce(int[] x, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.INT32, x, x, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces every rank's {@code long[]} by the reduction of all of them.
     *
     * {@snippet :
     * comm.allReduce(x, ReduceOp.SUM);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     */
    public void allReduce(long[] x, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.INT64, x, x, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces every rank's segments by the reduction of all of them.
     *
     * {@snippet :
     * comm.allReduce(x, type, op);
     * }
     *
     * @param x input and output
     * @param type what the elements are
     * @param op how to reduce
     */
    public void allReduce(MemorySegment x, DataType type, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, type, x, x, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the {@code float[]} of all ranks; every rank gets the result.
     *
     * {@snippet :
     * comm.allReduce(in, out, ReduceOp.MAX);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     */
    public void allReduce(float[] in, float[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.FLOAT32, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the {@code double[]} of all ranks; every rank gets the result.
     *
     * {@snippet :
     * comm.allReduce(in, out, ReduceOp.MAX);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     */
    public void allReduce(double[] in, double[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.FLOAT64, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the {@code int[]} of all ranks; every rank gets the result.
     *
     * {@snippet :
     * comm.allReduce(in, out, ReduceOp.MAX);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     */
    public void allReduce(int[] in, int[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.INT32, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the {@code long[]} of all ranks; every rank gets the result.
     *
     * {@snippet :
     * comm.allReduce(in, out, ReduceOp.MAX);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     */
    public void allReduce(long[] in, long[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, DataType.INT64, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the segments of all ranks; every rank gets the result.
     *
     * {@snippet :
     * comm.allReduce(in, out, type, op);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param type what the elements are
     * @param op how to reduce
     */
    public void allReduce(MemorySegment in, MemorySegment out, DataType type, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, type, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces every rank's buffer by the reduction of all of them.
     *
     * {@snippet :
     * comm.allReduce(gradients, ReduceOp.AVG);
     * }
     *
     * @param buffer input and output
     * @param op how to reduce
     */
    public void allReduce(Buffer buffer, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, buffer.type(), buffer, buffer, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the buffers of all ranks; every rank gets the result.
     *
     * {@snippet :
     * comm.allReduce(mine, everybodys, ReduceOp.SUM);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     */
    public void allReduce(Buffer in, Buffer out, ReduceOp op) {
        Call call = begin();
        try {
            requests.allReduce(call, in.type(), in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces buffers of one type by their reduction over all ranks, in one operation.
     *
     * {@snippet :
     * comm.allReduce(List.of(weights, biases), ReduceOp.AVG);
     * }
     *
     * @param buffers inputs and outputs, the same counts in the same order on every rank
     * @param op how to reduce
     */
    public void allReduce(List<Buffer> buffers, ReduceOp op) {
        Call call = begin();
        try {
            requests.list(call, Collective.ALL_REDUCE, buffers, op, 0, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces the root's {@code float[]} by the reduction of all ranks'; the others keep theirs.
     *
     * {@snippet :
     * comm.reduce(x, ReduceOp.SUM, 0);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     * @param root the rank with a special part
     */
    public void reduce(float[] x, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, DataType.FLOAT32, x, x, op, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces the root's {@code double[]} by the reduction of all ranks'; the others keep theirs.
     *
     * {@snippet :
     * comm.reduce(x, ReduceOp.SUM, 0);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     * @param root the rank with a special part
     */
    public void reduce(double[] x, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, DataType.FLOAT64, x, x, op, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces the root's {@code int[]} by the reduction of all ranks'; the others keep theirs.
     *
     * {@snippet :
     * comm.reduce(x, ReduceOp.SUM, 0);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     * @param root the rank with a special part
     */
    public void reduce(int[] x, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, DataType.INT32, x, x, op, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces the root's {@code long[]} by the reduction of all ranks'; the others keep theirs.
     *
     * {@snippet :
     * comm.reduce(x, ReduceOp.SUM, 0);
     * }
     *
     * @param x input and output
     * @param op how to reduce
     * @param root the rank with a special part
     */
    public void reduce(long[] x, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, DataType.INT64, x, x, op, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces the root's segments by the reduction of all ranks'; the others keep theirs.
     *
     * {@snippet :
     * comm.reduce(x, type, op, root);
     * }
     *
     * @param x input and output
     * @param type what the elements are
     * @param op how to reduce
     * @param root the rank with a special part
     */
    public void reduce(MemorySegment x, DataType type, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, type, x, x, op, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Replaces the root's buffer by the reduction of all ranks'; the others keep theirs.
     *
     * {@snippet :
     * comm.reduce(losses, ReduceOp.AVG, 0);
     * }
     *
     * @param buffer input; at the root also the output
     * @param op how to reduce
     * @param root the rank with a special part
     */
    public void reduce(Buffer buffer, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, buffer.type(), buffer, buffer, op, root, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the buffers of all ranks; the root gets the result.
     *
     * {@snippet :
     * comm.reduce(mine, comm.rank() == 0 ? total : null, ReduceOp.SUM, 0);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param op how to reduce
     * @param root the rank with a special part
     */
    public void reduce(Buffer in, @Nullable Buffer out, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, in.type(), in, out, op, root, false);
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
        Call call = begin();
        try {
            requests.broadcast(call, DataType.FLOAT32, x, x, root, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.broadcast(call, DataType.FLOAT64, x, x, root, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.broadcast(call, DataType.INT32, x, x, root, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.broadcast(call, DataType.INT64, x, x, root, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.broadcast(call, type, x, x, root, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.broadcast(call, buffer.type(), buffer, buffer, root, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.broadcast(call, out.type(), in, out, root, false);
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
        Call call = begin();
        try {
            requests.allGather(call, DataType.FLOAT32, in, out, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.allGather(call, DataType.FLOAT64, in, out, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.allGather(call, DataType.INT32, in, out, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.allGather(call, DataType.INT64, in, out, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.allGather(call, type, in, out, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.allGather(call, in.type(), in, out, false);
            end(call);
        } finally {
            leave(call);
        }
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
        Call call = begin();
        try {
            requests.allGather(call, buffer.type(), null, buffer, false);
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
     * Reduces the {@code float[]} of all ranks and gives block r of the result to rank r.
     *
     * {@snippet :
     * comm.reduceScatter(all, mine, ReduceOp.SUM);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     */
    public void reduceScatter(float[] in, float[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.reduceScatter(call, DataType.FLOAT32, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the {@code double[]} of all ranks and gives block r of the result to rank r.
     *
     * {@snippet :
     * comm.reduceScatter(all, mine, ReduceOp.SUM);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     */
    public void reduceScatter(double[] in, double[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.reduceScatter(call, DataType.FLOAT64, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the {@code int[]} of all ranks and gives block r of the result to rank r.
     *
     * {@snippet :
     * comm.reduceScatter(all, mine, ReduceOp.SUM);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     */
    public void reduceScatter(int[] in, int[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.reduceScatter(call, DataType.INT32, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the {@code long[]} of all ranks and gives block r of the result to rank r.
     *
     * {@snippet :
     * comm.reduceScatter(all, mine, ReduceOp.SUM);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     */
    public void reduceScatter(long[] in, long[] out, ReduceOp op) {
        Call call = begin();
        try {
            requests.reduceScatter(call, DataType.INT64, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the segments of all ranks and gives block r of the result to rank r.
     *
     * {@snippet :
     * comm.reduceScatter(in, out, type, op);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param type what the elements are
     * @param op how to reduce
     */
    public void reduceScatter(MemorySegment in, MemorySegment out, DataType type, ReduceOp op) {
        Call call = begin();
        try {
            requests.reduceScatter(call, type, in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Reduces the buffers of all ranks and gives block r of the result to rank r.
     *
     * {@snippet :
     * comm.reduceScatter(gradients, shard, ReduceOp.AVG);
     * }
     *
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     */
    public void reduceScatter(Buffer in, Buffer out, ReduceOp op) {
        Call call = begin();
        try {
            requests.reduceScatter(call, in.type(), in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Like {@link #reduceScatter(Buffer, Buffer, ReduceOp)}, the result replacing this rank's own block.
     *
     * {@snippet :
     * comm.reduceScatter(gradients, ReduceOp.AVG);
     * }
     *
     * @param buffer size blocks; block {@code rank} gets the result
     * @param op how to reduce
     */
    public void reduceScatter(Buffer buffer, ReduceOp op) {
        Call call = begin();
        try {
            requests.reduceScatter(call, buffer.type(), buffer, null, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Like {@link #reduceScatter(Buffer, Buffer, ReduceOp)}, with blocks of {@code counts} elements.
     *
     * {@snippet :
     * comm.reduceScatterV(gradients, shard, new long[] {3, 0, 5}, ReduceOp.SUM);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param counts elements of each block; the same on every rank
     * @param op how to reduce
     */
    public void reduceScatterV(Buffer in, Buffer out, long[] counts, ReduceOp op) {
        Call call = begin();
        try {
            ragged.reduceScatter(call, in.type(), in, out, counts, op, false);
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
        Call call = begin();
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

    /**
     * Gives rank r the reduction of ranks 0 to r.
     *
     * {@snippet :
     * comm.scan(lengths, ends, ReduceOp.SUM);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     */
    public void scan(Buffer in, Buffer out, ReduceOp op) {
        Call call = begin();
        try {
            requests.scan(call, Collective.SCAN, in.type(), in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }

    /**
     * Gives rank r the reduction of ranks 0 to r-1. Rank 0's output stays as it was.
     *
     * {@snippet :
     * comm.exscan(lengths, starts, ReduceOp.SUM);
     * }
     *
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     */
    public void exscan(Buffer in, Buffer out, ReduceOp op) {
        Call call = begin();
        try {
            requests.scan(call, Collective.EXSCAN, in.type(), in, out, op, false);
            end(call);
        } finally {
            leave(call);
        }
    }
}
