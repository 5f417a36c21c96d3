package dev.tutti;

import dev.tutti.exec.Call;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The collectives that reduce; they return when they are done. */
abstract sealed class BlockingReductions extends BlockingMoves permits ByteCollectives {
    BlockingReductions(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
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
        runAllReduce(DataType.FLOAT32, x, x, op);
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
        runAllReduce(DataType.FLOAT64, x, x, op);
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
        runAllReduce(DataType.INT32, x, x, op);
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
        runAllReduce(DataType.INT64, x, x, op);
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
        runAllReduce(type, x, x, op);
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
        runAllReduce(DataType.FLOAT32, in, out, op);
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
        runAllReduce(DataType.FLOAT64, in, out, op);
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
        runAllReduce(DataType.INT32, in, out, op);
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
        runAllReduce(DataType.INT64, in, out, op);
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
        runAllReduce(type, in, out, op);
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
        runAllReduce(buffer.type(), buffer, buffer, op);
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
        runAllReduce(in.type(), in, out, op);
    }

    private void runAllReduce(DataType type, Object in, Object out, ReduceOp op) {
        Call call = begin(Collective.ALL_REDUCE, type, in, out, op, 0);
        if (call == null) {
            return;
        }
        try {
            requests.allReduce(call, type, in, out, op, false);
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
        runReduce(DataType.FLOAT32, x, x, op, root);
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
        runReduce(DataType.FLOAT64, x, x, op, root);
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
        runReduce(DataType.INT32, x, x, op, root);
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
        runReduce(DataType.INT64, x, x, op, root);
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
        runReduce(type, x, x, op, root);
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
        runReduce(buffer.type(), buffer, buffer, op, root);
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
        runReduce(in.type(), in, out, op, root);
    }

    private void runReduce(DataType type, Object in, @Nullable Object out, ReduceOp op, int root) {
        Call call = begin();
        try {
            requests.reduce(call, type, in, out, op, root, false);
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
        runReduceScatter(DataType.FLOAT32, in, out, op);
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
        runReduceScatter(DataType.FLOAT64, in, out, op);
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
        runReduceScatter(DataType.INT32, in, out, op);
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
        runReduceScatter(DataType.INT64, in, out, op);
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
        runReduceScatter(type, in, out, op);
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
        runReduceScatter(in.type(), in, out, op);
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
        runReduceScatter(buffer.type(), buffer, null, op);
    }

    private void runReduceScatter(DataType type, Object in, @Nullable Object out, ReduceOp op) {
        Call call = begin(Collective.REDUCE_SCATTER, type, in, out, op, 0);
        if (call == null) {
            return;
        }
        try {
            requests.reduceScatter(call, type, in, out, op, false);
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
