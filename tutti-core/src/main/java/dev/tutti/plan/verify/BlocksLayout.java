package dev.tutti.plan.verify;

import dev.tutti.Collective;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import dev.tutti.plan.verify.Expectation.Purpose;
import dev.tutti.plan.verify.Script.Span;
import java.util.Arrays;

/**
 * Sizes as Tutti's own plans have them: blocks of any length cut into chunks; scratch is slots, as long as the chunk that each
 * is like.
 */
final class BlocksLayout extends Layout {
    /** The executor cuts at 64; where the cuts are does not matter, only which chunks are empty or shorter. */
    private static final long GRANULE = 4;

    private static final long LEAD = 4;

    /** Lengths of the blocks of each rank, in bytes. */
    record Lengths(long[][] inputs, long[][] outputs) {}

    private final Lengths lengths;
    private final long slot;

    BlocksLayout(Plan plan, String label, Lengths lengths, boolean inPlace) {
        super(plan, label + (inPlace ? ", in place" : ""), expectation(plan, lengths));
        this.lengths = lengths;
        long longest = 0;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            longest =
                    Math.max(longest, Arrays.stream(lengths.inputs[rank]).max().orElse(0));
            longest =
                    Math.max(longest, Arrays.stream(lengths.outputs[rank]).max().orElse(0));
        }
        this.slot = LEAD + longest + GRANULE;
        for (RankPlan part : plan.all()) {
            place(part, inPlace);
        }
    }

    private void place(RankPlan part, boolean inPlace) {
        int rank = part.rank();
        long inputBytes = Arrays.stream(lengths.inputs[rank]).sum();
        long outputBytes = Arrays.stream(lengths.outputs[rank]).sum();
        if (inPlace && inputBytes > 0 && outputBytes > 0) {
            int area = area(rank, "io", Math.max(inputBytes, outputBytes));
            long shiftInput =
                    lengths.inputs[rank].length < lengths.outputs[rank].length ? start(lengths.outputs[rank], rank) : 0;
            long shiftOutput =
                    lengths.outputs[rank].length < lengths.inputs[rank].length ? start(lengths.inputs[rank], rank) : 0;
            inputs[rank] = new Span(area, shiftInput, inputBytes);
            outputs[rank] = new Span(area, shiftOutput, outputBytes);
        } else {
            inputs[rank] = new Span(area(rank, "i", inputBytes), 0, inputBytes);
            outputs[rank] = new Span(area(rank, "o", outputBytes), 0, outputBytes);
        }
        scratch[rank] = halves(rank, "s", part.scratchChunks() * slot, true);
        packets[rank] = halves(rank, "s(packets)", part.packetChunks() * slot, true);
    }

    private static long start(long[] blocks, int block) {
        return Arrays.stream(blocks, 0, block).sum();
    }

    @Override
    long granule() {
        return GRANULE;
    }

    @Override
    long iterations(int rank, Op.Loop loop) {
        return (loop.chunks() * slot + loop.unitBytes() - 1) / loop.unitBytes();
    }

    @Override
    long lead() {
        return LEAD;
    }

    @Override
    Span place(int actor, Chunk chunk, boolean packet) {
        Chunk extent = chunk.extent();
        long bytes = extent.space() == Space.SCRATCH ? -1 : length(extent);
        if (chunk.space() == Space.SCRATCH) {
            return new Span(-1, chunk.index() * slot + (packet ? LEAD : 0), bytes);
        }
        Span buffer = (chunk.space() == Space.INPUT ? inputs : outputs)[chunk.rank()];
        long[] blocks = blocks(chunk);
        int perBlock = plan.rank(chunk.rank()).chunksPerBlock();
        int block = chunk.index() / perBlock;
        if (block >= blocks.length) {
            return new Span(buffer.area(), -1, bytes);
        }
        return new Span(
                buffer.area(),
                buffer.offset() + start(blocks, block) + cut(blocks[block], chunk.index() % perBlock, perBlock),
                bytes);
    }

    private long[] blocks(Chunk chunk) {
        return (chunk.space() == Space.INPUT ? lengths.inputs : lengths.outputs)[chunk.rank()];
    }

    /** Length of a chunk of input or output; -1 if there is no such chunk. */
    private long length(Chunk chunk) {
        long[] blocks = blocks(chunk);
        int perBlock = plan.rank(chunk.rank()).chunksPerBlock();
        int block = chunk.index() / perBlock;
        int within = chunk.index() % perBlock;
        if (block >= blocks.length || within + chunk.count() > perBlock) {
            return -1;
        }
        return cut(blocks[block], within + chunk.count(), perBlock) - cut(blocks[block], within, perBlock);
    }

    private static Expectation expectation(Plan plan, Lengths lengths) {
        int ranks = plan.ranks();
        long[][] inputOffsets = new long[ranks][];
        long[][] outputOffsets = new long[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            inputOffsets[rank] = offsets(lengths.inputs[rank]);
            outputOffsets[rank] = offsets(lengths.outputs[rank]);
        }
        Collective collective = plan.collective();
        boolean finishes = collective.isReducing() && collective != Collective.SCAN && collective != Collective.EXSCAN;
        return new Expectation(
                Purpose.of(collective), plan.root(), inputOffsets, outputOffsets, lengths.outputs, finishes);
    }

    private static long[] offsets(long[] blocks) {
        long[] offsets = new long[blocks.length];
        for (int block = 1; block < blocks.length; block++) {
            offsets[block] = offsets[block - 1] + blocks[block - 1];
        }
        return offsets;
    }
}
