package dev.tutti.bench.deoptimisation;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * Two ranks that call the common collectives on all kinds of memory and of several sizes, round and round: first for so many seconds
 * as a warm-up, then for so many more.
 */
final class Calls {
    /** Precedes the uptimes, in milliseconds, at which the warm-up and the rest were over. */
    static final String WARM = "warm at ";

    private static final int[] COUNTS = {2, 32, 512, 8 << 10, 256 << 10};
    private static final List<DataType> TYPES = List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.BFLOAT16);

    private Calls() {}

    public static void main(String[] args) {
        double warm = Double.parseDouble(args[0]);
        double measured = Double.parseDouble(args[1]);
        RuntimeMXBean uptime = ManagementFactory.getRuntimeMXBean();
        uptime.getUptime();
        long[] result = World.local(2)
                .call(comm -> {
                    List<Runnable> calls = calls(comm);
                    repeat(comm, calls, warm);
                    // Printed later: what printing loads and compiles is not to be counted.
                    long warmMillis = uptime.getUptime();
                    return new long[] {warmMillis, repeat(comm, calls, measured) * calls.size(), uptime.getUptime()};
                })
                .getFirst();
        System.out.println(WARM + result[0] + " " + result[2]);
        System.out.println(result[1] + " calls by each of 2 ranks after the warm-up");
    }

    /** Both ranks must make the same number of rounds: the first one's clock decides. */
    private static long repeat(Communicator comm, List<Runnable> calls, double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        int[] goesOn = {1};
        long rounds = 0;
        while (goesOn[0] == 1) {
            calls.forEach(Runnable::run);
            rounds++;
            goesOn[0] = System.nanoTime() < end ? 1 : 0;
            comm.broadcast(goesOn, 0);
        }
        return rounds;
    }

    private static List<Runnable> calls(Communicator comm) {
        List<Runnable> calls = new ArrayList<>();
        calls.add(comm::barrier);
        for (DataType type : TYPES) {
            for (int count : COUNTS) {
                add(calls, comm, array(type, count), array(type, 2 * count));
                add(calls, comm, nativeMemory(type, count), nativeMemory(type, 2 * count));
                add(calls, comm, comm.allocate(type, count), comm.allocate(type, 2L * count));
            }
        }
        return calls;
    }

    private static void add(List<Runnable> calls, Communicator comm, Buffer one, Buffer two) {
        Buffer half = two.slice(0, one.count());
        calls.add(() -> comm.allReduce(one, half, ReduceOp.MAX));
        calls.add(() -> comm.allReduce(one, ReduceOp.SUM));
        calls.add(() -> comm.allGather(one, two));
        calls.add(() -> comm.reduceScatter(two, one, ReduceOp.SUM));
        calls.add(() -> comm.allToAll(two, two));
        calls.add(() -> comm.broadcast(one, 1));
        calls.add(() -> comm.allReduceAsync(one, ReduceOp.MAX).await());
    }

    private static Buffer array(DataType type, int count) {
        return switch (type) {
            case FLOAT32 -> Buffer.of(new float[count]);
            case FLOAT64 -> Buffer.of(new double[count]);
            default -> Buffer.of(new short[count], type);
        };
    }

    private static Buffer nativeMemory(DataType type, int count) {
        long elements = (long) count * type.bytes() / Long.BYTES + 1;
        return Buffer.of(
                Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, elements).asSlice(0, (long) count * type.bytes()), type);
    }
}
