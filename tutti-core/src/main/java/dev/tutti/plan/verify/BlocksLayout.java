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
import java.util.List;
import org.jspecify.annotations.Nullable;

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

    /** Where part {@code index} of {@code of} begins: on whole granules, the remainder going to the first parts. */
    private static long cut(long bytes, long index, long of) {
        long granules = (bytes + GRANULE - 1) / GRANULE;
        long each = granules / of;
        long rest = granules % of;
        return Math.min(bytes, (index * each + Math.min(index, rest)) * GRANULE);
    }

    @Override
    long unit(Op.Loop loop) {
        return Math.max(GRANULE, loop.unitBytes());
    }

    @Override
    long iterations(Op.Loop loop) {
        return (loop.chunks() * slot + unit(loop) - 1) / unit(loop);
    }

    @Override
    List<Piece> pieces(int actor, Operands operands, @Nullable Loop loop) {
        return List.of(new Piece(
                regions(operands.op(), operands.sources(), operands.plainSources(), loop),
                regions(operands.op(), operands.destinations(), operands.plainDestinations(), loop)));
    }

    private Region[] regions(Op op, List<Chunk> chunks, int plain, @Nullable Loop loop) {
        Region[] regions = new Region[chunks.size()];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = region(op, chunks.get(i), i >= plain, loop);
        }
        return regions;
    }

    private Region region(Op op, Chunk chunk, boolean packet, @Nullable Loop loop) {
        Span whole = place(chunk, packet);
        long offset = whole.offset();
        long bytes = whole.bytes();
        Op.Slice slice = op.slice();
        if (slice != null && bytes >= 0) {
            long from = cut(bytes, slice.index(), slice.of());
            bytes = cut(bytes, slice.index() + 1L, slice.of()) - from;
            offset += from;
        }
        if (loop != null && !packet && bytes >= 0) {
            long along = loop.iteration() * loop.unitBytes();
            bytes = Math.clamp(bytes - along, 0, loop.unitBytes());
            offset += along;
        }
        return chunk.space() == Space.SCRATCH
                ? inScratch(chunk.rank(), offset, bytes, packet)
                : new Region(whole.area(), whole.area(), offset, bytes, packet);
    }

    @Override
    long lead() {
        return LEAD;
    }

    /** First byte and length of a chunk, before slices and loops. */
    private Span place(Chunk chunk, boolean packet) {
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
