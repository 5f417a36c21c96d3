package dev.tutti.semantics;

import static dev.tutti.semantics.Guarded.POISON;

import dev.tutti.Buffer;
import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.semantics.Guarded.Placement;

/**
 * One rank's part of one collective on 32-bit integers, checked element by element against what the words say: the
 * result, that an input which is no output stays as it was, that whoever gets nothing has nothing written, and that
 * nothing is touched outside. All ranks must be given the same arguments.
 */
final class Exchange {
    /** How the call is made. */
    enum Form {
        BLOCKING,
        STARTED,
        PREPARED
    }

    private final Communicator comm;
    private final Collective collective;
    private final int count;
    private final int root;
    private final boolean inPlace;
    private final int seed;
    private final String what;
    private Guarded in;
    private Guarded out;

    Exchange(Communicator comm, Collective collective, int count, int root, boolean inPlace, int seed) {
        this.comm = comm;
        this.collective = collective;
        this.count = count;
        this.root = collective.isRooted() ? root : 0;
        this.inPlace = inPlace;
        this.seed = seed;
        this.what = collective + " of " + count + " root " + root + (inPlace ? " in place" : "") + " seed " + seed
                + " on " + comm;
    }

    /** Every collective once, in a form and place that depend on the seed. */
    static void all(Communicator comm, int count, int seed) {
        for (Collective collective : Collective.values()) {
            Exchange exchange =
                    new Exchange(comm, collective, count, Math.floorMod(seed, comm.size()), (seed & 1) == 0, seed);
            exchange.run(Form.values()[Math.floorMod(seed >> 1, 3)], Placement.ARRAY);
        }
    }

    void run(Form form, Placement placement) {
        prepare(placement);
        switch (form) {
            case BLOCKING -> block();
            case STARTED -> start().await();
            case PREPARED -> prepared().run();
        }
        check();
    }

    /** Fills the memory; for calls that are made apart from their check. */
    void prepare(Placement placement) {
        int inputs = collective.inputBlocks(comm.size()) * count;
        int outputs = collective.outputBlocks(comm.size()) * count;
        in = Guarded.of(placement, inPlace ? Math.max(inputs, outputs) : inputs);
        out = inPlace ? in : Guarded.of(placement, outputs);
        int first = inPlace && hasOwnBlockOfOutput() ? comm.rank() * count : 0;
        if (!inPlace || comm.rank() == root || collective != Collective.BROADCAST) {
            in.set(first, inputs, i -> input(comm.rank(), i));
        }
    }

    /** All-gather and gather in place: the input is this rank's block of the output. */
    private boolean hasOwnBlockOfOutput() {
        return collective == Collective.ALL_GATHER || (collective == Collective.GATHER && comm.rank() == root);
    }

    int input(int rank, int index) {
        int h = seed * 0x9E3779B9 + rank * 0x85EBCA6B + index * 0xC2B2AE35;
        return ((h ^ h >>> 15) & 0xFFFF) - 0x8000;
    }

    private Buffer input() {
        return in.buffer();
    }

    private Buffer output() {
        return out.buffer();
    }

    private Buffer atRoot(Buffer buffer) {
        return comm.rank() == root ? buffer : null;
    }

    private Buffer notAtRoot(Buffer buffer) {
        return comm.rank() == root ? null : buffer;
    }

    private void block() {
        ReduceOp sum = ReduceOp.SUM;
        switch (collective) {
            case ALL_REDUCE -> comm.allReduce(input(), output(), sum);
            case REDUCE -> comm.reduce(input(), atRoot(output()), sum, root);
            case BROADCAST -> comm.broadcast(atRoot(input()), output(), root);
            case ALL_GATHER -> {
                if (inPlace) {
                    comm.allGather(output());
                } else {
                    comm.allGather(input(), output());
                }
            }
            case REDUCE_SCATTER -> {
                if (inPlace) {
                    comm.reduceScatter(input(), sum);
                } else {
                    comm.reduceScatter(input(), output(), sum);
                }
            }
            case GATHER -> comm.gather(inPlace ? notAtRoot(gatherInput()) : input(), atRoot(output()), root);
            case SCATTER -> comm.scatter(atRoot(input()), inPlace ? notAtRoot(scatterOutput()) : output(), root);
            case ALL_TO_ALL -> comm.allToAll(input(), output());
            case BARRIER -> comm.barrier();
            case SCAN -> comm.scan(input(), output(), sum);
            case EXSCAN -> comm.exscan(input(), output(), sum);
        }
    }

