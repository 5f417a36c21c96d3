package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.and;
import static dev.tutti.algorithm.Peers.channels;
import static dev.tutti.algorithm.Peers.inOrder;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.stream.IntStream;

/**
 * Ranks read each other's input and write each other's output where they lie: no scratch, no copy on the way, one launch however
 * long the message is. Only for registered memory. Whoever reaches into a peer's memory has heard from it first, and no rank ends
 * before it has heard from whoever reached into its own. All folds are in rank order.
 *
 * <p>In place needs nothing more: a chunk is written by the only rank that reads it, or after all have read it.
 */
final class Direct {
    private Direct() {}

    /**
     * All-reduce: rank r folds chunk r from everybody's input and writes the result into everybody's output.
     *
     * <pre>
     *            in: 0  1  2                         out: 0  1  2
     *   rank 0       a0 a1 a2    rank 0 folds 0  ──►      s0 s1 s2
     *   rank 1       b0 b1 b2    rank 1 folds 1  ──►      s0 s1 s2
     *   rank 2       c0 c1 c2    rank 2 folds 2  ──►      s0 s1 s2
     * </pre>
     *
     * Cost: 2 steps, S folded, S written by each: every byte is read and written once.
     */
    static void allReduce(RankBuilder me) {
        int r = me.rank();
        me.chunksPerBlock(me.size());
        Chunk own = me.input(r);
        Chunk result = me.output(r);
        meet(me);
        me.lane()
                .finishReduce(
                        inOrder(me, me.size(), own, peer -> me.inputOf(peer, r, own)),
                        and(result, outputs(me, r, result)));
        meet(me);
    }

