package dev.tutti.plan;

import dev.tutti.Collective;

/**
 * Where the chunks of a plan of style {@link PlanHeader.Style#POSITIONS} lie for messages of one length.
 *
 * <p>Input and output are blocks: one per rank where the collective says so, else one. Each block is cut on its own, on whole granules,
 * the remainder going to the first chunks, and clipped to its true length, so any length will do. Scratch has slots as long as the
 * longest chunk. At lengths that divide evenly this is what the plan format defines.
 *
 * <pre>
 *   block of 100 bytes, 3 chunks, granule 16    |0       48       80   100|     offsets 0, 48, 80; lengths 48, 32, 20
 *   scratch slots                               |0       48       96      |     each 48
 * </pre>
 */
public final class PlanSizes {
    private final long granule;
    private final long blockBytes;
    private final long blockStride;
    private final int inputChunks;
    private final int outputChunks;
    private final int inputPerBlock;
    private final int outputPerBlock;
    private final long slotBytes;
    private final long inputBytes;
    private final long outputBytes;

    private PlanSizes(
            long granule,
            long blockBytes,
            long blockStride,
            int inputChunks,
            int outputChunks,
            int inputBlocks,
            int outputBlocks,
            boolean balanced) {
        this.granule = granule;
        this.blockBytes = blockBytes;
        this.blockStride = blockStride;
        this.inputChunks = inputChunks;
        this.outputChunks = outputChunks;
        this.inputPerBlock = inputChunks / Math.max(1, inputBlocks);
        this.outputPerBlock = outputChunks / Math.max(1, outputBlocks);
        int cut = inputPerBlock > 0 ? inputPerBlock : outputPerBlock;
        if (cut < 1) {
            throw new IllegalArgumentException("input_chunks and output_chunks are both 0: chunks have no size");
        }
        long granules = (blockBytes + granule - 1) / granule;
        this.slotBytes = (granules + cut - 1) / cut * granule;
        long stride = Math.max(blockBytes, blockStride);
        this.inputBytes = inputChunks == 0 && !balanced ? 0 : inputBlocks * stride;
        // Where nothing ties the two together, every chunk of the output is as long as the longest of the input.
        this.outputBytes = balanced
                ? outputBlocks * stride
                : inputPerBlock == 0 || inputPerBlock == outputPerBlock ? stride : outputChunks * slotBytes;
    }

    /**
     * The sizes for blocks of a given length.
     *
     * @param plan the plan; all of its ranks must cut alike
     * @param blockBytes bytes of one block: the whole input of an all-reduce, one rank's share of an all-gather
     * @param elementBytes bytes of an element; no element is cut
     * @return where everything lies
     */
    public static PlanSizes of(Plan plan, long blockBytes, int elementBytes) {
        return window(plan, blockBytes, blockBytes, elementBytes);
    }

    /**
     * The sizes for a part of every block.
     *
     * @param plan the plan; all of its ranks must cut alike
     * @param bytes bytes of the part
     * @param blockStride from one block to the next
     * @param elementBytes bytes of an element; no element is cut
     * @return where everything lies, counted from the first byte of the first block's part
     */
    public static PlanSizes window(Plan plan, long bytes, long blockStride, int elementBytes) {
        RankPlan first = plan.rank(0);
        for (int rank = 1; rank < plan.ranks(); rank++) {
            RankPlan part = plan.rank(rank);
            if (part.inputChunks() != first.inputChunks() || part.outputChunks() != first.outputChunks()) {
                throw new IllegalArgumentException("rank 0 has " + first.inputChunks() + " chunks of input and "
                        + first.outputChunks() + " of output, rank " + rank + " has " + part.inputChunks() + " and "
                        + part.outputChunks() + ": their chunks have no common size");
            }
        }
        Collective collective = plan.header().collective();
        return new PlanSizes(
                granule(plan.header().alignmentBytes(), elementBytes),
                bytes,
                blockStride,
                first.inputChunks(),
                first.outputChunks(),
                collective == null ? 1 : collective.inputBlocks(plan.ranks()),
                collective == null ? 1 : collective.outputBlocks(plan.ranks()),
                collective != null || plan.header().purpose().equals(PlanHeader.SENDRECV));
    }

    /** The smallest multiple of the alignment that cuts neither elements nor packets of four bytes. */
    private static long granule(int alignment, int elementBytes) {
        long unit = Math.max(4, elementBytes);
        long a = alignment;
        long b = unit;
        while (b != 0) {
            long rest = a % b;
            a = b;
            b = rest;
        }
        return alignment / a * unit;
    }

    /**
     * Chunks, slices and loops begin at multiples of this.
     *
     * @return bytes
     */
    public long granule() {
        return granule;
    }

    /**
     * Length of a slot of scratch, and of the longest chunk.
     *
     * @return bytes, a multiple of the granule
     */
    public long slotBytes() {
        return slotBytes;
    }

    /**
     * Bytes from the first byte of the input to its last.
     *
     * @return bytes
     */
    public long inputBytes() {
        return inputBytes;
    }

    /**
     * Bytes from the first byte of the output to its last.
     *
     * @return bytes
     */
    public long outputBytes() {
        return outputBytes;
    }

    /**
     * Where a chunk begins in its memory.
     *
     * @param space which memory
     * @param chunk index
     * @return offset in bytes
     */
    public long offset(Space space, int chunk) {
        return switch (space) {
            case SCRATCH -> chunk * slotBytes;
            case INPUT -> offset(chunk, inputPerBlock);
            case OUTPUT -> outputPerBlock == cut() ? offset(chunk, outputPerBlock) : chunk * slotBytes;
        };
    }

    /**
     * True length of a chunk.
     *
     * @param space which memory
     * @param chunk index
     * @return bytes; for scratch the whole slot
     */
    public long length(Space space, int chunk) {
        return switch (space) {
            case SCRATCH -> slotBytes;
            case INPUT -> length(chunk, inputPerBlock);
            case OUTPUT -> outputPerBlock == cut() ? length(chunk, outputPerBlock) : slotBytes;
        };
    }

    /**
     * Where part {@code index} of {@code of} begins in a region of whole granules.
     *
     * @param bytes length of the region
     * @param index which part; {@code of} gives the end
     * @param of how many parts
     * @return offset in bytes
     */
    public long slice(long bytes, int index, int of) {
        long granules = bytes / granule;
        return (index * (granules / of) + Math.min(index, granules % of)) * granule;
    }

    private int cut() {
        return inputPerBlock > 0 ? inputPerBlock : outputPerBlock;
    }

    private long offset(int chunk, int perBlock) {
        return chunk / perBlock * blockStride + within(chunk % perBlock, perBlock);
    }

    private long length(int chunk, int perBlock) {
        return within(chunk % perBlock + 1, perBlock) - within(chunk % perBlock, perBlock);
    }

    private long within(int index, int perBlock) {
        long granules = (blockBytes + granule - 1) / granule;
        return Math.min(blockBytes, (index * (granules / perBlock) + Math.min(index, granules % perBlock)) * granule);
    }

    @Override
    public String toString() {
        return inputBytes + " bytes in " + inputChunks + " chunks, " + outputBytes + " bytes out " + outputChunks
                + " chunks, slots of " + slotBytes;
    }
}
