package dev.tutti.semantics;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.World;
import java.util.ArrayList;
import java.util.List;

/** Ranks that are virtual threads; for a process of its own, whose carriers are fewer than the ranks. */
final class VirtualRanks {
    private VirtualRanks() {}

    public static void main(String[] args) {
        for (String ranks : args) {
            run(Integer.parseInt(ranks));
        }
        System.out.println("carriers never ran out");
    }

    private static void run(int ranks) {
        World.local(ranks).virtualThreads().run(comm -> {
            for (int i = 0; i < 20; i++) {
                Exchange.all(comm, i % 2 == 0 ? 3 : 700, i);
            }
            Exchange.all(comm, 9_000, 1);
            Communicator half = comm.split(comm.rank() % 2, comm.rank());
            int next = (comm.rank() + 1) % ranks;
            int previous = (comm.rank() + ranks - 1) % ranks;
            for (int i = 0; i < 50; i++) {
                List<Work> works = new ArrayList<>();
                works.add(comm.allReduceAsync(Buffer.of(new int[50]), ReduceOp.SUM));
                works.add(half.allReduceAsync(Buffer.of(new int[50]), ReduceOp.SUM));
                int[] got = {-1};
                comm.sendRecv(Buffer.of(new int[] {comm.rank()}), next, 0, Buffer.of(got), previous, 0);
                if (got[0] != previous) {
                    throw new AssertionError("got " + got[0] + " from " + previous);
                }
                works.forEach(Work::await);
            }
            comm.barrier();
        });
    }
}
