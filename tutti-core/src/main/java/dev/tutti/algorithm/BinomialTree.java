package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.and;
import static dev.tutti.algorithm.Peers.channels;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A binomial tree: the k-th child of a node stands 2^k places after it, and its subtree is the 2^k places from there on.
 * Places count from the root. A node folds itself and then its children in order, so neighbours are folded with
 * neighbours, and all sources of a node in one operation.
 *
 * <pre>
 *   0 ─┬─ 1
 *      ├─ 2 ─── 3
 *      └─ 4 ─┬─ 5
 *            └─ 6 ─── 7
 * </pre>
 *
 * Child k writes slot k of its parent; what comes down from the parent is in slot log2(n).
 */
final class BinomialTree {
    private final RankBuilder me;
    private final Lane lane;
    private final int place;
    private final int levels;
    private final int[] children;

    private BinomialTree(RankBuilder me) {
        this.me = me;
        this.lane = me.lane();
        this.place = Math.floorMod(me.rank() - me.root(), me.size());
        this.levels = Cost.log2(me.size());
        this.children = IntStream.range(0, place == 0 ? levels : Integer.numberOfTrailingZeros(place))
                .filter(k -> place + (1 << k) < me.size())
                .map(k -> rankAt(place + (1 << k)))
                .toArray();
    }

    /**
     * Up to rank 0, then down again.
     *
     * <p>Cost: 2·log2(n) steps; rank 0 folds (log2(n)+1)·S and copies log2(n)·S.
     */
    static void allReduce(RankBuilder me) {
        BinomialTree tree = new BinomialTree(me);
        me.scratchSlots(tree.levels + 1);
        Chunk result = me.output(0);
        if (tree.place == 0) {
            tree.awaitChildren();
            tree.lane.finishReduce(tree.sources(), and(result, tree.slotsBelow(result)));
            tree.lane.signal(tree.channelsBelow());
        } else {
            tree.foldUp();
            tree.copyDown();
        }
    }

    /**
     * Up to the root.
     *
     * <p>Cost: log2(n) steps; the root folds (log2(n)+1)·S.
     */
    static void reduce(RankBuilder me) {
        BinomialTree tree = new BinomialTree(me);
        me.scratchSlots(tree.levels);
        if (tree.place == 0) {
            tree.awaitChildren();
            tree.lane.finishReduce(tree.sources(), me.output(0));
        } else {
            tree.foldUp();
        }
    }

    /**
     * Down from the root.
     *
     * <p>Cost: log2(n) steps; the root copies (log2(n)+1)·S.
     */
    static void broadcast(RankBuilder me) {
        BinomialTree tree = new BinomialTree(me);
        me.scratchSlots(tree.levels + 1);
        if (tree.place == 0) {
            tree.lane.copy(me.input(0), and(me.output(0), tree.slotsBelow(me.input(0))));
            tree.lane.signal(tree.channelsBelow());
        } else {
            tree.copyDown();
        }
    }

    /**
     * Up and down without data.
     *
     * <p>Cost: 2·log2(n) steps.
     */
    static void barrier(RankBuilder me) {
        BinomialTree tree = new BinomialTree(me);
        tree.awaitChildren();
        if (tree.place != 0) {
            tree.lane.signal(me.channel(tree.parent())).await(me.channel(tree.parent()));
        }
        tree.lane.signal(tree.channelsBelow());
    }

    /**
     * Every node passes on the blocks of its subtree; slot p holds the block of place p. Nodes do not know the lengths of others'
     * blocks, so all must be equal.
     *
     * <p>Cost: log2(n) steps; n·S arrive at the root.
     */
    static void gather(RankBuilder me) {
        BinomialTree tree = new BinomialTree(me);
        me.scratchSlots(me.size());
        Chunk own = me.input(0);
        boolean root = tree.place == 0;
        tree.lane.copy(own, root ? me.output(me.rank()) : me.scratchOf(tree.parent(), tree.place, own));
        tree.awaitChildren();
        for (int below = tree.place + 1; below < tree.end(); below++) {
            if (root) {
                Chunk result = me.output(tree.rankAt(below));
                tree.lane.copy(me.scratch(below, result), result);
            } else {
                tree.lane.copy(me.scratch(below, own), me.scratchOf(tree.parent(), below, own));
            }
        }
        if (!root) {
            tree.lane.signal(me.channel(tree.parent()));
        }
    }

    /**
     * The mirror of {@link #gather}.
     *
     * <p>Cost: log2(n) steps; n·S leave the root.
     */
    static void scatter(RankBuilder me) {
        BinomialTree tree = new BinomialTree(me);
        me.scratchSlots(me.size());
        boolean root = tree.place == 0;
        if (!root) {
            tree.lane.await(me.channel(tree.parent()));
        }
        for (int k = tree.children.length - 1; k >= 0; k--) {
            int first = tree.place + (1 << k);
            for (int below = first; below < Math.min(first + (1 << k), me.size()); below++) {
                Chunk source = root ? me.input(tree.rankAt(below)) : me.scratch(below, me.output(0));
                Chunk like = root ? source : me.output(0);
                tree.lane.copy(source, me.scratchOf(tree.children[k], below, like));
            }
        }
        tree.lane.signal(tree.channelsBelow());
        tree.lane.copy(root ? me.input(me.rank()) : me.scratch(tree.place, me.output(0)), me.output(0));
    }

    private void foldUp() {
        awaitChildren();
        int slot = Integer.numberOfTrailingZeros(place);
        lane.reduce(sources(), me.scratchOf(parent(), slot, me.input(0))).signal(me.channel(parent()));
    }

    private void copyDown() {
        Chunk result = me.output(0);
        lane.await(me.channel(parent())).copy(me.scratch(levels, result), and(result, slotsBelow(result)));
        lane.signal(channelsBelow());
    }

    private void awaitChildren() {
        lane.await(channels(me, children));
    }

    private List<Chunk> sources() {
        List<Chunk> sources = new ArrayList<>();
        sources.add(me.input(0));
        for (int k = 0; k < children.length; k++) {
            sources.add(me.scratch(k, me.input(0)));
        }
        return sources;
    }

    /** Where the children look for what comes down, the deepest subtree first. */
    private Chunk[] slotsBelow(Chunk like) {
        return Peers.slots(me, levels, like, deepestFirst());
    }

    private int[] channelsBelow() {
        return channels(me, deepestFirst());
    }

    private int[] deepestFirst() {
        return IntStream.range(0, children.length)
                .map(k -> children[children.length - 1 - k])
                .toArray();
    }

    private int parent() {
        return rankAt(place - Integer.lowestOneBit(place));
    }

    /** The place after this node's subtree. */
    private int end() {
        return place == 0 ? me.size() : Math.min(me.size(), place + Integer.lowestOneBit(place));
    }

    private int rankAt(int somePlace) {
        return (somePlace + me.root()) % me.size();
    }
}
