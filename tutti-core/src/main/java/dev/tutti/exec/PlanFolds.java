package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;

/**
 * How operators run in plans of files. Such a plan does not say where an input is fresh or a result final, so what is done there
 * is done before and after the launch: preMulSum multiplies first and avg divides last; in between both add.
 */
final class PlanFolds {
    private PlanFolds() {}

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
    static void divide(DataType type, long address, long bytes, int ranks) {
        one(Kernels.id(type, Fold.AVG), type, address, address, bytes, ranks, -1);
    }

    /** Multiplies an input by this rank's scalar. */
    static void multiply(DataType type, long source, long destination, long bytes, long scalar) {
        one(Kernels.id(type, Fold.MUL_SUM), type, source, destination, bytes, scalar, 0);
    }

    private static void one(
            int kernel, DataType type, long source, long destination, long bytes, long aux, int scaled) {
        long[] sources = {source};
        int shift = Integer.numberOfTrailingZeros(type.bytes());
        for (long done = 0; done < bytes; done += Transfers.PIECE) {
            long length = Math.min(Transfers.PIECE, bytes - done);
            Kernels.reduce(kernel, sources, 0, 1, done, destination + done, length >> shift, aux, scaled);
        }
    }
}
