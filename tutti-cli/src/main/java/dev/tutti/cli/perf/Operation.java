package dev.tutti.cli.perf;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.data.ExactData;
import java.lang.foreign.MemorySegment;

/** One call, on the memory for a repetition: each takes another part of it, for the caches' sake and to find races. */
@FunctionalInterface
interface Operation {
    void run(int repetition);

    /** Everything that a call of a case needs on one rank. */
    record Setting(Communicator comm, Case what, Shape shape, Traffic traffic, Memory send, Memory recv, int places) {
        /** The parts, one for each repetition, of an area. */
        Buffer[] parts(Memory memory, long offset, long count) {
            Buffer[] parts = new Buffer[places];
            for (int place = 0; place < places; place++) {
                parts[place] = memory.part(place * shape.largestCount() + offset, count);
            }
            return parts;
        }

        boolean isRoot() {
            return comm.rank() == what.root();
        }
    }

    static Operation of(Setting setting, boolean inPlace) {
        Communicator comm = setting.comm;
        Shape shape = setting.shape;
        int rank = comm.rank();
        int n = setting.places;
        int root = setting.what.root();
        boolean isRoot = setting.isRoot();
        ReduceOp op = operator(setting);
        Buffer[] out = setting.parts(setting.recv, 0, shape.recvCount());
        Buffer[] in = setting.parts(inPlace ? setting.recv : setting.send, 0, shape.sendCount());
        // In place, a rank's own block lies where it belongs in the memory of all blocks.
        Buffer[] block = inPlace ? setting.parts(setting.recv, blockOffset(setting), shape.count()) : in;
        return switch (setting.what.program()) {
            case ALL_REDUCE ->
                inPlace ? i -> comm.allReduce(out[i % n], op) : i -> comm.allReduce(in[i % n], out[i % n], op);
            case REDUCE ->
                inPlace ? i -> comm.reduce(out[i % n], op, root) : i -> comm.reduce(in[i % n], out[i % n], op, root);
            case BROADCAST ->
                inPlace
                        ? i -> comm.broadcast(out[i % n], root)
                        : i -> comm.broadcast(isRoot ? in[i % n] : null, out[i % n], root);
            case ALL_GATHER -> inPlace ? i -> comm.allGather(out[i % n]) : i -> comm.allGather(in[i % n], out[i % n]);
            case REDUCE_SCATTER ->
                inPlace ? i -> comm.reduceScatter(in[i % n], op) : i -> comm.reduceScatter(in[i % n], out[i % n], op);
            case GATHER ->
                inPlace && isRoot
                        ? i -> comm.gather(null, out[i % n], root)
                        : i -> comm.gather(block[i % n], isRoot ? out[i % n] : null, root);
            case SCATTER -> {
                Buffer[] own = inPlace ? block : out;
                yield inPlace && isRoot
                        ? i -> comm.scatter(in[i % n], null, root)
                        : i -> comm.scatter(isRoot ? in[i % n] : null, own[i % n], root);
            }
            case ALLTOALL -> i -> comm.allToAll(in[i % n], out[i % n]);
            // Blocks of different lengths cannot change places in one buffer: both halves of the table use two.
            case ALLTOALLV -> allToAllV(setting, setting.parts(setting.send, 0, shape.sendCount()), out);
            case SENDRECV -> {
                int next = (rank + 1) % comm.size();
                int previous = (rank - 1 + comm.size()) % comm.size();
                yield i -> comm.sendRecv(in[i % n], next, 0, out[i % n], previous, 0);
            }
            case HYPERCUBE -> hypercube(setting, inPlace);
            case BARRIER -> i -> comm.barrier();
            case SCAN -> i -> comm.scan(in[i % n], out[i % n], op);
            case EXSCAN -> i -> comm.exscan(in[i % n], out[i % n], op);
        };
    }

    /** Elements before this rank's block in the memory of all blocks. */
    static long blockOffset(Setting setting) {
        return switch (setting.what.program()) {
            case ALL_GATHER, GATHER, HYPERCUBE, REDUCE_SCATTER, SCATTER -> setting.comm.rank() * setting.shape.count();
            default -> 0;
        };
    }

    private static ReduceOp operator(Setting setting) {
        // Only the scalar of mulsum differs among ranks; the data know it.
        return setting.what.program().isReducing()
                ? ExactData.operator(setting.what.operator(), setting.comm.rank())
                : ReduceOp.SUM;
    }

    private static Operation allToAllV(Setting setting, Buffer[] in, Buffer[] out) {
        Communicator comm = setting.comm;
        int ranks = comm.size();
        int bytes = setting.shape.elementBytes();
        long total = setting.shape.count() * ranks * bytes;
        long[] sent = new long[ranks];
        long[] received = new long[ranks];
        for (int peer = 0; peer < ranks; peer++) {
            sent[peer] = setting.traffic.elements(comm.rank(), peer, total, bytes, ranks);
            received[peer] = setting.traffic.elements(peer, comm.rank(), total, bytes, ranks);
        }
        int n = setting.places;
        return i -> comm.allToAllV(in[i % n], sent, null, out[i % n], received, null);
    }

    /** An all-gather made of exchanges with ever more distant ranks. */
    private static Operation hypercube(Setting setting, boolean inPlace) {
        Communicator comm = setting.comm;
        int rank = comm.rank();
        long count = setting.shape.count();
        int n = setting.places;
        int rounds = Integer.numberOfTrailingZeros(comm.size());
        Buffer[][] sends = new Buffer[rounds][];
        Buffer[][] receives = new Buffer[rounds][];
        for (int round = 0; round < rounds; round++) {
            int mask = 1 << round;
            int mine = rank & -mask;
            sends[round] = setting.parts(setting.recv, mine * count, count * mask);
            receives[round] = setting.parts(setting.recv, (mine ^ mask) * count, count * mask);
        }
        long stride = setting.shape.largestCount();
        return i -> {
            long place = i % n * stride;
            if (!inPlace) {
                MemorySegment own = setting.recv.segment(place + rank * count, count);
                own.copyFrom(setting.send.segment(place, count));
            }
            for (int round = 0; round < rounds; round++) {
                int peer = rank ^ 1 << round;
                comm.sendRecv(sends[round][i % n], peer, 0, receives[round][i % n], peer, 0);
            }
        };
    }
}
