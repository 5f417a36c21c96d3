package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.and;
import static dev.tutti.algorithm.Peers.channels;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.List;

/**
 * Every rank speaks to its two neighbours only: the fewest bytes there are, in the most steps. Chunk c is folded on its
 * way from rank c+1 round to rank c, so the order of a fold depends on the chunk.
 *
 * <pre>
 *   ┌─► 0 ──► 1 ──► 2 ──► 3 ─┐      step s: rank r passes chunk r-1-s on
 *   └────────────────────────┘
 * </pre>
 *
 * Slot s of the first n-1 is written in step s of the reduction, slot n-1+s in step s of the gathering.
 */
final class Ring {
    private Ring() {}

    /**
     * Reduce-scatter, then all-gather.
     *
     * <p>Cost: 2(n-1) steps, S·(2n-1)/n copied, 2·S·(n-1)/n folded.
     */
    static void allReduce(RankBuilder me) {
        int n = me.size();
        me.chunksPerBlock(n).scratchSlots(2 * (n - 1));
        Chunk result = me.output(me.rank());
        finish(me, n == 1 ? new Chunk[] {result} : new Chunk[] {result, me.scratchOf(next(me), n - 1, result)});
        passOn(me, n - 1);
    }

    /**
     * Reduce-scatter: block r ends on rank r.
     *
     * <p>Cost: n-1 steps, S copied, 2(n-1)·S folded.
     */
    static void reduceScatter(RankBuilder me) {
        me.scratchSlots(me.size() - 1);
        finish(me, me.output(0));
    }

    /**
     * Reduce-scatter, then every rank sends its chunk to the root.
     *
     * <p>Cost: n steps, S copied, 2·S·(n-1)/n folded.
     */
    static void reduce(RankBuilder me) {
        int n = me.size();
        int slots = n - 1;
        Lane lane = me.chunksPerBlock(n).scratchSlots(slots + n).lane();
        if (me.rank() == me.root()) {
            finish(me, me.output(me.rank()));
            lane.await(channels(me, me.peers()));
            for (int peer : me.peers()) {
                lane.copy(me.scratch(slots + peer, me.output(peer)), me.output(peer));
            }
        } else {
            finish(me, me.scratchOf(me.root(), slots + me.rank(), me.input(me.rank())));
            lane.signal(me.channel(me.root()));
        }
    }

    /**
     * Every block goes round once.
     *
     * <p>Cost: n-1 steps, 2(n-1)·S copied.
     */
    static void allGather(RankBuilder me) {
        me.scratchSlots(me.size() - 1);
        Chunk own = me.input(0);
        Chunk result = me.output(me.rank());
        me.lane().copy(own, me.size() == 1 ? and(result) : and(result, me.scratchOf(next(me), 0, own)));
        passOn(me, 0);
    }

    /** Folds every chunk on its way; this rank's own chunk ends in the destinations. */
    private static void finish(RankBuilder me, Chunk... destinations) {
        int n = me.size();
        Lane lane = me.lane();
        if (n > 1) {
            Chunk first = me.input(Math.floorMod(me.rank() - 1, n));
            lane.copy(first, me.scratchOf(next(me), 0, first)).signal(me.channel(next(me)));
        }
        for (int step = 0; step < n - 2; step++) {
            Chunk own = me.input(Math.floorMod(me.rank() - 2 - step, n));
            lane.await(me.channel(previous(me)));
            lane.reduce(List.of(me.scratch(step, own), own), me.scratchOf(next(me), step + 1, own));
            lane.signal(me.channel(next(me)));
        }
        Chunk own = me.input(me.rank());
        if (n == 1) {
            lane.finishReduce(List.of(own), destinations);
        } else {
            lane.await(me.channel(previous(me)));
            lane.finishReduce(List.of(me.scratch(n - 2, own), own), destinations);
        }
    }

    /** The gathering half: this rank's own chunk is already in the next one's first slot, not yet signalled. */
    private static void passOn(RankBuilder me, int firstSlot) {
        int n = me.size();
        Lane lane = me.lane();
        for (int step = 0; step < n - 1; step++) {
            Chunk result = me.output(Math.floorMod(me.rank() - 1 - step, n));
            Chunk arrived = me.scratch(firstSlot + step, result);
            lane.signal(me.channel(next(me))).await(me.channel(previous(me)));
            lane.copy(
                    arrived,
                    step == n - 2 ? and(result) : and(result, me.scratchOf(next(me), firstSlot + step + 1, result)));
        }
    }

    private static int next(RankBuilder me) {
        return (me.rank() + 1) % me.size();
    }

    private static int previous(RankBuilder me) {
        return Math.floorMod(me.rank() - 1, me.size());
    }
}
