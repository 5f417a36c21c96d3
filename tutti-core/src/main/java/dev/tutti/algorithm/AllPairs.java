package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.and;
import static dev.tutti.algorithm.Peers.channels;
import static dev.tutti.algorithm.Peers.higher;
import static dev.tutti.algorithm.Peers.inOrder;
import static dev.tutti.algorithm.Peers.lower;
import static dev.tutti.algorithm.Peers.slots;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.stream.IntStream;

/**
 * Every rank writes to every other at once: the fewest steps there are. Slot s of a rank's scratch is written by rank s.
 * All folds are in rank order.
 */
final class AllPairs {
    /** Chunks of a pipelined launch. With two or four of them long messages take about as long. */
    static final int PIPELINED_CHUNKS = 3;

    private AllPairs() {}

    /**
     * All-reduce in one step: everybody sends everything to everybody and folds it all.
     *
     * <pre>
     *   rank 0   x0 ─┬─►┌────────────┐
     *   rank 1   x1 ─┼─►│ x0+x1+x2   │ on every rank
     *   rank 2   x2 ─┴─►└────────────┘
     * </pre>
     *
     * Cost: 1 step, (n-1)·S copied, n·S folded.
     */
    static void oneShotAllReduce(RankBuilder me) {
        Chunk own = me.input(0);
        exchange(me, own);
        me.lane().finishReduce(inOrder(me, me.size(), own, peer -> me.scratch(peer, own)), me.output(0));
    }

    /**
     * Like {@link #oneShotAllReduce}, but everybody sends its next chunk before it folds the last one, so that ranks which wait for
     * memory rather than for each other need not go in step.
     *
     * <pre>
     *   send 0 ─ send 1 ─ fold 0 ─ send 2 ─ fold 1 ─ fold 2
     * </pre>
     *
     * Cost: 1 step, (n-1)·S copied, n·S folded.
     */
    static void pipelinedAllReduce(RankBuilder me) {
        int n = me.size();
        int[] channels = channels(me, me.peers());
        Lane lane = me.chunksPerBlock(PIPELINED_CHUNKS)
                .scratchSlots(PIPELINED_CHUNKS * n)
                .lane();
        for (int step = 0; step <= PIPELINED_CHUNKS; step++) {
            if (step < PIPELINED_CHUNKS) {
                Chunk next = me.input(step);
                lane.copy(next, slots(me, step * n + me.rank(), next, me.peers()));
                lane.signal(channels);
            }
            if (step > 0) {
                int chunk = step - 1;
                Chunk own = me.input(chunk);
                lane.await(channels);
                lane.finishReduce(inOrder(me, n, own, peer -> me.scratch(chunk * n + peer, own)), me.output(chunk));
            }
        }
    }

