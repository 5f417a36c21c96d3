package dev.tutti.plan.simulate;

import dev.tutti.Collective;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;

/**
 * How many bytes the chunks of a plan have for one message, as the executor cuts them. A message too long for one launch of a
 * plan of blocks goes through in windows: all full but the last.
 */
final class Layout {
    /** Every window but the last. */
    static final int FULL = 0;
    /** The last window, or the only one. */
    static final int LAST = 1;

    private static final int GRANULE = 16;

    private final boolean blocks;
    private final int alignment;
    private final long inputBytes;
    private final long outputBytes;
    private final long[] windowBytes = new long[2];
    private final long rounds;

    Layout(Plan plan, RankPlan first, long messageBytes, long chunkBytes) {
        PlanHeader header = plan.header();
        Collective collective = header.collective();
        int ranks = plan.ranks();
        this.blocks = header.style() == PlanHeader.Style.BLOCKS;
        this.alignment = blocks ? GRANULE : header.alignmentBytes();
        int inputBlocks = collective == null ? 1 : collective.inputBlocks(ranks);
        int outputBlocks = collective == null ? 1 : collective.outputBlocks(ranks);
        boolean perRank = Math.max(inputBlocks, outputBlocks) > 1;
        long blockBytes = perRank ? messageBytes / ranks : messageBytes;
        this.inputBytes = collective == null ? messageBytes : blockBytes * inputBlocks;
        this.outputBytes = collective == null ? messageBytes : blockBytes * outputBlocks;
        long window = blocks ? chunkBytes * first.chunksPerBlock() : Long.MAX_VALUE;
        this.rounds = Math.max(1, (blockBytes - 1) / window + 1);
        this.windowBytes[FULL] = Math.min(window, blockBytes);
        this.windowBytes[LAST] = blockBytes - (rounds - 1) * window;
    }

    /** Launches that the message takes. */
    long rounds() {
        return rounds;
    }

    /** Bytes of one rank's input and output. */
    long userBytes(boolean inPlace) {
        return inPlace ? Math.max(inputBytes, outputBytes) : inputBytes + outputBytes;
    }

    /** Bytes of an operand of an operation, its lanes' slice considered. */
    long bytes(RankPlan part, Op op, Chunk operand, int window) {
        return end(part, op, operand, window) - start(part, op, operand, window);
    }

    /** Where an operand begins, in a scale on which packets that overlap have overlapping ranges. */
    long start(RankPlan part, Op op, Chunk operand, int window) {
        long first = first(part, operand);
        return first + slice(op, length(part, operand, window), false);
    }

    long end(RankPlan part, Op op, Chunk operand, int window) {
        long first = first(part, operand);
        return first + slice(op, length(part, operand, window), true);
    }

    /** How often a loop runs. */
    long iterations(RankPlan part, Op.Loop loop) {
        int chunks = Math.max(1, part.inputChunks() > 0 ? part.inputChunks() : part.outputChunks());
        long total = part.inputChunks() > 0 ? inputBytes : outputBytes;
        long unit = ceil(ceil(total, alignment), chunks) * alignment;
        return ceil(loop.chunks() * unit, Math.max(1, loop.unitBytes()));
    }

    private long first(RankPlan part, Chunk operand) {
        if (!blocks) {
            return cut(part, operand.index());
        }
        return (long) operand.index() << 40;
    }

    private long length(RankPlan part, Chunk operand, int window) {
        if (!blocks) {
            return cut(part, operand.index() + operand.count()) - cut(part, operand.index());
        }
        Chunk extent = operand.extent();
        if (extent.space() == Space.SCRATCH) {
            throw new IllegalArgumentException(operand + " has no length: say which input or output it is like");
        }
        int within = extent.index() % part.chunksPerBlock();
        return blockCut(part, window, within + extent.count()) - blockCut(part, window, within);
    }

    private long blockCut(RankPlan part, int window, int index) {
        long granules = ceil(windowBytes[window], GRANULE);
        int chunks = part.chunksPerBlock();
        long offset = index * (granules / chunks) + Math.min(index, granules % chunks);
        return Math.min(windowBytes[window], offset * GRANULE);
    }

    /** All chunks of a plan file have one size, scratch included. */
    private long cut(RankPlan part, int index) {
        boolean byInput = part.inputChunks() > 0;
        int chunks = byInput ? part.inputChunks() : part.outputChunks();
        if (chunks == 0) {
            throw new IllegalArgumentException(
                    "rank " + part.rank() + " has chunks of neither input nor output: there is no size to simulate");
        }
        long granules = ceil(byInput ? inputBytes : outputBytes, alignment);
        return (index * (granules / chunks) + Math.min(index, granules % chunks)) * alignment;
    }

    private long slice(Op op, long length, boolean end) {
        Op.Slice slice = op.slice();
        if (slice == null) {
            return end ? length : 0;
        }
        int index = end ? slice.index() + 1 : slice.index();
        long granules = ceil(length, alignment);
        return Math.min(length, (index * (granules / slice.of()) + Math.min(index, granules % slice.of())) * alignment);
    }

    private static long ceil(long value, long by) {
        return (value + by - 1) / by;
    }
}
