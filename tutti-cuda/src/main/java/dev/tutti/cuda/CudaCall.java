package dev.tutti.cuda;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.exec.Signature;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part of a collective or a message, as data: start it, prepare it, or put it into a group. Memory that a rank does
 * not need (the output of {@code reduce} anywhere but at the root, say) is null.
 *
 * {@snippet :
 * CudaCall call = CudaCall.allReduce(gradients, gradients, ReduceOp.AVG);
 * comm.start(call).await();
 * }
 */
public final class CudaCall {
    final @Nullable Collective collective;
    final DataType type;
    final @Nullable ReduceOp op;
    /** The root, or the other rank of a message. */
    final int root;

    final boolean sends;
    final @Nullable CudaBuffer in;
    final @Nullable CudaBuffer out;
    /** What ranks compare; -1 where they only compare in pairs. */
    final long count;

    final long @Nullable [] inCounts;
    final long @Nullable [] outCounts;
    final long extra;

    private CudaCall(
            @Nullable Collective collective,
            DataType type,
            @Nullable ReduceOp op,
            int root,
            boolean sends,
            @Nullable CudaBuffer in,
            @Nullable CudaBuffer out,
            long count,
            long @Nullable [] inCounts,
            long @Nullable [] outCounts) {
        this.collective = collective;
        this.type = type;
        this.op = op;
        this.root = root;
        this.sends = sends;
        this.in = in;
        this.out = out;
        this.count = count;
        this.inCounts = inCounts == null ? null : inCounts.clone();
        this.outCounts = outCounts == null ? null : outCounts.clone();
        this.extra = collective == Collective.ALL_GATHER
                ? digest(outCounts)
                : collective == Collective.REDUCE_SCATTER ? digest(inCounts) : 0;
        if (op != null && !op.accepts(type)) {
            throw new IllegalArgumentException(op + " does not apply to " + type);
        }
        CallChecks.counts(inCounts, in, "input");
        CallChecks.counts(outCounts, out, "output");
    }

    /**
     * Every rank gets the reduction of all ranks' inputs.
     *
     * @param in this rank's elements
     * @param out where the result goes; may be {@code in}
     * @param op how to reduce
     * @return the call
     */
    public static CudaCall allReduce(CudaBuffer in, CudaBuffer out, ReduceOp op) {
        CallChecks.same(in, out);
        return new CudaCall(Collective.ALL_REDUCE, in.type(), required(op), 0, false, in, out, in.count(), null, null);
    }

    /**
     * The root gets the reduction of all ranks' inputs.
     *
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param op how to reduce
     * @param root who gets it
     * @return the call
     */
    public static CudaCall reduce(CudaBuffer in, @Nullable CudaBuffer out, ReduceOp op, int root) {
        if (out != null) {
            CallChecks.same(in, out);
        }
        return new CudaCall(Collective.REDUCE, in.type(), required(op), root, false, in, out, in.count(), null, null);
    }

    /**
     * Every rank gets the root's elements.
     *
     * @param buffer the root's elements, and where the others get them
     * @param root who has them
     * @return the call
     */
    public static CudaCall broadcast(CudaBuffer buffer, int root) {
        return new CudaCall(
                Collective.BROADCAST, buffer.type(), null, root, false, buffer, buffer, buffer.count(), null, null);
    }

    /**
     * Every rank gets the concatenation of all ranks' inputs.
     *
     * @param in this rank's elements; may be its block of {@code out}
     * @param out one block per rank
     * @return the call
     */
    public static CudaCall allGather(CudaBuffer in, CudaBuffer out) {
        CallChecks.sameType(in, out);
        return new CudaCall(Collective.ALL_GATHER, in.type(), null, 0, false, in, out, in.count(), null, null);
    }

    /**
     * Every rank gets the concatenation of all ranks' inputs, of any lengths.
     *
     * @param in this rank's elements
     * @param out all blocks, one after the other
     * @param counts elements of each rank, the same on all ranks
     * @return the call
     */
    public static CudaCall allGatherV(CudaBuffer in, CudaBuffer out, long[] counts) {
        CallChecks.sameType(in, out);
        return new CudaCall(
                Collective.ALL_GATHER, in.type(), null, 0, false, in, out, CallChecks.sum(counts), null, counts);
    }

