package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.and;
import static dev.tutti.algorithm.Peers.channels;
import static dev.tutti.algorithm.Peers.higher;
import static dev.tutti.algorithm.Peers.inOrder;
import static dev.tutti.algorithm.Peers.lower;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;

/**
 * Every rank writes its data once, into its own scratch, and its peers read it there: where {@link AllPairs} writes a copy for
 * each peer, this writes one. Only for ranks that can read each other's memory. A rank signals all its readers, so it does not
 * write the slot again before they are through. All folds are in rank order.
 */
final class AllPairsRead {
    private AllPairsRead() {}

    /**
     * All-reduce in one step.
     *
     * <pre>
     *   rank 0   x0 ─► [x0] ◄─┐
     *   rank 1   x1 ─► [x1] ◄─┼─ every rank folds x0+x1+x2 from where they lie
     *   rank 2   x2 ─► [x2] ◄─┘
     * </pre>
     *
     * Cost: 1 step, S copied, n·S folded.
     */
    static void oneShotAllReduce(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Chunk own = me.input(0);
        Lane lane = me.scratchSlots(1).lane();
        if (me.size() > 1) {
            lane.copy(own, me.scratch(0, own)).signal(channels).await(channels);
        }
        lane.finishReduce(inOrder(me, me.size(), own, peer -> me.scratchOf(peer, 0, own)), me.output(0));
    }

