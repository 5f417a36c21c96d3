package dev.tutti.cli.perf;

import dev.tutti.cli.perf.Operation.Setting;
import dev.tutti.data.DataStream;
import dev.tutti.data.ExactData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Fills one rank's memory before a call and compares it afterwards: the output, an input that must stay as it was, and memory
 * that nobody may touch, which is poisoned.
 */
final class Checker {
    private static final long POISON = 0xA7A7A7A7A7A7A7A7L;

    private final Setting setting;
    private final boolean inPlace;
    private final long seed;
    private final ExactData data;
    private final List<Part> filled = new ArrayList<>();
    private final List<Part> expected = new ArrayList<>();

    private record Part(MemorySegment memory, DataStream elements, long firstIndex) {}

    Checker(Setting setting, ExactData data, boolean inPlace, long seed) {
        this.setting = setting;
        this.inPlace = inPlace;
        this.seed = seed;
        this.data = data;
        describe();
    }

    void fill() {
        filled.forEach(part -> part.elements.fill(part.memory, part.firstIndex));
    }

    long countWrong() {
        return expected.stream()
                .mapToLong(part -> part.elements.countWrong(part.memory, part.firstIndex))
                .sum();
    }

    private void describe() {
        Shape shape = setting.shape();
        int rank = setting.comm().rank();
        int root = setting.what().root();
        long count = shape.count();
        long offset = Operation.blockOffset(setting);
        filled.add(new Part(recv(0, inPlace ? shape.largestCount() : shape.recvCount()), poison(), 0));
        switch (setting.what().program()) {
            case ALL_REDUCE -> {
                input(0, shape.sendCount());
                output(0, shape.recvCount(), data.reduced(seed), 0);
            }
            case REDUCE -> {
                input(0, shape.sendCount());
                reducedHere(setting.isRoot(), setting.comm().size());
            }
            case SCAN, EXSCAN -> {
                input(0, shape.sendCount());
                int ranks = setting.what().program() == Program.SCAN ? rank + 1 : rank;
                reducedHere(ranks > 0, ranks);
            }
            case REDUCE_SCATTER -> {
                input(0, shape.sendCount());
                output(inPlace ? offset : 0, count, data.reduced(seed), rank * count);
            }
            case BROADCAST -> {
                if (setting.isRoot()) {
                    input(0, shape.sendCount());
                }
                output(0, shape.recvCount(), data.input(root, seed), 0);
            }
            case ALL_GATHER, HYPERCUBE -> {
                input(offset, count);
                allBlocks();
            }
            case GATHER -> {
                input(offset, count);
                if (setting.isRoot()) {
                    allBlocks();
                } else {
                    untouched(offset, count);
                }
            }
            case SCATTER -> {
                if (setting.isRoot()) {
                    input(0, shape.sendCount());
                }
                output(inPlace ? offset : 0, count, data.input(root, seed), rank * count);
            }
            case ALLTOALL -> {
                input(0, shape.sendCount());
                for (int peer = 0; peer < setting.comm().size(); peer++) {
                    output(peer * count, count, data.input(peer, seed), rank * count);
                }
            }
            case ALLTOALLV -> ragged();
            case SENDRECV -> {
                int size = setting.comm().size();
                input(0, shape.sendCount());
                output(0, shape.recvCount(), data.input((rank - 1 + size) % size, seed), 0);
            }
            case BARRIER -> {}
        }
    }

    /** What this rank puts in; out of place it must still be there afterwards. */
    private void input(long offsetInPlace, long count) {
        DataStream elements = data.input(setting.comm().rank(), seed);
        Part part =
                new Part(inPlace ? recv(offsetInPlace, count) : setting.send().segment(0, count), elements, 0);
        filled.add(part);
        if (!inPlace) {
            expected.add(part);
        }
    }

    private void output(long offset, long count, DataStream elements, long firstIndex) {
        expected.add(new Part(recv(offset, count), elements, firstIndex));
    }

    /** A reduction of some ranks, on those ranks that get one; the others' output stays as it was. */
    private void reducedHere(boolean here, int ranks) {
        long count = setting.shape().recvCount();
        if (here) {
            output(0, count, data.reduced(ranks, seed), 0);
        } else {
            untouched(0, count);
        }
    }

    private void untouched(long offset, long count) {
        if (inPlace) {
            output(offset, count, data.input(setting.comm().rank(), seed), 0);
        } else {
            output(0, setting.shape().recvCount(), poison(), 0);
        }
    }

    private void allBlocks() {
        long count = setting.shape().count();
        for (int peer = 0; peer < setting.comm().size(); peer++) {
            output(peer * count, count, data.input(peer, seed), 0);
        }
    }

    private void ragged() {
        int ranks = setting.comm().size();
        int rank = setting.comm().rank();
        int bytes = setting.shape().elementBytes();
        long total = setting.shape().count() * ranks * bytes;
        input(0, setting.shape().sendCount());
        long at = 0;
        for (int peer = 0; peer < ranks; peer++) {
            long before = 0;
            for (int earlier = 0; earlier < rank; earlier++) {
                before += setting.traffic().elements(peer, earlier, total, bytes, ranks);
            }
            long count = setting.traffic().elements(peer, rank, total, bytes, ranks);
            output(at, count, data.input(peer, seed), before);
            at += count;
        }
        output(at, setting.shape().recvCount() - at, poison(), 0);
    }

    private MemorySegment recv(long offset, long count) {
        return setting.recv().segment(offset, count);
    }

    private DataStream poison() {
        return DataStream.constant(setting.what().type(), POISON);
    }
}
