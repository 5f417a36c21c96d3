package dev.tutti.processes;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.ReduceOp;
import dev.tutti.Window;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A rank that reaches into its peers' registered memory: through a window, by direct collectives; then one passes other memory. */
final class Neighbours {
    private static final int COUNT = 60_000;
    private static final int ROUNDS = 50;

    private Neighbours() {}

    public static void main(String[] arguments) {
        try (Communicator comm = Communicator.fromEnvironment()) {
            halo(comm);
            collectives(comm);
            mismatch(comm);
        }
    }

    private static void halo(Communicator comm) {
        int next = (comm.rank() + 1) % comm.size();
        int previous = (comm.rank() + comm.size() - 1) % comm.size();
        Buffer mine = comm.allocate(DataType.INT64, COUNT);
        Buffer inbox = comm.allocate(DataType.INT64, COUNT);
        try (Window window = comm.window(inbox)) {
            for (int round = 0; round < ROUNDS; round++) {
                fill(mine, 1000L * comm.rank() + round);
                window.put(mine, next, 0);
                window.signal(next);
                window.await(previous);
                require(inbox, 1000L * previous + round, "halo");
                comm.barrier();
            }
        }
        mine.close();
        inbox.close();
    }

    private static void collectives(Communicator comm) {
        Buffer in = comm.allocate(DataType.INT64, COUNT);
        Buffer out = comm.allocate(DataType.INT64, COUNT);
        for (int round = 0; round < ROUNDS; round++) {
            fill(in, comm.rank() + 1L);
            fill(out, -1);
            comm.allReduce(in, out, ReduceOp.SUM);
            require(out, comm.size() * (comm.size() + 1L) / 2, "allReduce");
            comm.allReduce(in, ReduceOp.MAX);
            require(in, comm.size(), "allReduce in place");
            fill(in, round % comm.size() == comm.rank() ? round : -1);
            comm.broadcast(in, round % comm.size());
            require(in, round, "broadcast");
            fill(in, comm.rank() + 1L);
            comm.allReduce(in, out, ReduceOp.preMulSum(comm.rank() + 1.0));
            long n = comm.size();
            require(out, n * (n + 1) * (2 * n + 1) / 6, "preMulSum");
            exchange(comm, in, out);
        }
    }

    /** Rank r sends r + 1 elements to everybody, from where only it knows. */
    private static void exchange(Communicator comm, Buffer in, Buffer out) {
        long[] sent = new long[comm.size()];
        long[] offsets = new long[comm.size()];
        long[] received = new long[comm.size()];
        long total = 0;
        for (int peer = 0; peer < comm.size(); peer++) {
            sent[peer] = comm.rank() + 1;
            offsets[peer] = 100L * (comm.size() - peer) + comm.rank();
            fill(in.slice(offsets[peer], sent[peer]), 10L * comm.rank() + peer);
            received[peer] = peer + 1;
            total += received[peer];
        }
        comm.allToAllV(in, sent, offsets, out.slice(0, total), received, null);
        long from = 0;
        for (int peer = 0; peer < comm.size(); peer++) {
            require(out.slice(from, received[peer]), 10L * peer + comm.rank(), "allToAllV");
            from += received[peer];
        }
    }

    private static void mismatch(Communicator comm) {
        Buffer registered = comm.allocate(DataType.INT64, COUNT);
        try {
            comm.allReduce(comm.rank() == 0 ? Buffer.of(new long[COUNT]) : registered, ReduceOp.SUM);
        } catch (MismatchException expected) {
            System.out.println("fine, then: " + expected.getMessage());
        }
    }

    private static void fill(Buffer buffer, long value) {
        MemorySegment memory = buffer.segment();
        for (long i = 0; i < buffer.count(); i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG, i, value);
        }
    }

    private static void require(Buffer buffer, long value, String what) {
        for (long each : buffer.segment().toArray(ValueLayout.JAVA_LONG)) {
            if (each != value) {
                throw new AssertionError(what + ": " + each + " instead of " + value);
            }
        }
    }
}