    Work start() {
        ReduceOp sum = ReduceOp.SUM;
        return switch (collective) {
            case ALL_REDUCE -> comm.allReduceAsync(input(), output(), sum);
            case REDUCE -> comm.reduceAsync(input(), atRoot(output()), sum, root);
            case BROADCAST -> comm.broadcastAsync(atRoot(input()), output(), root);
            case ALL_GATHER -> inPlace ? comm.allGatherAsync(output()) : comm.allGatherAsync(input(), output());
            case REDUCE_SCATTER ->
                inPlace ? comm.reduceScatterAsync(input(), sum) : comm.reduceScatterAsync(input(), output(), sum);
            case GATHER -> comm.gatherAsync(inPlace ? notAtRoot(gatherInput()) : input(), atRoot(output()), root);
            case SCATTER -> comm.scatterAsync(atRoot(input()), inPlace ? notAtRoot(scatterOutput()) : output(), root);
            case ALL_TO_ALL -> comm.allToAllAsync(input(), output());
            case BARRIER -> comm.barrierAsync();
            case SCAN -> comm.scanAsync(input(), output(), sum);
            case EXSCAN -> comm.exscanAsync(input(), output(), sum);
        };
    }

    Prepared prepared() {
        ReduceOp sum = ReduceOp.SUM;
        return switch (collective) {
            case ALL_REDUCE -> comm.prepareAllReduce(input(), output(), sum);
            case REDUCE -> comm.prepareReduce(input(), atRoot(output()), sum, root);
            case BROADCAST -> comm.prepareBroadcast(atRoot(input()), output(), root);
            case ALL_GATHER -> inPlace ? comm.prepareAllGather(output()) : comm.prepareAllGather(input(), output());
            case REDUCE_SCATTER ->
                inPlace ? comm.prepareReduceScatter(input(), sum) : comm.prepareReduceScatter(input(), output(), sum);
            case GATHER -> comm.prepareGather(inPlace ? notAtRoot(gatherInput()) : input(), atRoot(output()), root);
            case SCATTER -> comm.prepareScatter(atRoot(input()), inPlace ? notAtRoot(scatterOutput()) : output(), root);
            case ALL_TO_ALL -> comm.prepareAllToAll(input(), output());
            case BARRIER -> comm.prepareBarrier();
            case SCAN -> comm.prepareScan(input(), output(), sum);
            case EXSCAN -> comm.prepareExscan(input(), output(), sum);
        };
    }

    private Buffer gatherInput() {
        return in.buffer().slice(0, count);
    }

    private Buffer scatterOutput() {
        return in.buffer().slice(0, count);
    }

    void check() {
        in.assertGuards(what + ", input");
        out.assertGuards(what + ", output");
        int n = comm.size();
        int rank = comm.rank();
        if (!inPlace) {
            in.assertElements(0, in.count(), i -> input(rank, i), what + ", input");
        }
        boolean gets = switch (collective) {
            case REDUCE, GATHER -> rank == root;
            case EXSCAN -> rank > 0;
            case BARRIER -> false;
            default -> true;
        };
        if (!gets) {
            checkUntouched();
            return;
        }
        int first = inPlace && rank == root && collective == Collective.SCATTER ? rank * count : 0;
        first = inPlace && collective == Collective.REDUCE_SCATTER ? rank * count : first;
        for (int each = 0; each < collective.outputBlocks(n); each++) {
            int block = each;
            out.assertElements(first + block * count, count, i -> expected(block, i), what + ", output");
        }
    }

    private void checkUntouched() {
        int inputs = inPlace ? collective.inputBlocks(comm.size()) * count : 0;
        out.assertElements(
                0, out.count(), i -> i < inputs ? input(comm.rank(), i) : POISON, what + ", output that must stay");
    }

    private int expected(int block, int i) {
        int rank = comm.rank();
        return switch (collective) {
            case ALL_REDUCE, REDUCE -> sum(0, comm.size(), i);
            case BROADCAST -> input(root, i);
            case ALL_GATHER, GATHER -> input(block, i);
            case REDUCE_SCATTER -> sum(0, comm.size(), rank * count + i);
            case SCATTER -> input(root, rank * count + i);
            case ALL_TO_ALL -> input(block, rank * count + i);
            case SCAN -> sum(0, rank + 1, i);
            case EXSCAN -> sum(0, rank, i);
            case BARRIER -> throw new IllegalStateException();
        };
    }

    private int sum(int from, int to, int index) {
        int sum = 0;
        for (int rank = from; rank < to; rank++) {
            sum += input(rank, index);
        }
        return sum;
    }
}
