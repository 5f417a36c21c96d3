package dev.tutti.bench.memory;

import dev.tutti.Communicator;
import dev.tutti.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;

/** One JVM of {@link MemoryBench}: a line for each collective and length. Usage: {@code MemoryProcess way rounds}. */
final class MemoryProcess {
    private static final int[] LENGTHS = {8, 32, 512};
    private static final int CALLS = 100_000;
    private static final int WARM_UP = 3;

    private MemoryProcess() {}

    public static void main(String[] arguments) {
        Way way = Way.valueOf(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        World.local(2).run(comm -> {
            report(comm, "barrier", nanos(comm, times -> barriers(comm, times), rounds));
            for (boolean reduces : new boolean[] {true, false}) {
                for (int bytes : LENGTHS) {
                    String name = (reduces ? "allReduce " : "broadcast ") + bytes + " B";
                    report(comm, name, nanos(comm, way.calls(comm, reduces, bytes), rounds));
                }
            }
        });
    }

    private static void barriers(Communicator comm, int times) {
        for (int i = 0; i < times; i++) {
            comm.barrier();
        }
    }

    private static void report(Communicator comm, String name, double nanos) {
        if (comm.rank() == 0) {
            System.out.println(String.format(Locale.ROOT, "%s=%.2f", name, nanos));
        }
    }

    private static double nanos(Communicator comm, IntConsumer calls, int rounds) {
        List<Double> times = new ArrayList<>();
        for (int round = -WARM_UP; round < rounds; round++) {
            comm.barrier();
            long start = System.nanoTime();
            calls.accept(CALLS);
            comm.barrier();
            if (round >= 0) {
                times.add((System.nanoTime() - start) / (double) CALLS);
            }
        }
        return MemoryBench.median(times);
    }
}
