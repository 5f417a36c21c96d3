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
        checkCounts(inCounts, in, "input");
        checkCounts(outCounts, out, "output");
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
        requireSame(in, out, in.count(), out.count());
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
            requireSame(in, out, in.count(), out.count());
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
        requireTypes(in, out);
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
        requireTypes(in, out);
        return new CudaCall(Collective.ALL_GATHER, in.type(), null, 0, false, in, out, sum(counts), null, counts);
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
        requireTypes(in, out);
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
        requireTypes(in, out);
        return new CudaCall(
                Collective.REDUCE_SCATTER, in.type(), required(op), 0, false, in, out, sum(counts), counts, null);
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
        requireSame(in, out, in.count(), out.count());
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
        requireTypes(in, out);
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
        requireSame(in, out, in.count(), out.count());
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
        if ((collective == null || collective.isRooted()) && (root < 0 || root >= size)) {
            throw new IllegalArgumentException(
                    (collective == null ? "peer" : "root") + " must be in 0.." + (size - 1) + ", got " + root);
        }
        if (collective == null) {
            return;
        }
        requireLength(inCounts, size);
        requireLength(outCounts, size);
        boolean atRoot = rank == root;
        switch (collective) {
            case REDUCE -> requirePresent(atRoot, out, "output");
            case ALL_GATHER -> {
                if (outCounts != null) {
                    requireCount(Objects.requireNonNull(in), outCounts[rank], "input");
                } else {
                    requireCount(Objects.requireNonNull(out), count * size, "output");
                }
            }
            case REDUCE_SCATTER -> {
                if (inCounts != null) {
                    requireCount(Objects.requireNonNull(out), inCounts[rank], "output");
                } else {
                    requireCount(Objects.requireNonNull(in), count * size, "input");
                }
            }
            case GATHER -> {
                requirePresent(atRoot, out, "output");
                if (atRoot && count < 0) {
                    requireCounts(outCounts);
                } else if (atRoot) {
                    requireCount(Objects.requireNonNull(out), count * size, "output");
                }
            }
            case SCATTER -> {
                requirePresent(atRoot, in, "input");
                if (atRoot && count < 0) {
                    requireCounts(inCounts);
                } else if (atRoot) {
                    requireCount(Objects.requireNonNull(in), count * size, "input");
                }
            }
            case ALL_TO_ALL -> {
                if (count >= 0 && count % size != 0) {
                    throw new IllegalArgumentException(
                            "allToAll of " + count + " elements does not divide among " + size + " ranks");
                }
            }
            default -> {}
        }
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

    private static void requirePresent(boolean needed, @Nullable CudaBuffer buffer, String what) {
        if (needed && buffer == null) {
            throw new IllegalArgumentException("the root needs an " + what);
        }
    }

    private static void requireCounts(long @Nullable [] counts) {
        if (counts == null) {
            throw new IllegalArgumentException("the root needs counts");
        }
    }

    private static void requireCount(CudaBuffer buffer, long wanted, String what) {
        if (buffer.count() != wanted) {
            throw new IllegalArgumentException(what + " must have " + wanted + " elements, has " + buffer.count());
        }
    }

    private static void requireLength(long @Nullable [] counts, int size) {
        if (counts != null && counts.length != size) {
            throw new IllegalArgumentException("counts must have " + size + " entries, has " + counts.length);
        }
    }

    private static void checkCounts(long @Nullable [] counts, @Nullable CudaBuffer buffer, String what) {
        if (counts == null) {
            return;
        }
        for (long each : counts) {
            if (each < 0) {
                throw new IllegalArgumentException("counts must not be negative, got " + each);
            }
        }
        if (buffer != null && sum(counts) > buffer.count()) {
            throw new IllegalArgumentException(
                    what + " has " + buffer.count() + " elements, counts add up to " + sum(counts));
        }
    }

    static boolean overlap(CudaBuffer a, CudaBuffer b) {
        return a.pointer() < b.pointer() + b.bytes() && b.pointer() < a.pointer() + a.bytes();
    }

    private static ReduceOp required(ReduceOp op) {
        return Objects.requireNonNull(op, "op");
    }

    private static void requireTypes(CudaBuffer in, CudaBuffer out) {
        if (in.type() != out.type()) {
            throw new IllegalArgumentException("input is " + in.type() + ", output " + out.type());
        }
    }

    private static void requireSame(CudaBuffer in, CudaBuffer out, long a, long b) {
        requireTypes(in, out);
        if (a != b) {
            throw new IllegalArgumentException("input has " + a + " elements, output " + b);
        }
    }

    private static long sum(long[] counts) {
        long sum = 0;
        for (long each : counts) {
            sum = Math.addExact(sum, each);
        }
        return sum;
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
