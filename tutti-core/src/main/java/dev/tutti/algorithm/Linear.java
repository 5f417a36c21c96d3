package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.channels;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;

/** The root speaks to everybody directly. */
final class Linear {
    private Linear() {}

    /**
     * Gather: everybody writes its own slot of the root.
     *
     * <pre>
     *   rank 1   x1 ─┐
     *   rank 2   x2 ─┼─► root: x0 | x1 | x2 | x3
     *   rank 3   x3 ─┘
     * </pre>
     *
     * Cost: 1 step, n·S copied by the root.
     */
    static void gather(RankBuilder me) {
        Lane lane = me.scratchSlots(me.size()).lane();
        Chunk own = me.input(0);
        if (me.rank() != me.root()) {
            lane.copy(own, me.scratchOf(me.root(), me.rank(), own)).signal(me.channel(me.root()));
            return;
        }
        lane.copy(own, me.output(me.rank())).await(channels(me, me.peers()));
        for (int peer : me.peers()) {
            lane.copy(me.scratch(peer, me.output(peer)), me.output(peer));
        }
    }

    /**
     * Scatter: the root writes everybody's slot.
     *
     * <pre>
     *                       ┌─► rank 1
     *   root x0 | x1 | x2 ──┼─► rank 2
     *                       └─► rank 3
     * </pre>
     *
     * Cost: 1 step, n·S copied by the root.
     */
    static void scatter(RankBuilder me) {
        Lane lane = me.scratchSlots(1).lane();
        if (me.rank() != me.root()) {
            Chunk result = me.output(0);
            lane.await(me.channel(me.root())).copy(me.scratch(0, result), result);
            return;
        }
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratchOf(peer, 0, me.input(peer)));
        }
        lane.signal(channels(me, me.peers())).copy(me.input(me.rank()), me.output(0));
    }

    /** {@link #gather} in which everybody writes its own scratch and the root reads it there. */
    static void gatherReading(RankBuilder me) {
        Lane lane = me.scratchSlots(1).lane();
        Chunk own = me.input(0);
        if (me.rank() != me.root()) {
            lane.copy(own, me.scratch(0, own)).signal(me.channel(me.root()));
            return;
        }
        lane.copy(own, me.output(me.rank())).await(channels(me, me.peers()));
        for (int peer : me.peers()) {
            lane.copy(me.scratchOf(peer, 0, me.output(peer)), me.output(peer));
        }
    }

    /** {@link #scatter} in which the root writes its own scratch and everybody reads its block there. */
    static void scatterReading(RankBuilder me) {
        Lane lane = me.scratchSlots(me.size()).lane();
        if (me.rank() != me.root()) {
            Chunk result = me.output(0);
            lane.await(me.channel(me.root())).copy(me.scratchOf(me.root(), me.rank(), result), result);
            return;
        }
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratch(peer, me.input(peer)));
        }
        lane.signal(channels(me, me.peers())).copy(me.input(me.rank()), me.output(0));
    }

    /** {@link #gather} with packets. */
    static void gatherPackets(RankBuilder me) {
        Lane lane = me.packets().scratchSlots(me.size()).lane();
        Chunk own = me.input(0);
        if (me.rank() != me.root()) {
            lane.putPackets(own, me.scratchOf(me.root(), me.rank(), own));
            return;
        }
        lane.copy(own, me.output(me.rank()));
        for (int peer : me.peers()) {
            lane.unpack(me.scratch(peer, me.output(peer)), me.output(peer));
        }
    }

    /** {@link #scatter} with packets. */
    static void scatterPackets(RankBuilder me) {
        Lane lane = me.packets().scratchSlots(1).lane();
        if (me.rank() != me.root()) {
            lane.unpack(me.scratch(0, me.output(0)), me.output(0));
            return;
        }
        for (int peer : me.peers()) {
            lane.putPackets(me.input(peer), me.scratchOf(peer, 0, me.input(peer)));
        }
        lane.copy(me.input(me.rank()), me.output(0));
    }
}
