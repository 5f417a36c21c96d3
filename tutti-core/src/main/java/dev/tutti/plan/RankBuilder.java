package dev.tutti.plan;

import dev.tutti.Collective;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the part of one rank. An algorithm is a method that takes one of these and says what rank {@link #rank()} of
 * {@link #size()} does; it is run once for every rank that is needed, so a plan for ten thousand ranks costs one rank's
 * share.
 *
 * {@snippet :
 * // Everybody sends its input to everybody and folds what arrives, in rank order.
 * static void oneShot(RankBuilder me) {
 *     Lane lane = me.lane();
 *     for (int peer : me.peers()) {
 *         lane.copy(me.input(0), me.scratchOf(peer, me.rank(), me.input(0)));
 *         lane.signal(me.channel(peer));
 *     }
 *     List<Chunk> inOrder = new ArrayList<>();
 *     for (int rank = 0; rank < me.size(); rank++) {
 *         if (rank != me.rank()) {
 *             lane.await(me.channel(rank));
 *         }
 *         inOrder.add(rank == me.rank() ? me.input(0) : me.scratch(rank, me.input(0)));
 *     }
 *     lane.finishReduce(inOrder, me.output(0));
 * }
 * }
 */
public final class RankBuilder {
    private final int rank;
    private final int size;
    private final int root;
    private final List<RankPlan.Channel> channels = new ArrayList<>();
    private final List<Integer> semaphores = new ArrayList<>();
    private final List<Lane> lanes = new ArrayList<>();
    private int chunksPerBlock = 1;
    private int scratchChunks;
    private int packetChunks;
    private boolean packets;

    /**
     * Starts the part of one rank.
     *
     * @param rank whose part
     * @param size how many ranks take part
     * @param root the root of a rooted collective, else 0
     */
    public RankBuilder(int rank, int size, int root) {
        if (size < 1 || rank < 0 || rank >= size || root < 0 || root >= size) {
            throw new IllegalArgumentException("rank " + rank + " and root " + root + " must be in 0.." + (size - 1));
        }
        this.rank = rank;
        this.size = size;
        this.root = root;
    }

    /**
     * The rank that is written.
     *
     * @return 0 to size-1
     */
    public int rank() {
        return rank;
    }

    /**
     * The number of ranks.
     *
     * @return at least 1
     */
    public int size() {
        return size;
    }

    /**
     * The root of a rooted collective.
     *
     * @return 0 to size-1
     */
    public int root() {
        return root;
    }

    /**
     * The other ranks, starting after this one, so that ranks do not all begin with the same peer.
     *
     * @return size-1 ranks
     */
    public int[] peers() {
        int[] peers = new int[size - 1];
        for (int i = 0; i < peers.length; i++) {
            peers[i] = (rank + 1 + i) % size;
        }
        return peers;
    }

    /**
     * Says into how many chunks each block of input and output is cut; 1 if never called.
     *
     * @param chunks chunks per block
     * @return this builder
     */
    public RankBuilder chunksPerBlock(int chunks) {
        chunksPerBlock = chunks;
        return this;
    }

    /**
     * Says that scratch holds packets; it has to be called before scratch is named.
     *
     * @return this builder
     */
    public RankBuilder packets() {
        packets = true;
        return this;
    }

    /**
     * A chunk of this rank's input.
     *
     * @param index chunk, counted over all blocks
     * @return the chunk
     */
    public Chunk input(int index) {
        return new Chunk(rank, Space.INPUT, index, 1, null);
    }

    /**
     * A chunk of this rank's output.
     *
     * @param index chunk, counted over all blocks
     * @return the chunk
     */
    public Chunk output(int index) {
        return new Chunk(rank, Space.OUTPUT, index, 1, null);
    }

    /**
     * A chunk of a peer's input, for plans that {@linkplain Reach reach} there.
     *
     * @param peer whose input
     * @param index chunk, counted over all blocks of the peer's input
     * @param like chunk of <em>this</em> rank's input or output with the same length
     * @return the chunk
     */
    public Chunk inputOf(int peer, int index, Chunk like) {
        return peer == rank ? input(index) : new Chunk(peer, Space.INPUT, index, 1, like);
    }

    /**
     * A chunk of a peer's output, for plans that {@linkplain Reach reach} there.
     *
     * @param peer whose output
     * @param index chunk, counted over all blocks of the peer's output
     * @param like chunk of <em>this</em> rank's input or output with the same length
     * @return the chunk
     */
    public Chunk outputOf(int peer, int index, Chunk like) {
        return peer == rank ? output(index) : new Chunk(peer, Space.OUTPUT, index, 1, like);
    }

    /**
     * Scratch of this rank that holds data as long as {@code like}.
     *
     * @param slot which chunk of scratch
     * @param like chunk of this rank's input or output with the same length
     * @return the chunk
     */
    public Chunk scratch(int slot, Chunk like) {
        if (packets) {
            packetChunks = Math.max(packetChunks, slot + 1);
        } else {
            scratchChunks = Math.max(scratchChunks, slot + 1);
        }
        return new Chunk(rank, Space.SCRATCH, slot, 1, like);
    }

    /**
     * Scratch of a peer. Every rank has the same number of slots, so this rank's count grows too.
     *
     * @param peer whose scratch
     * @param slot which chunk of scratch
     * @param like chunk of <em>this</em> rank's input or output with the same length
     * @return the chunk
     */
    public Chunk scratchOf(int peer, int slot, Chunk like) {
        scratch(slot, like);
        return new Chunk(peer, Space.SCRATCH, slot, 1, like);
    }

    /**
     * Makes sure that at least this many slots are reserved, for ranks that name fewer than their peers do.
     *
     * @param slots number of scratch slots that all ranks agree on
     * @return this builder
     */
    public RankBuilder scratchSlots(int slots) {
        if (packets) {
            packetChunks = Math.max(packetChunks, slots);
        } else {
            scratchChunks = Math.max(scratchChunks, slots);
        }
        return this;
    }

    /**
     * The first memory channel to a peer.
     *
     * @param peer the other end
     * @return its id, for {@link Lane#signal} and {@link Lane#await}
     */
    public int channel(int peer) {
        for (int id = 0; id < channels.size(); id++) {
            if (channels.get(id).peer() == peer) {
                return id;
            }
        }
        return newChannel(ChannelType.MEMORY, peer);
    }

    /**
     * One more channel to a peer, joined to the peer's next one to this rank.
     *
     * @param type how the two are joined
     * @param peer the other end
     * @return its id
     */
    public int newChannel(ChannelType type, int peer) {
        if (peer < 0 || peer >= size || peer == rank) {
            throw new IllegalArgumentException("rank " + rank + " of " + size + " has no channel to " + peer);
        }
        int ordinal = 0;
        for (RankPlan.Channel channel : channels) {
            ordinal += channel.type() == type && channel.peer() == peer ? 1 : 0;
        }
        channels.add(new RankPlan.Channel(type, peer, ordinal));
        return channels.size() - 1;
    }

    /**
     * A semaphore between lanes of this rank.
     *
     * @param initial its first value
     * @return its id
     */
    public int semaphore(int initial) {
        semaphores.add(initial);
        return semaphores.size() - 1;
    }

    /**
     * The first lane.
     *
     * @return lane 0
     */
    public Lane lane() {
        return lane(0);
    }

    /**
     * A lane by its number; lanes in between are made too.
     *
     * @param id 0 or more
     * @return the lane
     */
    public Lane lane(int id) {
        while (lanes.size() <= id) {
            lanes.add(new Lane(this));
        }
        return lanes.get(id);
    }

    /**
     * What has been written so far.
     *
     * @param collective tells in how many blocks input and output lie
     * @return the part of this rank
     */
    public RankPlan build(Collective collective) {
        List<List<Op>> ops = new ArrayList<>(lanes.size());
        for (Lane lane : lanes) {
            ops.add(lane.ops());
        }
        return new RankPlan(
                rank,
                size,
                collective.inputBlocks(size) * chunksPerBlock,
                collective.outputBlocks(size) * chunksPerBlock,
                chunksPerBlock,
                scratchChunks,
                packetChunks,
                channels,
                List.of(),
                semaphores,
                ops);
    }

    void requireScratch(@Nullable Chunk chunk) {
        if (chunk == null || chunk.space() != Space.SCRATCH) {
            throw new IllegalArgumentException("packets live in scratch only, got " + chunk);
        }
    }
}
