package dev.tutti.plan;

import java.util.List;

/**
 * What one rank does: its lanes, the channels they use, and how much scratch they need.
 *
 * @param rank whose part this is
 * @param ranks how many ranks take part
 * @param chunksPerBlock into how many chunks each block of input and output is cut
 * @param scratchChunks chunks of scratch that peers write here
 * @param packetChunks chunks of scratch for packets that peers write here
 * @param channels this rank's channel ends; operations name them by position
 * @param semaphores initial values
 * @param lanes lists of operations; the lanes of a rank run concurrently
 */
public record RankPlan(
        int rank,
        int ranks,
        int chunksPerBlock,
        int scratchChunks,
        int packetChunks,
        List<Channel> channels,
        List<Integer> semaphores,
        List<List<Op>> lanes) {

    /**
     * One end of a channel. The k-th channel of a type from a to b is joined to the k-th of that type from b to a.
     *
     * @param type how the two are joined
     * @param peer the rank at the other end
     * @param ordinal k: how many channels of the same type to the same peer come before it
     */
    public record Channel(ChannelType type, int peer, int ordinal) {}

    /** Keeps its own copies of the lists. */
    public RankPlan {
        channels = List.copyOf(channels);
        semaphores = List.copyOf(semaphores);
        lanes = lanes.stream().map(List::copyOf).toList();
    }

    /**
     * Whether peers see anything of what this rank does: a signal, or data in their memory or in scratch that they may read.
     *
     * @return false for ranks that only read, or are alone
     */
    public boolean writesPeers() {
        return lanes.stream()
                .flatMap(List::stream)
                .anyMatch(op -> op.code() == Code.SIGNAL
                        || op.code() == Code.RELAXED_SIGNAL
                        || op.destinations().stream()
                                .anyMatch(chunk -> chunk.rank() != rank || chunk.space() == Space.SCRATCH));
    }
}
