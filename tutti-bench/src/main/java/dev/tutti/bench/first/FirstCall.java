package dev.tutti.bench.first;

import dev.tutti.Buffer;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.util.Arrays;
import java.util.Locale;

/**
 * In a fresh JVM: how long it takes to make a world of two ranks, the first call of float32 sum, and then the first call of
 * another type and operator; and how long that one takes when warm. Prints one line of numbers, in microseconds.
 */
public final class FirstCall {
    private FirstCall() {}

    public static void main(String[] arguments) {
        DataType type = DataType.valueOf(arguments[0]);
        ReduceOp op = operator(arguments[1]);
        int bytes = Integer.parseInt(arguments[2]);
        long start = System.nanoTime();
        double[][] times = World.local(2)
                .call(comm -> {
                    float[] x = {1, 2};
                    comm.allReduce(x, ReduceOp.SUM);
                    double world = (System.nanoTime() - start) / 1e3;
                    Buffer buffer = comm.allocate(type, bytes / type.bytes());
                    comm.barrier();
                    long before = System.nanoTime();
                    comm.allReduce(buffer, op);
                    double first = (System.nanoTime() - before) / 1e3;
                    double[] warm = new double[2000];
                    for (int i = 0; i < 20_000; i++) {
                        before = System.nanoTime();
                        comm.allReduce(buffer, op);
                        warm[i % warm.length] = (System.nanoTime() - before) / 1e3;
                    }
                    Arrays.sort(warm);
                    return new double[] {world, first, warm[warm.length / 2]};
                })
                .toArray(double[][]::new);
        System.out.println(String.format(
                Locale.ROOT,
                "%.0f %.1f %.2f",
                Math.max(times[0][0], times[1][0]),
                Math.max(times[0][1], times[1][1]),
                Math.max(times[0][2], times[1][2])));
    }

    static ReduceOp operator(String name) {
        return switch (name) {
            case "sum" -> ReduceOp.SUM;
            case "prod" -> ReduceOp.PROD;
            case "min" -> ReduceOp.MIN;
            case "max" -> ReduceOp.MAX;
            case "avg" -> ReduceOp.AVG;
            case "and" -> ReduceOp.AND;
            case "or" -> ReduceOp.OR;
            case "xor" -> ReduceOp.XOR;
            case "mulsum" -> ReduceOp.preMulSum(2);
            default -> throw new IllegalArgumentException("unknown operator " + name);
        };
    }
}
