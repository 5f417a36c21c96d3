package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.kernel.KernelSet;
import dev.tutti.reduce.Fold;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/** Parameters of reductions, laid out as {@code Args} in {@code fused.cu}. */
final class FoldArgs {
    static final int HEAD_BYTES = 32;
    static final int RANK_BYTES = 40;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private FoldArgs() {}

    /** Parameters without the ranks' own, which {@link #setRank} writes. */
    static MemorySegment of(CudaCall[] calls, long count, boolean exclusive) {
        int size = calls.length;
        int special = KernelSet.special(size);
        int places = special != 0 ? special : Math.max(size, Fused.INLINE_RANKS);
        MemorySegment args = Arena.ofAuto().allocate(HEAD_BYTES + (long) places * RANK_BYTES, 16);
        args.set(LONG, 0, count);
        args.set(LONG, 8, size);
        args.set(INT, 16, size);
        args.set(INT, 20, exclusive ? 1 : 0);
        return args;
    }

    /** One rank's part; {@code out} is 0 if it gets nothing. */
    static void setRank(MemorySegment args, CudaCall[] calls, int rank, long out, long offset, long count) {
        long at = HEAD_BYTES + (long) rank * RANK_BYTES;
        args.set(LONG, at, Objects.requireNonNull(calls[rank].in).pointer());
        args.set(LONG, at + 8, out);
        args.set(LONG, at + 16, scalar(calls[rank]));
        args.set(LONG, at + 24, offset);
        args.set(LONG, at + 32, count);
    }

    static Fold fold(ReduceOp op) {
        return switch (op.kind()) {
            case SUM -> Fold.SUM;
            case PROD -> Fold.PROD;
            case MIN -> Fold.MIN;
            case MAX -> Fold.MAX;
            case AND -> Fold.AND;
            case OR -> Fold.OR;
            case XOR -> Fold.XOR;
            case AVG -> Fold.AVG;
            case PRE_MUL_SUM -> Fold.MUL_SUM;
            case USER -> throw new IllegalArgumentException("a function of the user's has no fold");
        };
    }

    /** Whether the reduction of one rank is that rank's elements. */
    static boolean isCopy(CudaCall call) {
        ReduceOp.Kind kind = Objects.requireNonNull(call.op).kind();
        return kind != ReduceOp.Kind.AVG && kind != ReduceOp.Kind.PRE_MUL_SUM;
    }

    private static long scalar(CudaCall call) {
        ReduceOp op = Objects.requireNonNull(call.op);
        return op.kind() == ReduceOp.Kind.PRE_MUL_SUM ? scalarBits(call.type, op.scalar()) : 0;
    }

    /** The scalar in the type in which elements are accumulated. */
    static long scalarBits(DataType type, double scalar) {
        if (type == DataType.FLOAT64) {
            return Double.doubleToRawLongBits(scalar);
        }
        return type.isInteger() ? (long) scalar : Float.floatToRawIntBits((float) scalar) & 0xFFFFFFFFL;
    }
}
