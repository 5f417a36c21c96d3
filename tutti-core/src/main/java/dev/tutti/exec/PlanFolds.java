package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import org.jspecify.annotations.Nullable;

/**
 * How operators run in plans of files. Such a plan does not say where an input is fresh or a result final, so what is done there
 * is done before and after the launch: preMulSum multiplies first and avg divides last; in between both add.
 */
public final class PlanFolds {
    private PlanFolds() {}

    /** What has to be done to a fresh input before the launch. */
    public static void prepareInput(@Nullable ReduceOp operator, DataType type, long input, long bytes) {
        if (operator != null && operator.kind() == ReduceOp.Kind.PRE_MUL_SUM) {
            multiply(type, input, bytes, Execution.scalarBits(type, operator.scalar()));
        }
    }

    /** What has to be done to a result after the launch. */
    public static void finishOutput(@Nullable ReduceOp operator, DataType type, long output, long bytes, int ranks) {
        if (operator != null && operator.kind() == ReduceOp.Kind.AVG) {
            divide(type, output, bytes, ranks);
        }
    }

    static int kernel(ReduceOp operator, DataType type) {
        return switch (operator.kind()) {
            case SUM, AVG, PRE_MUL_SUM -> Kernels.id(type, Fold.SUM);
            case PROD -> Kernels.id(type, Fold.PROD);
            case MIN -> Kernels.id(type, Fold.MIN);
            case MAX -> Kernels.id(type, Fold.MAX);
            case AND -> Kernels.id(type, Fold.AND);
            case OR -> Kernels.id(type, Fold.OR);
            case XOR -> Kernels.id(type, Fold.XOR);
            case USER -> Records.USER;
        };
    }

    /** Divides a result by the number of ranks, in the type that sums are accumulated in. */
    private static void divide(DataType type, long address, long bytes, int ranks) {
        one(Kernels.id(type, Fold.AVG), type, address, bytes, ranks, -1);
    }

    /** Multiplies an input by this rank's scalar. */
    private static void multiply(DataType type, long address, long bytes, long scalar) {
        one(Kernels.id(type, Fold.MUL_SUM), type, address, bytes, scalar, 0);
    }

    private static void one(int kernel, DataType type, long address, long bytes, long aux, int scaled) {
        long[] sources = {address};
        int shift = Integer.numberOfTrailingZeros(type.bytes());
        for (long done = 0; done < bytes; done += Transfers.PIECE) {
            long length = Math.min(Transfers.PIECE, bytes - done);
            Kernels.reduce(kernel, sources, 0, 1, done, address + done, length >> shift, aux, scaled);
        }
    }
}
