package dev.tutti.processes;

import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.World;
import java.util.Arrays;
import java.util.List;

/** A rank that says hello to all others: once, in two worlds, with several ranks, with too much memory, or to one that dies. */
final class Hello {
    private Hello() {}

    public static void main(String[] arguments) {
        try {
            switch (arguments.length == 0 ? "once" : arguments[0]) {
                case "once" -> once();
                case "worlds" -> worlds();
                case "ranks" -> ranks(Integer.parseInt(arguments[1]));
                case "allocate" -> allocate(Long.parseLong(arguments[1]));
                case "start" -> start();
                case "ahead" -> ahead();
                case "reversed" -> reversed(Integer.parseInt(arguments[1]));
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        } catch (TuttiException failure) {
            System.out.println(failure.category() + " " + failure.getMessage());
            System.exit(3);
        } catch (IllegalArgumentException refused) {
            System.out.println("REFUSED " + refused.getMessage());
            System.exit(6);
        }
    }

    private static void once() {
        try (Communicator comm = Communicator.fromEnvironment()) {
            System.out.println(greet(comm));
        }
    }

    private static String greet(Communicator comm) {
        float[] x = new float[1000];
        Arrays.fill(x, comm.rank() + 1);
        comm.allReduce(x, ReduceOp.SUM);
        int expected = comm.size() * (comm.size() + 1) / 2;
        for (float each : x) {
            if (each != expected) {
                return "WRONG " + each;
            }
        }
        comm.barrier();
        return "rank " + comm.rank() + " of " + comm.size() + " sum " + expected;
    }

    /** Two at the same time, each with a child, then a third. */
    private static void worlds() {
        try (Communicator one = Communicator.fromEnvironment();
                Communicator two = Communicator.fromEnvironment();
                Communicator pairs = one.split(one.rank() / 2, 0)) {
            System.out.println(greet(two) + ", " + greet(one) + ", " + greet(pairs));
        }
        once();
    }

    private static void ranks(int here) {
        List<String> lines = World.fromEnvironment().ranksHere(here).call(Hello::greet);
        System.out.println(String.join(", ", lines));
    }

    /** Rank 0 broadcasts for as long as it can; rank 1 reads a few times and is gone. */
    private static void ahead() {
        try (Communicator comm = Communicator.fromEnvironment()) {
            comm.barrier();
            int[] value = new int[1];
            for (int i = 1; true; i++) {
                value[0] = comm.rank() == 0 ? i : 0;
                comm.broadcast(value, 0);
                if (value[0] != i) {
                    System.out.println("WRONG " + value[0] + " instead of " + i);
                    return;
                }
                if (comm.rank() == 1 && i == 10) {
                    Runtime.getRuntime().halt(9);
                }
            }
        }
    }

    /** The process of rank 0 ends while the others wait for its ranks in a communicator in which they have other numbers. */
    private static void reversed(int ranks) {
        World.fromEnvironment().ranksHere(ranks).run(comm -> {
            Communicator reversed = comm.split(0, -comm.rank());
            reversed.barrier();
            if (comm.rank() == 0) {
                Runtime.getRuntime().halt(9);
            }
            reversed.barrier();
        });
    }

    private static void allocate(long elements) {
        try (Communicator comm = Communicator.fromEnvironment()) {
            comm.allocate(DataType.FLOAT32, elements).close();
            System.out.println("allocated");
        }
    }

    /** How long it took to get through a first barrier, since the process began. */
    private static void start() {
        try (Communicator comm = Communicator.fromEnvironment()) {
            comm.barrier();
            if (comm.rank() == 0) {
                System.out.println("barrier of " + comm.size());
            }
        }
    }
}
