package dev.tutti.cuda;

import dev.tutti.Buffer;
import dev.tutti.ReduceOp;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** The collectives on host memory: they take it to the device, run there, bring the result back, and return when it is there. */
abstract sealed class StagedCollectives permits DeviceCommunicator {
    private final Object lock = new Object();
    private @Nullable Staging staging;

    StagedCollectives() {}

    abstract CudaDevice device();

    abstract CudaStream stream();

    abstract CudaWork start(CudaCall call);

    /**
     * Reduces in place on all ranks.
     *
     * @param buffer this rank's elements, then the result
     * @param op how to reduce
     */
    public final void allReduce(Buffer buffer, ReduceOp op) {
        staged(buffer, buffer, false, (a, b) -> CudaCall.allReduce(need(a), need(b), op));
    }

    /**
     * Reduces on all ranks.
     *
     * @param in this rank's elements
     * @param out the result
     * @param op how to reduce
     */
    public final void allReduce(Buffer in, Buffer out, ReduceOp op) {
        staged(in, out, false, (a, b) -> CudaCall.allReduce(need(a), need(b), op));
    }

    /**
     * Reduces to the root.
     *
     * @param in this rank's elements
     * @param out the result; needed at the root only
     * @param op how to reduce
     * @param root who gets it
     */
    public final void reduce(Buffer in, @Nullable Buffer out, ReduceOp op, int root) {
        staged(in, out, true, (a, b) -> CudaCall.reduce(need(a), b, op, root));
    }

    /**
     * Gives everybody the root's elements.
     *
     * @param buffer the root's elements, and where the others get them
     * @param root who has them
     */
    public final void broadcast(Buffer buffer, int root) {
        staged(buffer, buffer, false, (a, b) -> CudaCall.broadcast(need(a), root));
    }

    /**
     * Gives everybody everybody's elements.
     *
     * @param in this rank's elements
     * @param out one block per rank
     */
    public final void allGather(Buffer in, Buffer out) {
        staged(in, out, false, (a, b) -> CudaCall.allGather(need(a), need(b)));
    }

    /**
     * Gives everybody everybody's elements, of any lengths.
     *
     * @param in this rank's elements
     * @param out all blocks, one after the other
     * @param counts elements of each rank, the same on all ranks
     */
    public final void allGatherV(Buffer in, Buffer out, long[] counts) {
        staged(in, out, true, (a, b) -> CudaCall.allGatherV(need(a), need(b), counts));
    }

    /**
     * Gives each rank its block of the reduction.
     *
     * @param in one block per rank
     * @param out one block
     * @param op how to reduce
     */
    public final void reduceScatter(Buffer in, Buffer out, ReduceOp op) {
        staged(in, out, false, (a, b) -> CudaCall.reduceScatter(need(a), need(b), op));
    }

    /**
     * Gives each rank its block of the reduction, blocks being of any lengths.
     *
     * @param in all blocks, one after the other
     * @param out this rank's block
     * @param counts elements of each block, the same on all ranks
     * @param op how to reduce
     */
    public final void reduceScatterV(Buffer in, Buffer out, long[] counts, ReduceOp op) {
        staged(in, out, false, (a, b) -> CudaCall.reduceScatterV(need(a), need(b), counts, op));
    }

    /**
     * Gives the root everybody's elements.
     *
     * @param in this rank's elements
     * @param out one block per rank; needed at the root only
     * @param root who gets them
     */
    public final void gather(Buffer in, @Nullable Buffer out, int root) {
        staged(in, out, true, (a, b) -> CudaCall.gather(need(a), b, root));
    }

    /**
     * Gives the root everybody's elements, of any lengths.
     *
     * @param in this rank's elements
     * @param out all blocks; needed at the root only
     * @param counts elements of each rank; needed at the root only
     * @param root who gets them
     */
    public final void gatherV(Buffer in, @Nullable Buffer out, long @Nullable [] counts, int root) {
        staged(in, out, true, (a, b) -> CudaCall.gatherV(need(a), b, counts, root));
    }

