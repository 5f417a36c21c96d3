package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.higher;
import static dev.tutti.algorithm.Peers.inOrder;
import static dev.tutti.algorithm.Peers.slots;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.List;

/**
 * The plans of {@link AllPairs} with packets: data and its flag travel in one word, so nothing is signalled. Slot s of a
 * rank's packets is written by rank s. Pictures and steps are those of {@link AllPairs}; every byte costs two.
 */
final class AllPairsPackets {
    private AllPairsPackets() {}

    static void oneShotAllReduce(RankBuilder me) {
        Lane lane = lane(me, me.size());
        Chunk own = me.input(0);
        send(lane, own, slots(me, me.rank(), own, me.peers()));
        lane.finishReducePackets(inOrder(me, me.size(), own, peer -> me.scratch(peer, own)), me.output(0));
    }

    static void twoShotAllReduce(RankBuilder me) {
        int n = me.size();
        Lane lane = lane(me.chunksPerBlock(n), 2 * n);
        for (int peer : me.peers()) {
            lane.putPackets(me.input(peer), me.scratchOf(peer, me.rank(), me.input(peer)));
        }
        Chunk own = me.input(me.rank());
        Chunk result = me.output(me.rank());
        lane.finishReducePackets(
                inOrder(me, n, own, peer -> me.scratch(peer, own)),
                result,
                slots(me, n + me.rank(), result, me.peers()));
        for (int peer : me.peers()) {
            lane.unpack(me.scratch(n + peer, me.output(peer)), me.output(peer));
        }
    }

    static void oneShotBroadcast(RankBuilder me) {
        Lane lane = lane(me, 1);
        if (me.rank() == me.root()) {
            send(lane, me.input(0), slots(me, 0, me.input(0), me.peers()));
            lane.copy(me.input(0), me.output(0));
        } else {
            lane.unpack(me.scratch(0, me.output(0)), me.output(0));
        }
    }

    static void oneShotAllGather(RankBuilder me) {
        Lane lane = lane(me, me.size());
        Chunk own = me.input(0);
        send(lane, own, slots(me, me.rank(), own, me.peers()));
        lane.copy(own, me.output(me.rank()));
        unpackAll(me, lane);
    }

    static void oneShotReduceScatter(RankBuilder me) {
        Lane lane = lane(me, me.size());
        sendBlocks(me, lane);
        Chunk own = me.input(me.rank());
        lane.finishReducePackets(inOrder(me, me.size(), own, peer -> me.scratch(peer, own)), me.output(0));
    }

    static void oneShotReduce(RankBuilder me) {
        Lane lane = lane(me, me.size());
        Chunk own = me.input(0);
        if (me.rank() == me.root()) {
            lane.finishReducePackets(inOrder(me, me.size(), own, peer -> me.scratch(peer, own)), me.output(0));
        } else {
            lane.putPackets(own, me.scratchOf(me.root(), me.rank(), own));
        }
    }

    static void oneShotAllToAll(RankBuilder me) {
        Lane lane = lane(me, me.size());
        sendBlocks(me, lane);
        lane.copy(me.input(me.rank()), me.output(me.rank()));
        unpackAll(me, lane);
    }

    static void oneShotScan(RankBuilder me) {
        Lane lane = lane(me, me.size());
        Chunk own = me.input(0);
        send(lane, own, slots(me, me.rank(), own, higher(me)));
        lane.finishReducePackets(inOrder(me, me.rank() + 1, own, peer -> me.scratch(peer, own)), me.output(0));
    }

    /** A packet fold takes the rank's own input, which has no part in this: packets are unpacked and then folded as plain data. */
    static void oneShotExscan(RankBuilder me) {
        int n = me.size();
        Lane lane = lane(me.scratchSlots(n), n);
        Chunk own = me.input(0);
        send(lane, own, slots(me, me.rank(), own, higher(me)));
        if (me.rank() == 1) {
            lane.unpack(me.scratch(0, own), me.output(0));
        } else if (me.rank() > 1) {
            List<Chunk> inOrder = inOrder(me, me.rank(), own, peer -> me.scratch(peer, own));
            inOrder.forEach(each -> lane.unpack(each, each));
            lane.finishReduce(inOrder, me.output(0));
        }
    }

    private static Lane lane(RankBuilder me, int slots) {
        return me.packets().scratchSlots(slots).lane();
    }

    private static void send(Lane lane, Chunk source, Chunk... destinations) {
        if (destinations.length > 0) {
            lane.putPackets(source, destinations);
        }
    }

    private static void sendBlocks(RankBuilder me, Lane lane) {
        for (int peer : me.peers()) {
            lane.putPackets(me.input(peer), me.scratchOf(peer, me.rank(), me.input(peer)));
        }
    }

    private static void unpackAll(RankBuilder me, Lane lane) {
        for (int peer : me.peers()) {
            lane.unpack(me.scratch(peer, me.output(peer)), me.output(peer));
        }
    }
}
