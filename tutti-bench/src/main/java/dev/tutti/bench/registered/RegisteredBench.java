package dev.tutti.bench.registered;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Collectives on registered memory beside the same on ordinary native memory, and beside what the machine can do: an all-reduce of
 * n ranks has to read n messages and write n, at the rate at which as many threads accumulate (a += b: two reads and a write) in
 * the same run. Contestants alternate, medians count. Usage: {@code RegisteredBench [ranks] [rounds]}.
 */
public final class RegisteredBench {
    private static final int[] SIZES = {
        2 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20, 32 << 20, 64 << 20
    };
    private static final long BYTES_PER_BATCH = 48 << 20;

    /** What all contestants of a row run before it counts. */
    private static final double WARM_MICROS = 200_000;

    private RegisteredBench() {}

    /** One way to use memory. */
    private interface Body {
        void run();
    }

    /** A thing to time, on one rank. */
    private record Contestant(String name, Body body) {}

    public static void main(String[] arguments) {
        int ranks = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 2;
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 7;
        World.local(ranks).run(comm -> {
            limits(comm, rounds);
            collectives(comm, rounds);
        });
    }

    private static void limits(Communicator comm, int rounds) {
        say(
                comm,
                "all-reduce of float32 on registered memory, %d ranks%n%12s %12s %12s %12s %12s %12s",
                comm.size(),
                "bytes",
                "a+=b us",
                "in place us",
                "of limit",
                "apart us",
                "of limit");
        for (int bytes : SIZES) {
            Buffer in = comm.allocate(DataType.FLOAT32, bytes / 4);
            Buffer out = comm.allocate(DataType.FLOAT32, bytes / 4);
            // Each rank accumulates its share, so that together they have a message's worth of each operand.
            long[] code = {in.segment().address(), out.segment().address()};
            long share = Math.max(1, bytes / 4 / comm.size());
            int kernel = Kernels.id(DataType.FLOAT32, Fold.SUM);
            double[] micros = medians(
                    comm,
                    bytes,
                    rounds,
                    List.of(
                            new Contestant("a+=b", () -> Kernels.reduce(kernel, code, 0, 2, 0, code[0], share, 0, -1)),
                            new Contestant("in place", () -> comm.allReduce(in, ReduceOp.SUM)),
                            new Contestant("apart", () -> comm.allReduce(in, out, ReduceOp.SUM))));
            double limit = micros[0] * 2 * comm.size() / 3;
            say(
                    comm,
                    "%12d %12.1f %12.1f %11.0f%% %12.1f %11.0f%%",
                    bytes,
                    micros[0],
                    micros[1],
                    100 * limit / micros[1],
                    micros[2],
                    100 * limit / micros[2]);
            in.close();
            out.close();
        }
    }

    private static void collectives(Communicator comm, int rounds) {
        say(comm, "%n%-16s %12s %14s %14s %8s", "collective", "bytes", "native us", "registered us", "faster");
        for (String name : List.of(
                "allReduce", "reduceScatter", "allGather", "broadcast", "allToAll", "reduce", "gather", "scatter")) {
            for (int bytes : SIZES) {
                long count = Math.max(1, bytes / 4 / comm.size()) * comm.size();
                Buffer[] ordinary = {ordinary(count), ordinary(count)};
                Buffer[] registered = {comm.allocate(DataType.FLOAT32, count), comm.allocate(DataType.FLOAT32, count)};
                double[] micros = medians(
                        comm,
                        bytes,
                        rounds,
                        List.of(
                                new Contestant("native", call(comm, name, ordinary[0], ordinary[1])),
                                new Contestant("registered", call(comm, name, registered[0], registered[1]))));
                say(
                        comm,
                        "%-16s %12d %14.1f %14.1f %7.2fx",
                        name,
                        4 * count,
                        micros[0],
                        micros[1],
                        micros[0] / micros[1]);
                registered[0].close();
                registered[1].close();
            }
        }
    }

    private static Buffer ordinary(long count) {
        return Buffer.of(Arena.ofAuto().allocate(4 * count, 4096), DataType.FLOAT32);
    }

    /** The call of one collective; bytes are those of the longer of input and output. */
    private static Body call(Communicator comm, String name, Buffer a, Buffer b) {
        long block = a.count() / comm.size();
        Buffer part = b.slice(0, block);
        boolean isRoot = comm.rank() == 0;
        return switch (name) {
            case "allReduce" -> () -> comm.allReduce(a, b, ReduceOp.SUM);
            case "reduceScatter" -> () -> comm.reduceScatter(a, part, ReduceOp.SUM);
            case "allGather" -> () -> comm.allGather(part, a);
            case "broadcast" -> () -> comm.broadcast(a, 0);
            case "allToAll" -> () -> comm.allToAll(a, b);
            case "reduce" -> () -> comm.reduce(a, isRoot ? b : null, ReduceOp.SUM, 0);
            case "gather" -> () -> comm.gather(part, isRoot ? a : null, 0);
            default -> () -> comm.scatter(isRoot ? a : null, part, 0);
        };
    }

    /** Microseconds of each contestant: median of rounds, each the slowest rank's batch. */
    private static double[] medians(Communicator comm, int bytes, int rounds, List<Contestant> contestants) {
        int batch = Math.clamp(BYTES_PER_BATCH / bytes, 2, 2_000);
        double[][] micros = new double[contestants.size()][rounds];
        double warmed = 0;
        for (int round = -1; round < rounds; round++) {
            for (int i = 0; i < contestants.size(); i++) {
                Contestant contestant = contestants.get(i);
                comm.barrier();
                long start = System.nanoTime();
                repeat(contestant.body, batch);
                comm.barrier();
                double own = (System.nanoTime() - start) / 1e3 / batch;
                double[] slowest = {own};
                comm.allReduce(slowest, ReduceOp.MAX);
                if (round >= 0) {
                    micros[i][round] = slowest[0];
                }
                warmed += slowest[0] * batch;
            }
            // All ranks have the same sum.
            if (round < 0 && warmed < WARM_MICROS) {
                round--;
            }
        }
        List<Double> medians = new ArrayList<>();
        for (double[] each : micros) {
            Arrays.sort(each);
            medians.add(each[rounds / 2]);
        }
        return medians.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static void repeat(Body body, int times) {
        for (int i = 0; i < times; i++) {
            body.run();
        }
    }

    private static void say(Communicator comm, String format, Object... values) {
        if (comm.rank() == 0) {
            System.out.println(String.format(Locale.ROOT, format, values));
        }
    }
}