    /**
     * Rank r gets block r of the reduction.
     *
     * @param in one block per rank
     * @param out one block; may be this rank's block of {@code in}
     * @param op how to reduce
     * @return the call
     */
    public static CudaCall reduceScatter(CudaBuffer in, CudaBuffer out, ReduceOp op) {
        CallChecks.sameType(in, out);
        return new CudaCall(
                Collective.REDUCE_SCATTER, in.type(), required(op), 0, false, in, out, out.count(), null, null);
    }

    /**
     * Rank r gets block r of the reduction, blocks being of any lengths.
     *
     * @param in all blocks, one after the other
     * @param out this rank's block
     * @param counts elements of each block, the same on all ranks
     * @param op how to reduce
     * @return the call
     */
    public static CudaCall reduceScatterV(CudaBuffer in, CudaBuffer out, long[] counts, ReduceOp op) {
        CallChecks.sameType(in, out);
        return new CudaCall(
                Collective.REDUCE_SCATTER,
                in.type(),
                required(op),
                0,
                false,
                in,
                out,
                CallChecks.sum(counts),
                counts,
                null);
    }

    /**
     * The root gets the concatenation of all ranks' inputs.
     *
     * @param in this rank's elements
     * @param out one block per rank; needed at the root only
     * @param root who gets it
     * @return the call
     */
    public static CudaCall gather(CudaBuffer in, @Nullable CudaBuffer out, int root) {
        return new CudaCall(Collective.GATHER, in.type(), null, root, false, in, out, in.count(), null, null);
    }

    /**
     * The root gets the concatenation of all ranks' inputs, of any lengths.
     *
     * @param in this rank's elements
     * @param out all blocks; needed at the root only
     * @param counts elements of each rank; needed at the root only
     * @param root who gets it
     * @return the call
     */
    public static CudaCall gatherV(CudaBuffer in, @Nullable CudaBuffer out, long @Nullable [] counts, int root) {
        return new CudaCall(Collective.GATHER, in.type(), null, root, false, in, out, -1, null, counts);
    }

    /**
     * Rank r gets block r of the root's elements.
     *
     * @param in one block per rank; needed at the root only
     * @param out one block
     * @param root who has them
     * @return the call
     */
    public static CudaCall scatter(@Nullable CudaBuffer in, CudaBuffer out, int root) {
        return new CudaCall(Collective.SCATTER, out.type(), null, root, false, in, out, out.count(), null, null);
    }

    /**
     * Rank r gets block r of the root's elements, blocks being of any lengths.
     *
     * @param in all blocks; needed at the root only
     * @param counts elements of each block; needed at the root only
     * @param out this rank's block
     * @param root who has them
     * @return the call
     */
    public static CudaCall scatterV(@Nullable CudaBuffer in, long @Nullable [] counts, CudaBuffer out, int root) {
        return new CudaCall(Collective.SCATTER, out.type(), null, root, false, in, out, -1, counts, null);
    }

    /**
     * Rank r gets block r of every rank.
     *
     * @param in one block per rank
     * @param out one block per rank; may be {@code in}
     * @return the call
     */
    public static CudaCall allToAll(CudaBuffer in, CudaBuffer out) {
        CallChecks.same(in, out);
        return new CudaCall(Collective.ALL_TO_ALL, in.type(), null, 0, false, in, out, in.count(), null, null);
    }

    /**
     * Rank r gets block r of every rank, blocks being of any lengths.
     *
     * @param in blocks for all ranks, one after the other
     * @param sendCounts elements for each rank
     * @param out blocks from all ranks, one after the other; not {@code in}
     * @param receiveCounts elements from each rank
     * @return the call
     */
    public static CudaCall allToAllV(CudaBuffer in, long[] sendCounts, CudaBuffer out, long[] receiveCounts) {
        CallChecks.sameType(in, out);
        if (in.bytes() > 0 && out.bytes() > 0 && overlap(in, out)) {
            throw new IllegalArgumentException("allToAllV cannot run in place: give it another output");
        }
        return new CudaCall(Collective.ALL_TO_ALL, in.type(), null, 0, false, in, out, -1, sendCounts, receiveCounts);
    }