    /**
     * All-reduce: rank r gets chunk r of everybody's input, folds it, and writes the result into everybody's output. Nobody reads a peer's
     * input, so it stays with its owner, who writes it anew before the next call.
     *
     * <pre>
     *            in: 0  1  2                                        out: 0  1  2
     *   rank 0       a0 →1 →2    slots of rank 0: b0 c0, folds 0  ──►      s0 s1 s2
     *   rank 1       →0 b1 →2    slots of rank 1: a1 c1, folds 1  ──►      s0 s1 s2
     *   rank 2       →0 →1 c2    slots of rank 2: a2 b2, folds 2  ──►      s0 s1 s2
     * </pre>
     *
     * Cost: 2 steps, S·(n-1)/n copied, S folded, S written by each.
     */
    static void allReduceWriting(RankBuilder me) {
        int n = me.size();
        int r = me.rank();
        Lane lane = me.chunksPerBlock(n).scratchSlots(n).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.scratchOf(peer, r, me.input(peer)));
        }
        meet(me);
        Chunk own = me.input(r);
        Chunk result = me.output(r);
        lane.finishReduce(inOrder(me, n, own, peer -> me.scratch(peer, own)), and(result, outputs(me, r, result)));
        meet(me);
    }

    /**
     * Reduce-scatter: rank r folds block r from everybody's input.
     *
     * <pre>
     *            in: 0  1  2
     *   rank 0       a0 a1 a2    rank 0: a0+b0+c0
     *   rank 1       b0 b1 b2    rank 1: a1+b1+c1
     *   rank 2       c0 c1 c2    rank 2: a2+b2+c2
     * </pre>
     *
     * Cost: 2 steps, n·S folded.
     */
    static void reduceScatter(RankBuilder me) {
        int r = me.rank();
        Chunk own = me.input(r);
        meet(me);
        me.lane().finishReduce(inOrder(me, me.size(), own, peer -> me.inputOf(peer, r, own)), me.output(0));
        meet(me);
    }

    /**
     * Reduce: rank r folds chunk r from everybody's input and writes the result into the root's output.
     *
     * <pre>
     *            in: 0  1  2                         out: 0  1  2
     *   root         a0 a1 a2    rank 0 folds 0  ──►      s0 s1 s2
     *   rank 1       b0 b1 b2    rank 1 folds 1  ──►      (the root's)
     *   rank 2       c0 c1 c2    rank 2 folds 2  ──►
     * </pre>
     *
     * Cost: 2 steps, S folded by each.
     */
    static void reduce(RankBuilder me) {
        int r = me.rank();
        me.chunksPerBlock(me.size());
        Chunk own = me.input(r);
        meet(me);
        me.lane()
                .finishReduce(
                        inOrder(me, me.size(), own, peer -> me.inputOf(peer, r, own)), me.outputOf(me.root(), r, own));
        meet(me);
    }

    /**
     * All-gather: everybody writes its block into everybody's output.
     *
     * <pre>
     *   rank 0   a ─┬─►┌───────────┐
     *   rank 1   b ─┼─►│ a | b | c │ of every rank
     *   rank 2   c ─┴─►└───────────┘
     * </pre>
     *
     * Cost: 2 steps, n·S written, S read.
     */
    static void allGather(RankBuilder me) {
        Chunk own = me.input(0);
        meet(me);
        me.lane().copy(own, and(me.output(me.rank()), outputs(me, me.rank(), own)));
        meet(me);
    }

    /**
     * All-gather: everybody copies everybody's input into its own output, so only its own blocks have to be known.
     *
     * <pre>
     *   rank 0   a ◄─┐
     *   rank 1   b ◄─┼─ every rank copies a | b | c
     *   rank 2   c ◄─┘
     * </pre>
     *
     * Cost: 2 steps, n·S copied.
     */
    static void allGatherReading(RankBuilder me) {
        meet(me);
        for (int peer : me.peers()) {
            me.lane().copy(me.inputOf(peer, 0, me.output(peer)), me.output(peer));
        }
        meet(me);
        me.lane().copy(me.input(0), me.output(me.rank()));
    }

    /**
     * Broadcast: rank r copies chunk r from the root's input into everybody's output.
     *
     * <pre>
     *   root's in:  x0 ── rank 0 ─┬─►┌──────────────┐
     *               x1 ── rank 1 ─┼─►│ x0 | x1 | x2 │ of every rank
     *               x2 ── rank 2 ─┴─►└──────────────┘
     * </pre>
     *
     * Cost: 2 steps, S written, S/n read by each.
     */
    static void broadcast(RankBuilder me) {
        int r = me.rank();
        Chunk own = me.chunksPerBlock(me.size()).output(r);
        meet(me);
        me.lane().copy(me.inputOf(me.root(), r, own), and(own, outputs(me, r, own)));
        meet(me);
    }

    /**
     * Broadcast: everybody copies the root's input.
     *
     * <pre>
     *   root   x ◄─┬─ rank 1
     *              ├─ rank 2
     *              └─ rank 3
     * </pre>
     *
     * Cost: 2 steps, S copied.
     */
    static void broadcastReading(RankBuilder me) {
        Lane lane = me.lane();
        if (me.rank() == me.root()) {
            lane.signal(channels(me, me.peers())).await(channels(me, me.peers()));
            lane.copy(me.input(0), me.output(0));
        } else {
            int root = me.channel(me.root());
            lane.await(root).copy(me.inputOf(me.root(), 0, me.output(0)), me.output(0));
            lane.signal(root);
        }
    }

    /**
     * Broadcast: the root writes everybody's output.
     *
     * <pre>
     *   root   x ─┬─► rank 1
     *             ├─► rank 2
     *             └─► rank 3
     * </pre>
     *
     * Cost: 2 steps, (n-1)·S copied by the root.
     */
    static void broadcastWriting(RankBuilder me) {
        Lane lane = me.lane();
        if (me.rank() == me.root()) {
            Chunk whole = me.input(0);
            lane.await(channels(me, me.peers())).copy(whole, and(me.output(0), outputs(me, 0, whole)));
            lane.signal(channels(me, me.peers()));
        } else {
            int root = me.channel(me.root());
            lane.signal(root).await(root);
        }
    }

    /**
     * All-to-all: rank r writes its block p into block r of rank p's output. Reading would do as well, but inputs are what their owners
     * write anew before the next call, and would have to take back from whoever has read them. Its own block comes last, while the signals
     * are on their way.
     *
     * <pre>
     *   rank 0   a0 a1 a2        out: a0 b0 c0
     *   rank 1   b0 b1 b2        out: a1 b1 c1
     *   rank 2   c0 c1 c2        out: a2 b2 c2
     * </pre>
     *
     * Cost: 2 steps, n·S copied.
     */
    static void allToAll(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        Lane lane = me.lane();
        meet(me);
        for (int peer : me.peers()) {
            lane.copy(me.input(peer), me.outputOf(peer, me.rank(), me.input(peer)));
        }
        lane.signal(channels).copy(me.input(me.rank()), me.output(me.rank())).await(channels);
    }

    /**
     * All-to-all: rank r copies block r of everybody's input. With counts that only pairs know this is the safe direction: whoever reads
     * has compared its count with what the owner sends before it reaches for it.
     *
     * <pre>
     *   rank 0   a0 a1 a2  ◄─┐
     *   rank 1   b0 b1 b2  ◄─┼─ rank r copies a_r, b_r, c_r
     *   rank 2   c0 c1 c2  ◄─┘
     * </pre>
     *
     * Cost: 2 steps, n·S copied.
     */
    static void allToAllReading(RankBuilder me) {
        meet(me);
        for (int peer : me.peers()) {
            me.lane().copy(me.inputOf(peer, me.rank(), me.output(peer)), me.output(peer));
        }
        meet(me);
        me.lane().copy(me.input(me.rank()), me.output(me.rank()));
    }

    /**
     * Gather: everybody writes its block into the root's output.
     *
     * <pre>
     *   rank 1   b ─┐
     *   rank 2   c ─┼─► root: a | b | c | d
     *   rank 3   d ─┘
     * </pre>
     *
     * Cost: 2 steps, S copied by each.
     */
    static void gather(RankBuilder me) {
        Lane lane = me.lane();
        Chunk own = me.input(0);
        if (me.rank() == me.root()) {
            lane.signal(channels(me, me.peers())).copy(own, me.output(me.rank()));
            lane.await(channels(me, me.peers()));
        } else {
            int root = me.channel(me.root());
            lane.await(root).copy(own, me.outputOf(me.root(), me.rank(), own)).signal(root);
        }
    }

    /** Like {@link #gather}, but the root copies everybody's input, so only it has to know the blocks. Cost: 2 steps, n·S copied. */
    static void gatherReading(RankBuilder me) {
        Lane lane = me.lane();
        if (me.rank() == me.root()) {
            lane.copy(me.input(0), me.output(me.rank())).await(channels(me, me.peers()));
            for (int peer : me.peers()) {
                lane.copy(me.inputOf(peer, 0, me.output(peer)), me.output(peer));
            }
            lane.signal(channels(me, me.peers()));
        } else {
            int root = me.channel(me.root());
            lane.signal(root).await(root);
        }
    }

    /**
     * Scatter: rank r copies block r of the root's input.
     *
     * <pre>
     *                            ┌─ rank 1: b
     *   root   a | b | c | d  ◄──┼─ rank 2: c
     *                            └─ rank 3: d
     * </pre>
     *
     * Cost: 2 steps, S copied by each.
     */
    static void scatter(RankBuilder me) {
        Lane lane = me.lane();
        if (me.rank() == me.root()) {
            lane.signal(channels(me, me.peers())).copy(me.input(me.rank()), me.output(0));
            lane.await(channels(me, me.peers()));
        } else {
            int root = me.channel(me.root());
            lane.await(root).copy(me.inputOf(me.root(), me.rank(), me.output(0)), me.output(0));
            lane.signal(root);
        }
    }

    /** Like {@link #scatter}, but the root writes everybody's output, so only it has to know the blocks. Cost: 2 steps, n·S copied. */
    static void scatterWriting(RankBuilder me) {
        Lane lane = me.lane();
        if (me.rank() == me.root()) {
            lane.copy(me.input(me.rank()), me.output(0)).await(channels(me, me.peers()));
            for (int peer : me.peers()) {
                lane.copy(me.input(peer), me.outputOf(peer, 0, me.input(peer)));
            }
            lane.signal(channels(me, me.peers()));
        } else {
            int root = me.channel(me.root());
            lane.signal(root).await(root);
        }
    }

    /** Everybody hears from everybody: before anybody's memory is touched, and when nobody's is any more. */
    private static void meet(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        me.lane().signal(channels).await(channels);
    }

    private static Chunk[] outputs(RankBuilder me, int index, Chunk like) {
        return IntStream.of(me.peers())
                .mapToObj(peer -> me.outputOf(peer, index, like))
                .toArray(Chunk[]::new);
    }
}