    /**
     * Gives each rank its block of the root's elements.
     *
     * @param in one block per rank; needed at the root only
     * @param out one block
     * @param root who has them
     */
    public final void scatter(@Nullable Buffer in, Buffer out, int root) {
        staged(in, out, false, (a, b) -> CudaCall.scatter(a, need(b), root));
    }

    /**
     * Gives each rank its block of the root's elements, blocks being of any lengths.
     *
     * @param in all blocks; needed at the root only
     * @param counts elements of each block; needed at the root only
     * @param out this rank's block
     * @param root who has them
     */
    public final void scatterV(@Nullable Buffer in, long @Nullable [] counts, Buffer out, int root) {
        staged(in, out, false, (a, b) -> CudaCall.scatterV(a, counts, need(b), root));
    }

    /**
     * Gives each rank its block of every rank.
     *
     * @param in one block per rank
     * @param out one block per rank
     */
    public final void allToAll(Buffer in, Buffer out) {
        staged(in, out, false, (a, b) -> CudaCall.allToAll(need(a), need(b)));
    }

    /**
     * Gives each rank its block of every rank, blocks being of any lengths.
     *
     * @param in blocks for all ranks, one after the other
     * @param sendCounts elements for each rank
     * @param out blocks from all ranks, one after the other
     * @param receiveCounts elements from each rank
     */
    public final void allToAllV(Buffer in, long[] sendCounts, Buffer out, long[] receiveCounts) {
        staged(in, out, true, (a, b) -> CudaCall.allToAllV(need(a), sendCounts, need(b), receiveCounts));
    }

    /**
     * Rank r gets the reduction of ranks 0 to r.
     *
     * @param in this rank's elements
     * @param out the result
     * @param op how to reduce; not avg
     */
    public final void scan(Buffer in, Buffer out, ReduceOp op) {
        staged(in, out, false, (a, b) -> CudaCall.scan(need(a), need(b), op));
    }

    /**
     * Rank r gets the reduction of ranks 0 to r - 1; rank 0's output stays as it was.
     *
     * @param in this rank's elements
     * @param out the result
     * @param op how to reduce; not avg
     */
    public final void exscan(Buffer in, Buffer out, ReduceOp op) {
        staged(in, out, true, (a, b) -> CudaCall.exscan(need(a), need(b), op));
    }

    /**
     * Sends elements.
     *
     * @param buffer the elements
     * @param to who gets them
     */
    public final void send(Buffer buffer, int to) {
        staged(buffer, null, false, (a, b) -> CudaCall.send(need(a), to));
    }

    /**
     * Receives elements.
     *
     * @param buffer where they go
     * @param from who sends them
     */
    public final void receive(Buffer buffer, int from) {
        staged(null, buffer, false, (a, b) -> CudaCall.receive(need(b), from));
    }

    /**
     * Makes a call of what it is given on the device.
     *
     * @param keeps whether some of the output may stay as it was, so that it has to go to the device too
     */
    private void staged(
            @Nullable Buffer in,
            @Nullable Buffer out,
            boolean keeps,
            BiFunction<@Nullable CudaBuffer, @Nullable CudaBuffer, CudaCall> maker) {
        synchronized (lock) {
            Staging way = staging;
            CudaStream stream = stream();
            stream.enter();
            if (way == null) {
                way = new Staging(device());
                staging = way;
            }
            CudaBuffer a = in == null ? null : way.place(0, in);
            CudaBuffer b = out == null ? null : out == in ? a : way.place(1, out);
            CudaCall call = maker.apply(a, b);
            if (in != null) {
                way.load(in, need(a), stream);
            }
            if (keeps && out != null && out != in) {
                way.load(out, need(b), stream);
            }
            start(call).await();
            if (out != null) {
                way.store(need(b), out, stream);
            }
        }
    }

    private static CudaBuffer need(@Nullable CudaBuffer buffer) {
        return Objects.requireNonNull(buffer);
    }

    /** Frees what host memory was staged in. */
    final void closeStaging() {
        synchronized (lock) {
            if (staging != null) {
                staging.close();
                staging = null;
            }
        }
    }
}
