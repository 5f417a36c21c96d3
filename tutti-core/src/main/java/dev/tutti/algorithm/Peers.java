package dev.tutti.algorithm;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.RankBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Lists over peers that many plans need. The most used ones by loops: a stream would be made while a first call waits. */
final class Peers {
    private Peers() {}

    /** Channels to these peers. */
    static int[] channels(RankBuilder me, int... peers) {
        int[] channels = new int[peers.length];
        for (int i = 0; i < peers.length; i++) {
            channels[i] = me.channel(peers[i]);
        }
        return channels;
    }

    /** Peers below this rank, the nearest first. */
    static int[] lower(RankBuilder me) {
        return IntStream.range(0, me.rank()).map(i -> me.rank() - 1 - i).toArray();
    }

    /** Peers above this rank, the nearest first. */
    static int[] higher(RankBuilder me) {
        return IntStream.range(me.rank() + 1, me.size()).toArray();
    }

    /** One slot number in the scratch of each of these peers. */
    static Chunk[] slots(RankBuilder me, int slot, Chunk like, int... peers) {
        Chunk[] slots = new Chunk[peers.length];
        for (int i = 0; i < peers.length; i++) {
            slots[i] = me.scratchOf(peers[i], slot, like);
        }
        return slots;
    }

    /** A chunk, then others: destinations of one operation. */
    static Chunk[] and(Chunk first, Chunk... others) {
        Chunk[] all = new Chunk[others.length + 1];
        all[0] = first;
        System.arraycopy(others, 0, all, 1, others.length);
        return all;
    }

    /** One chunk for each of the ranks {@code 0 … ranks-1}, this rank's being {@code own}: the sources of a fold in rank order. */
    static List<Chunk> inOrder(RankBuilder me, int ranks, Chunk own, IntFunction<Chunk> ofPeer) {
        List<Chunk> sources = new ArrayList<>(ranks);
        for (int rank = 0; rank < ranks; rank++) {
            sources.add(rank == me.rank() ? own : ofPeer.apply(rank));
        }
        return sources;
    }
}
