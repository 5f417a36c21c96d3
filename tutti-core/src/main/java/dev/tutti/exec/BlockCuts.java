package dev.tutti.exec;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;

/**
 * Where the chunks of a plan of {@link dev.tutti.plan.PlanHeader.Style#BLOCKS} lie in their blocks: cut on whole granules, the remainder
 * going to the first ones, and clipped to the true length.
 */
final class BlockCuts {
    /** Chunks begin at multiples of this many bytes within their block. */
    static final long GRANULE = 64;

    private final RankPlan plan;
    private final Geometry geometry;
    private final boolean pairwise;

    /** The cuts of a piece of a call; {@code pairwise} if only pairs of ranks know how long blocks are. */
    BlockCuts(RankPlan plan, Geometry geometry, boolean pairwise) {
        this.plan = plan;
        this.geometry = geometry;
        this.pairwise = pairwise;
    }

    /** Length of the longest of {@code chunks} chunks of a block. */
    static long maxChunk(long blockBytes, int chunks) {
        long granules = (blockBytes + GRANULE - 1) / GRANULE;
        return Math.min(blockBytes, (granules + chunks - 1) / chunks * GRANULE);
    }

    /**
     * Where a chunk of input or output lies in its memory. Peers' blocks lie where this rank's do, as ragged plans reach only for a
     * peer's only block or for blocks that all ranks lay out alike; how long they are this rank knows from its own end. Where only pairs
     * know, a peer says where its input for this rank begins ({@link PeerBuffers}).
     */
    long offset(Chunk chunk) {
        int within = chunk.index() % plan.chunksPerBlock();
        return start(chunk) + cut(blockBytes(chunk.extent()), within);
    }

    private long start(Chunk chunk) {
        int block = chunk.index() / plan.chunksPerBlock();
        if (chunk.space() != Space.INPUT) {
            return geometry.outputOffset(block);
        }
        return pairwise && chunk.rank() != plan.rank() ? 0 : geometry.inputOffset(block);
    }

    /** How long the data of a chunk is. */
    long length(Chunk chunk) {
        if (chunk.space() == Space.SCRATCH) {
            throw new IllegalArgumentException(chunk + " has no length: say which input or output it is like");
        }
        int within = chunk.index() % plan.chunksPerBlock();
        long bytes = blockBytes(chunk);
        return cut(bytes, within + chunk.count()) - cut(bytes, within);
    }

    private long blockBytes(Chunk chunk) {
        int block = chunk.index() / plan.chunksPerBlock();
        return chunk.space() == Space.INPUT ? geometry.inputBytes(block) : geometry.outputBytes(block);
    }

    /** Where chunk {@code index} of a block begins. */
    private long cut(long blockBytes, int index) {
        long granules = (blockBytes + GRANULE - 1) / GRANULE;
        long each = granules / plan.chunksPerBlock();
        long rest = granules % plan.chunksPerBlock();
        return Math.min(blockBytes, (index * each + Math.min(index, rest)) * GRANULE);
    }
}
