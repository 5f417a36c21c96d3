package dev.tutti.processes;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;

/** The smallest program of many ranks: everybody's number, added up. Prints one line. */
final class Hello {
    private Hello() {}

    public static void main(String[] arguments) {
        long start = System.nanoTime();
        try (Communicator comm = Communicator.fromEnvironment()) {
            long joined = System.nanoTime();
            float[] x = {comm.rank()};
            comm.allReduce(x, ReduceOp.SUM);
            comm.barrier();
            System.out.println("rank " + comm.rank() + " of " + comm.size() + ": sum " + (int) x[0] + " joined "
                    + (joined - start) / 1_000_000 + " ms, first calls " + (System.nanoTime() - joined) / 1_000_000
                    + " ms");
        }
    }
}