    /**
     * All-reduce in two steps: rank r folds chunk r of everybody and leaves the result in its own slot r.
     *
     * <pre>
     *            slot 0  slot 1  slot 2                 slot 0  slot 1  slot 2
     *   rank 0           x0      x0      ──fold 0──►    s0
     *   rank 1   x1              x1      ──fold 1──►            s1              everybody copies s0, s1, s2
     *   rank 2   x2      x2              ──fold 2──►                    s2
     * </pre>
     *
     * Cost: 2 steps, S·(2n-1)/n copied, S folded.
     */
    static void twoShotAllReduce(RankBuilder me) {
        int n = me.size();
        int r = me.rank();
        int[] channels = channels(me, me.peers());
        Lane lane = me.chunksPerBlock(n).scratchSlots(n).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratch(peer, me.input(peer)));
        }
        lane.signal(channels).await(channels);
        Chunk own = me.input(r);
        Chunk result = me.output(r);
        Chunk[] shown = n == 1 ? new Chunk[0] : new Chunk[] {me.scratch(r, result)};
        lane.finishReduce(inOrder(me, n, own, peer -> me.scratchOf(peer, r, own)), and(result, shown));
        lane.signal(channels).await(channels);
        for (int peer : me.peers()) {
            lane.copy(me.scratchOf(peer, peer, me.output(peer)), me.output(peer));
        }
    }

    /**
     * Broadcast in one step: the root writes once, everybody reads.
     *
     * <pre>
     *   root   x ─► [x] ◄─┬─ rank 1
     *                     ├─ rank 2
     *                     └─ rank 3
     * </pre>
     *
     * Cost: 1 step, 2·S copied.
     */
    static void oneShotBroadcast(RankBuilder me) {
        Lane lane = me.scratchSlots(1).lane();
        if (me.rank() != me.root()) {
            Chunk result = me.output(0);
            lane.await(me.channel(me.root())).copy(me.scratchOf(me.root(), 0, result), result);
        } else if (me.size() > 1) {
            lane.copy(me.input(0), me.scratch(0, me.input(0))).signal(channels(me, me.peers()));
            lane.copy(me.input(0), me.output(0));
        } else {
            lane.copy(me.input(0), me.output(0));
        }
    }

    /**
     * Reduce in one step: everybody writes once, the root folds.
     *
     * <pre>
     *   rank 1   x1 ─► [x1] ◄─┐
     *   rank 2   x2 ─► [x2] ◄─┼─ root folds x0+x1+x2+x3
     *   rank 3   x3 ─► [x3] ◄─┘
     * </pre>
     *
     * Cost: 1 step, S copied, n·S folded by the root.
     */
    static void oneShotReduce(RankBuilder me) {
        Chunk own = me.input(0);
        Lane lane = me.scratchSlots(1).lane();
        if (me.rank() != me.root()) {
            lane.copy(own, me.scratch(0, own)).signal(me.channel(me.root()));
            return;
        }
        lane.await(channels(me, me.peers()));
        lane.finishReduce(inOrder(me, me.size(), own, peer -> me.scratchOf(peer, 0, own)), me.output(0));
    }

    /**
     * All-gather in one step: everybody writes its block once and reads everybody's.
     *
     * <pre>
     *   rank 0   x0 ─► [x0] ◄─┐
     *   rank 1   x1 ─► [x1] ◄─┼─ every rank copies x0 | x1 | x2
     *   rank 2   x2 ─► [x2] ◄─┘
     * </pre>
     *
     * Cost: 1 step, (n+1)·S copied.
     */
    static void oneShotAllGather(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Chunk own = me.input(0);
        Lane lane = me.scratchSlots(1).lane();
        if (me.size() > 1) {
            lane.copy(own, me.scratch(0, own)).signal(channels);
        }
        lane.copy(own, me.output(me.rank())).await(channels);
        for (int peer : me.peers()) {
            lane.copy(me.scratchOf(peer, 0, me.output(peer)), me.output(peer));
        }
    }

    /**
     * Reduce-scatter in one step: everybody shows the others' blocks and folds its own of everybody's.
     *
     * <pre>
     *   rank 0        x0 x0 ◄─┐
     *   rank 1   x1      x1 ◄─┼─ rank r folds block r from where they lie
     *   rank 2   x2 x2      ◄─┘
     * </pre>
     *
     * Cost: 1 step, (n-1)·S copied, n·S folded.
     */
    static void oneShotReduceScatter(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Lane lane = me.scratchSlots(me.size() - 1).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratch(slot(me.rank(), peer), me.input(peer)));
        }
        if (me.size() > 1) {
            lane.signal(channels).await(channels);
        }
        Chunk own = me.input(me.rank());
        lane.finishReduce(
                inOrder(me, me.size(), own, peer -> me.scratchOf(peer, slot(peer, me.rank()), own)), me.output(0));
    }

    /**
     * All-to-all in one step: everybody shows the others' blocks and takes its own of everybody's.
     *
     * <pre>
     *   rank 0        x1 x2 ◄─┐
     *   rank 1   y0      y2 ◄─┼─ rank r copies block r from where they lie
     *   rank 2   z0 z1      ◄─┘
     * </pre>
     *
     * Cost: 1 step, 2·n·S copied.
     */
    static void oneShotAllToAll(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Lane lane = me.scratchSlots(me.size() - 1).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratch(slot(me.rank(), peer), me.input(peer)));
        }
        if (me.size() > 1) {
            lane.signal(channels);
        }
        lane.copy(me.input(me.rank()), me.output(me.rank()));
        if (me.size() > 1) {
            lane.await(channels);
        }
        for (int peer : me.peers()) {
            lane.copy(me.scratchOf(peer, slot(peer, me.rank()), me.output(peer)), me.output(peer));
        }
    }

    /**
     * Scan in one step: everybody writes its part once and folds those of the ranks up to itself.
     *
     * <pre>
     *   rank 0   x0 ─► [x0] ◄─┬──┐
     *   rank 1   x1 ─► [x1] ◄─┼──┤   rank 1 folds x0+x1
     *   rank 2   x2               └─  rank 2 folds x0+x1+x2
     * </pre>
     *
     * Cost: 1 step, S copied, n·S folded by the last.
     */
    static void oneShotScan(RankBuilder me) {
        Chunk own = me.input(0);
        show(me, own);
        me.lane().finishReduce(inOrder(me, me.rank() + 1, own, peer -> me.scratchOf(peer, 0, own)), me.output(0));
    }

    /** Like {@link #oneShotScan}, without the rank's own part; rank 0's output stays as it was. */
    static void oneShotExscan(RankBuilder me) {
        Chunk own = me.input(0);
        show(me, own);
        if (me.rank() > 0) {
            me.lane().finishReduce(inOrder(me, me.rank(), own, peer -> me.scratchOf(peer, 0, own)), me.output(0));
        }
    }

    /** Where a rank shows another's block: it has no slot for its own. */
    private static int slot(int owner, int rank) {
        return rank < owner ? rank : rank - 1;
    }

    private static void show(RankBuilder me, Chunk own) {
        Lane lane = me.scratchSlots(1).lane();
        if (me.rank() < me.size() - 1) {
            lane.copy(own, me.scratch(0, own)).signal(channels(me, higher(me)));
        }
        lane.await(channels(me, lower(me)));
    }
}