    /**
     * All-reduce in two steps: rank r folds chunk r of everybody and sends the result to everybody.
     *
     * <pre>
     *            chunk 0  chunk 1  chunk 2            chunk 0  chunk 1  chunk 2
     *   rank 0   x0       →1       →2      ──fold──►  s0→all   ←1       ←2
     *   rank 1   →0       x1       →2                 ←0       s1→all   ←2
     *   rank 2   →0       →1       x2                 ←0       ←1       s2→all
     * </pre>
     *
     * Cost: 2 steps, 3·S·(n-1)/n copied, S folded.
     */
    static void twoShotAllReduce(RankBuilder me) {
        int n = me.size();
        int[] channels = channels(me, me.peers());
        Lane lane = me.chunksPerBlock(n).scratchSlots(2 * n).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratchOf(peer, me.rank(), me.input(peer)));
        }
        lane.signal(channels).await(channels);
        Chunk own = me.input(me.rank());
        Chunk result = me.output(me.rank());
        lane.finishReduce(
                inOrder(me, n, own, peer -> me.scratch(peer, own)),
                and(result, slots(me, n + me.rank(), result, me.peers())));
        lane.signal(channels).await(channels);
        for (int peer : me.peers()) {
            lane.copy(me.scratch(n + peer, me.output(peer)), me.output(peer));
        }
    }

    /**
     * Broadcast in one step: the root writes everybody's slot.
     *
     * <pre>
     *   root   x ─┬─► rank 1
     *             ├─► rank 2
     *             └─► rank 3
     * </pre>
     *
     * Cost: 1 step, n·S copied by the root.
     */
    static void oneShotBroadcast(RankBuilder me) {
        Lane lane = me.scratchSlots(1).lane();
        if (me.rank() == me.root()) {
            lane.copy(me.input(0), and(me.output(0), slots(me, 0, me.input(0), me.peers())));
            lane.signal(channels(me, me.peers()));
        } else {
            lane.await(me.channel(me.root())).copy(me.scratch(0, me.output(0)), me.output(0));
        }
    }

    /**
     * Broadcast in two steps: the root deals out one chunk to each, and each passes its chunk on to all.
     *
     * <pre>
     *            chunk 0  chunk 1  chunk 2                chunk 0  chunk 1  chunk 2
     *   root     x        →1       →2      ──deal──►
     *   rank 1            x                               ←root    x→2      ←2
     *   rank 2                     x                      ←root    ←1       x→1
     * </pre>
     *
     * The root sends its own chunk to all itself. Cost: 2 steps, about 2·S copied by each.
     */
    static void twoShotBroadcast(RankBuilder me) {
        int n = me.size();
        Lane lane = me.chunksPerBlock(n).scratchSlots(n).lane();
        if (me.rank() == me.root()) {
            Chunk own = me.input(me.rank());
            lane.copy(own, and(me.output(me.rank()), slots(me, me.rank(), own, me.peers())));
            for (int peer : me.peers()) {
                Chunk dealt = me.input(peer);
                lane.copy(dealt, me.output(peer), me.scratchOf(peer, peer, dealt));
            }
            lane.signal(channels(me, me.peers()));
            return;
        }
        int[] others =
                IntStream.of(me.peers()).filter(peer -> peer != me.root()).toArray();
        Chunk own = me.output(me.rank());
        lane.await(me.channel(me.root()));
        lane.copy(me.scratch(me.rank(), own), and(own, slots(me, me.rank(), own, others)));
        lane.signal(channels(me, others));
        lane.copy(me.scratch(me.root(), me.output(me.root())), me.output(me.root()));
        lane.await(channels(me, others));
        for (int peer : others) {
            lane.copy(me.scratch(peer, me.output(peer)), me.output(peer));
        }
    }

    /**
     * All-gather in one step: everybody writes its block into everybody's slot.
     *
     * <pre>
     *   rank 0   x0 ─┬─►┌──────────────┐
     *   rank 1   x1 ─┼─►│ x0 | x1 | x2 │ on every rank
     *   rank 2   x2 ─┴─►└──────────────┘
     * </pre>
     *
     * Cost: 1 step, 2·(n-1)·S copied.
     */
    static void oneShotAllGather(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Lane lane = me.scratchSlots(me.size()).lane();
        Chunk own = me.input(0);
        lane.copy(own, and(me.output(me.rank()), slots(me, me.rank(), own, me.peers())));
        lane.signal(channels).await(channels);
        for (int peer : me.peers()) {
            lane.copy(me.scratch(peer, me.output(peer)), me.output(peer));
        }
    }

    /**
     * Reduce-scatter in one step: rank r gets block r of everybody and folds.
     *
     * <pre>
     *            block 0  block 1  block 2
     *   rank 0   x0       →1       →2       fold of block 0
     *   rank 1   →0       x1       →2       fold of block 1
     *   rank 2   →0       →1       x2       fold of block 2
     * </pre>
     *
     * Cost: 1 step, (n-1)·S copied, n·S folded.
     */
    static void oneShotReduceScatter(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Lane lane = me.scratchSlots(me.size()).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratchOf(peer, me.rank(), me.input(peer)));
        }
        lane.signal(channels).await(channels);
        Chunk own = me.input(me.rank());
        lane.finishReduce(inOrder(me, me.size(), own, peer -> me.scratch(peer, own)), me.output(0));
    }

    /**
     * Reduce in one step: everybody sends to the root, which folds.
     *
     * <pre>
     *   rank 1   x1 ─┐
     *   rank 2   x2 ─┼─► root: x0+x1+x2+x3
     *   rank 3   x3 ─┘
     * </pre>
     *
     * Cost: 1 step, S copied by the others, n·S folded by the root.
     */
    static void oneShotReduce(RankBuilder me) {
        Lane lane = me.scratchSlots(me.size()).lane();
        Chunk own = me.input(0);
        if (me.rank() == me.root()) {
            lane.await(channels(me, me.peers()));
            lane.finishReduce(inOrder(me, me.size(), own, peer -> me.scratch(peer, own)), me.output(0));
        } else {
            lane.copy(own, me.scratchOf(me.root(), me.rank(), own)).signal(me.channel(me.root()));
        }
    }

    /**
     * All-to-all in one step: block p of rank r goes to slot r of rank p.
     *
     * <pre>
     *            block 0  block 1  block 2
     *   rank 0   a0       a1→1     a2→2       out: a0 b0 c0
     *   rank 1   b0→0     b1       b2→2       out: a1 b1 c1
     *   rank 2   c0→0     c1→1     c2         out: a2 b2 c2
     * </pre>
     *
     * Cost: 1 step, (2n-1)·S copied.
     */
    static void oneShotAllToAll(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Lane lane = me.scratchSlots(me.size()).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratchOf(peer, me.rank(), me.input(peer)));
        }
        lane.signal(channels).copy(me.input(me.rank()), me.output(me.rank())).await(channels);
        for (int peer : me.peers()) {
            lane.copy(me.scratch(peer, me.output(peer)), me.output(peer));
        }
    }

    /**
     * Scan in one step: everybody sends to the ranks above it.
     *
     * <pre>
     *   rank 0   x0 ───────► x0
     *   rank 1   x1 ──┴────► x0+x1
     *   rank 2   x2 ──┴─┴──► x0+x1+x2
     * </pre>
     *
     * Cost: 1 step, (n-1)·S copied by rank 0, n·S folded by the last.
     */
    static void oneShotScan(RankBuilder me) {
        Chunk own = me.input(0);
        sendUp(me, own);
        me.lane().finishReduce(inOrder(me, me.rank() + 1, own, peer -> me.scratch(peer, own)), me.output(0));
    }

    /** Like {@link #oneShotScan}, without the rank's own part; rank 0's output stays as it was. */
    static void oneShotExscan(RankBuilder me) {
        Chunk own = me.input(0);
        sendUp(me, own);
        if (me.rank() > 0) {
            me.lane().finishReduce(inOrder(me, me.rank(), own, peer -> me.scratch(peer, own)), me.output(0));
        }
    }

    private static void sendUp(RankBuilder me, Chunk own) {
        me.scratchSlots(me.size())
                .lane()
                .copy(own, slots(me, me.rank(), own, higher(me)))
                .signal(channels(me, higher(me)))
                .await(channels(me, lower(me)));
    }

    private static void exchange(RankBuilder me, Chunk own) {
        int[] channels = channels(me, me.peers());
        me.scratchSlots(me.size())
                .lane()
                .copy(own, slots(me, me.rank(), own, me.peers()))
                .signal(channels)
                .await(channels);
    }
}