    /**
     * Rank r gets the reduction of ranks 0 to r.
     *
     * @param in this rank's elements
     * @param out where the result goes; may be {@code in}
     * @param op how to reduce; not avg
     * @return the call
     */
    public static CudaCall scan(CudaBuffer in, CudaBuffer out, ReduceOp op) {
        return scan(Collective.SCAN, in, out, op);
    }

    /**
     * Rank r gets the reduction of ranks 0 to r - 1; rank 0's output stays as it was.
     *
     * @param in this rank's elements
     * @param out where the result goes; may be {@code in}
     * @param op how to reduce; not avg
     * @return the call
     */
    public static CudaCall exscan(CudaBuffer in, CudaBuffer out, ReduceOp op) {
        return scan(Collective.EXSCAN, in, out, op);
    }

    private static CudaCall scan(Collective which, CudaBuffer in, CudaBuffer out, ReduceOp op) {
        CallChecks.same(in, out);
        if (required(op).kind() == ReduceOp.Kind.AVG) {
            throw new IllegalArgumentException(
                    which + " has no avg: the number of ranks differs from rank to rank; use sum");
        }
        return new CudaCall(which, in.type(), op, 0, false, in, out, in.count(), null, null);
    }

    /**
     * What comes after it in any rank's stream comes after what was before it in every rank's.
     *
     * @return the call
     */
    public static CudaCall barrier() {
        return new CudaCall(Collective.BARRIER, DataType.INT8, null, 0, false, null, null, 0, null, null);
    }

    /**
     * Sends elements to a rank, which must receive as many. Messages between two ranks arrive in order.
     *
     * @param in the elements
     * @param to who gets them
     * @return the call
     */
    public static CudaCall send(CudaBuffer in, int to) {
        return new CudaCall(null, in.type(), null, to, true, in, null, in.count(), null, null);
    }

    /**
     * Receives elements of a rank.
     *
     * @param out where they go
     * @param from who sends them
     * @return the call
     */
    public static CudaCall receive(CudaBuffer out, int from) {
        return new CudaCall(null, out.type(), null, from, false, null, out, out.count(), null, null);
    }

    /** What ranks compare, readable again. */
    long meta() {
        return Signature.meta(Objects.requireNonNull(collective), type, op, root);
    }

    /** Checks what depends on the communicator, before anything is posted. */
    void check(int rank, int size) {
        CallChecks.check(this, rank, size);
    }

    /** The same call as another rank makes it, on memory as this process sees it. */
    CudaCall by(
            @Nullable ReduceOp otherOp,
            @Nullable CudaBuffer otherIn,
            @Nullable CudaBuffer otherOut,
            long @Nullable [] otherInCounts,
            long @Nullable [] otherOutCounts) {
        return new CudaCall(
                collective, type, otherOp, root, sends, otherIn, otherOut, count, otherInCounts, otherOutCounts);
    }

    /** Refuses memory that was closed since the call was made. */
    void requireOpen() {
        if (in != null) {
            in.requireOpen();
        }
        if (out != null && out != in) {
            out.requireOpen();
        }
    }

    /** For messages. */
    String describe() {
        return collective == null
                ? (sends ? "send of " : "recv of ") + count + " " + type + (sends ? " to " : " from ") + root
                : Signature.describe(meta(), Math.max(0, count)) + (count < 0 ? " by counts" : "");
    }

    static long[] offsets(long[] counts) {
        long[] offsets = new long[counts.length];
        for (int i = 1; i < counts.length; i++) {
            offsets[i] = offsets[i - 1] + counts[i - 1];
        }
        return offsets;
    }

    static boolean overlap(CudaBuffer a, CudaBuffer b) {
        return a.pointer() < b.pointer() + b.bytes() && b.pointer() < a.pointer() + a.bytes();
    }

    private static ReduceOp required(ReduceOp op) {
        return Objects.requireNonNull(op, "op");
    }

    private static long digest(long @Nullable [] counts) {
        long digest = 0;
        if (counts != null) {
            digest = 1;
            for (long each : counts) {
                digest = Signature.mix(digest ^ Signature.mix(each));
            }
        }
        return digest;
    }

    @Override
    public String toString() {
        return describe();
    }
}
