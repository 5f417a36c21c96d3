package dev.tutti.matrix;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What a rank's input and output hold before a cell and must hold after it. Elements are numbered through all blocks of all
 * ranks alike, so that block b of every rank's input is reduced with the others' block b.
 */
final class Contents {
    /** Elements of a row in a buffer. */
    record Block(long offset, long count, Row row, long index) {}

    private final Cell cell;
    private final int rank;
    private final int ranks;
    private final long count;
    private final Rows rows;
    private final long origin;
    /** By (from, to) in an all-to-all; else the same for every from. */
    private final long[][] counts;

    final List<Block> in = new ArrayList<>();
    final List<Block> out = new ArrayList<>();
    long inTotal;
    long outTotal;
    boolean hasIn = true;
    boolean hasOut = true;
    /** Ragged operations: lengths and places of the blocks of input and output. */
    long[] inCounts = {};

    long[] inOffsets = {};
    long[] outCounts = {};
    long[] outOffsets = {};
    /** Whether offsets are passed; otherwise blocks follow each other. */
    final boolean gaps;

    Contents(Cell cell, int rank) {
        this.cell = cell;
        this.rank = rank;
        this.ranks = cell.ranks();
        this.count = cell.count();
        this.rows = Rows.of(cell.type(), cell.operator(), ranks);
        this.origin = cell.variant() & 0xFFFF;
        this.gaps = cell.operation().isRagged()
                && cell.operation() != Operation.REDUCE_SCATTER_V
                && (cell.variant() & 1) == 1;
        this.counts = counts();
        boolean isRoot = rank == cell.root();
        switch (cell.operation().collective) {
            case BARRIER -> {
                hasIn = false;
                hasOut = false;
            }
            case ALL_REDUCE -> whole(rows.reduced(ranks));
            case REDUCE -> {
                whole(rows.reduced(ranks));
                hasOut = isRoot;
            }
            case BROADCAST -> {
                whole(rows.input(cell.root()));
                hasIn = isRoot;
            }
            case SCAN -> whole(rows.reduced(rank + 1));
            case EXSCAN -> {
                whole(rows.reduced(Math.max(1, rank)));
                hasOut = rank > 0;
            }
            case ALL_GATHER -> gathered();
            case GATHER -> {
                gathered();
                hasOut = isRoot;
            }
            case REDUCE_SCATTER -> {
                inCounts = counts[0];
                inOffsets = offsets(inCounts, false);
                inTotal = blocks(in, inCounts, inOffsets, rows.input(rank), logical(inCounts));
                outTotal = counts[0][rank];
                out.add(new Block(0, outTotal, rows.reduced(ranks), logical(inCounts)[rank]));
            }
            case SCATTER -> {
                inCounts = counts[0];
                inOffsets = offsets(inCounts, gaps);
                inTotal = blocks(in, inCounts, inOffsets, rows.input(cell.root()), logical(inCounts));
                outTotal = counts[0][rank];
                out.add(new Block(0, outTotal, rows.input(cell.root()), logical(inCounts)[rank]));
                hasIn = isRoot;
            }
            case ALL_TO_ALL -> exchanged();
        }
        if (!hasIn) {
            in.clear();
        }
        if (!hasOut) {
            out.clear();
        }
    }

    private void whole(Row result) {
        inTotal = count;
        outTotal = count;
        in.add(new Block(0, count, rows.input(rank), origin));
        out.add(new Block(0, count, result, origin));
    }

    private void gathered() {
        outCounts = counts[0];
        outOffsets = offsets(outCounts, gaps);
        inTotal = outCounts[rank];
        in.add(new Block(0, inTotal, rows.input(rank), origin));
        outTotal = end(outCounts, outOffsets);
        for (int peer = 0; peer < ranks; peer++) {
            out.add(new Block(outOffsets[peer], outCounts[peer], rows.input(peer), origin));
        }
    }

