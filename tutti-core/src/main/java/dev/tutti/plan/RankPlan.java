package dev.tutti.plan;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one rank does: its lanes, the channels they use, and how much scratch they need.
 *
 * @param rank whose part this is
 * @param ranks how many ranks take part
 * @param inputChunks chunks of the input
 * @param outputChunks chunks of the output
 * @param chunksPerBlock into how many chunks each block of input and output is cut
 * @param scratchChunks chunks of scratch that peers write here
 * @param packetChunks chunks of scratch for packets that peers write here; in plans of files the same as {@code scratchChunks}
 * @param channels this rank's channel ends; operations name them by position
 * @param groups groups of ranks that this rank reaches at once; group operations name them by position
 * @param semaphores initial values
 * @param lanes lists of operations; the lanes of a rank run concurrently
 */
public record RankPlan(
        int rank,
        int ranks,
        int inputChunks,
        int outputChunks,
        int chunksPerBlock,
        int scratchChunks,
        int packetChunks,
        List<Channel> channels,
        List<Group> groups,
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

    /**
     * A switch channel: one memory of several ranks, reached at once.
     *
     * @param space which memory of each rank
     * @param ranks the ranks, in the order in which they are folded
     */
    public record Group(Space space, List<Integer> ranks) {
        /** Keeps its own copy of the list. */
        public Group {
            ranks = List.copyOf(ranks);
        }
    }

    /** Keeps its own copies of the lists. */
    public RankPlan {
        channels = List.copyOf(channels);
        groups = List.copyOf(groups);
        semaphores = List.copyOf(semaphores);
        List<List<Op>> copies = new ArrayList<>(lanes.size());
        for (List<Op> lane : lanes) {
            copies.add(List.copyOf(lane));
        }
        lanes = List.copyOf(copies);
    }

    /**
     * All operations of all lanes, those inside loops too.
     *
     * @return the operations, lane by lane
     */
    public Stream<Op> operations() {
        return lanes.stream().flatMap(List::stream).flatMap(Op::withInner);
    }

    /**
     * How an operation reaches other ranks.
     *
     * @param op an operation of this rank
     * @return the type of its channels; memory if it names none and yet has operands on peers; null if it is local
     */
    public @Nullable ChannelType via(Op op) {
        if (op.code().isGroup()) {
            return ChannelType.SWITCH;
        }
        if (!op.channels().isEmpty()) {
            return channels.get(op.channels().getFirst()).type();
        }
        boolean remote = Stream.concat(op.sources().stream(), op.destinations().stream())
                .anyMatch(chunk -> chunk.rank() != rank);
        return remote ? ChannelType.MEMORY : null;
    }

    /**
     * Whether peers see anything of what this rank does: a signal, or data in their memory or in scratch that they may read.
     *
     * @return false for ranks that only read, or are alone
     */
    public boolean writesPeers() {
        for (List<Op> lane : lanes) {
            if (writesPeers(lane)) {
                return true;
            }
        }
        return false;
    }

    /** Loops, not streams: the first call of every kind comes here before anything is compiled. */
    private boolean writesPeers(List<Op> ops) {
        for (Op op : ops) {
            if (op.code().signals()
                    || (op.loop() != null && writesPeers(op.loop().body()))) {
                return true;
            }
            for (Chunk chunk : op.destinations()) {
                if (chunk.rank() != rank || chunk.space() == Space.SCRATCH) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Whether all that peers see of this rank is what it shows at once: it writes its own memory alone, signals at most once, after
     * everything that it writes to its scratch, and waits at most once for each peer.
     *
     * @return true if one lane does all that
     */
    boolean isPosting() {
        if (lanes.size() != 1 || !groups.isEmpty()) {
            return false;
        }
        boolean signalled = false;
        Set<Integer> awaited = new HashSet<>();
        for (Op op : lanes.getFirst()) {
            switch (op.code()) {
                case SIGNAL -> {
                    if (signalled) {
                        return false;
                    }
                    signalled = true;
                }
                case WAIT -> {
                    for (int id : op.channels()) {
                        if (!awaited.add(channels.get(id).peer())) {
                            return false;
                        }
                    }
                }
                case COPY, GET, REDUCE, READ_REDUCE -> {
                    for (Chunk chunk : op.destinations()) {
                        if (chunk.rank() != rank || (chunk.space() == Space.SCRATCH && signalled)) {
                            return false;
                        }
                    }
                }
                default -> {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Whether this rank reads or writes the input or output of another.
     *
     * @return true if it needs to know where its peers' buffers are
     */
    public boolean reachesPeersBuffers() {
        return operations()
                .flatMap(op -> Stream.concat(op.sources().stream(), op.destinations().stream()))
                .anyMatch(chunk -> chunk.rank() != rank && chunk.space() != Space.SCRATCH);
    }
}