    private void exchanged() {
        inCounts = counts[rank];
        inOffsets = offsets(inCounts, gaps);
        inTotal = blocks(in, inCounts, inOffsets, rows.input(rank), logical(inCounts));
        outCounts = new long[ranks];
        for (int peer = 0; peer < ranks; peer++) {
            outCounts[peer] = counts[peer][rank];
        }
        outOffsets = offsets(outCounts, gaps);
        outTotal = end(outCounts, outOffsets);
        for (int peer = 0; peer < ranks; peer++) {
            out.add(new Block(outOffsets[peer], outCounts[peer], rows.input(peer), logical(counts[peer])[rank]));
        }
    }

    private static long blocks(List<Block> to, long[] counts, long[] offsets, Row row, long[] index) {
        for (int block = 0; block < counts.length; block++) {
            to.add(new Block(offsets[block], counts[block], row, index[block]));
        }
        return end(counts, offsets);
    }

    /** Numbers of the first elements of blocks that follow each other. */
    private long[] logical(long[] lengths) {
        long[] first = new long[ranks];
        long next = origin;
        for (int block = 0; block < ranks; block++) {
            first[block] = next;
            next += lengths[block];
        }
        return first;
    }

    /** Places of blocks: one after the other, or in reverse order with room between them. */
    private long[] offsets(long[] lengths, boolean apart) {
        long[] offsets = new long[ranks];
        long next = 0;
        for (int i = 0; i < ranks; i++) {
            int block = apart ? ranks - 1 - i : i;
            offsets[block] = apart ? next + 1 + block % 3 : next;
            next = offsets[block] + lengths[block];
        }
        return offsets;
    }

    private static long end(long[] lengths, long[] offsets) {
        long end = 0;
        for (int block = 0; block < lengths.length; block++) {
            end = Math.max(end, offsets[block] + lengths[block]);
        }
        return end;
    }

    private long[][] counts() {
        long[][] pairs = new long[ranks][ranks];
        SplittableRandom random = new SplittableRandom(cell.variant());
        int kind = cell.operation().isRagged() ? (cell.variant() >>> 1) % 6 : 0;
        int hot = random.nextInt(ranks);
        for (int from = 0; from < ranks; from++) {
            boolean perPair = cell.operation() == Operation.ALL_TO_ALL_V;
            for (int to = 0; to < ranks; to++) {
                pairs[from][to] = from > 0 && !perPair
                        ? pairs[0][to]
                        : switch (kind) {
                            case 1 -> count * (from + to + 1) / (2 * ranks);
                            case 2 -> to == hot ? count : 0;
                            case 3 -> from == to ? 0 : count;
                            case 4 -> random.nextLong(count + 1);
                            case 5 -> Math.abs(from - to) * count / ranks;
                            default -> count;
                        };
            }
        }
        return pairs;
    }

    /** What one buffer for input and output holds before; also where the operation is not done in place on this rank. */
    List<Block> inPlaceBefore() {
        return switch (cell.operation().collective) {
            case ALL_GATHER, GATHER -> hasIn && hasOut ? List.of(moved(in.getFirst(), outOffsets[rank])) : in;
            default -> in;
        };
    }

    List<Block> inPlaceAfter() {
        return switch (cell.operation().collective) {
            case REDUCE_SCATTER -> {
                List<Block> blocks = new ArrayList<>(in);
                blocks.set(rank, moved(out.getFirst(), inOffsets[rank]));
                yield blocks;
            }
            case SCATTER -> hasIn ? in : out;
            default -> hasOut ? out : in;
        };
    }

    long inPlaceTotal() {
        return switch (cell.operation().collective) {
            case GATHER -> hasOut ? outTotal : inTotal;
            case SCATTER -> hasIn ? inTotal : outTotal;
            default -> Math.max(inTotal, outTotal);
        };
    }

    private static Block moved(Block block, long offset) {
        return new Block(offset, block.count, block.row, block.index);
    }
}
