package dev.tutti.algorithm;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Two binary trees, each for one half of the data, so that every rank's links carry about the same: who has children in one
 * tree is a leaf of the other (Sanders, Speck, Träff 2009). The root stands above both. Places count from the root.
 *
 * <pre>
 *   half 0   0 ── 4 ─┬─ 2 ─┬─ 1        half 1   0 ── 3 ─┬─ 5 ─┬─ 6
 *                    │     └─ 3                         │     └─ 4
 *                    └─ 6 ─── 5                         └─ 1 ─── 2
 * </pre>
 *
 * Half 0 is a tree in order: a node's left subtree comes before it, its right one after it, and it folds left, itself,
 * right. Half 1 is the same tree with its places counted backwards if n is odd, else moved on by one: either way odd places,
 * which are the leaves, change with even ones.
 *
 * <p>A rank does the half in which it is a leaf first on the way up and last on the way down, so that nobody waits for it
 * needlessly. Half h has the slots 3h (from the left child), 3h+1 (from the right), 3h+2 (from the parent), and a channel of
 * its own between two ranks that are neighbours in both.
 */
final class DoubleTree {
    /** Slots that the two trees need. */
    static final int SLOTS = 6;

    private static final int NONE = -1;
    private static final int LEFT = 0;
    private static final int RIGHT = 1;
    private static final int DOWN = 2;

    private final RankBuilder me;
    private final Lane lane;
    private final int size;
    private final int place;
    private final int firstSlot;
    private final Half[] halves;

    /** This rank's neighbours in one tree, by rank, and the channels to them. */
    private record Half(int index, int parent, int side, int left, int right, int toLeft, int toRight, int toParent) {
        boolean isLeaf() {
            return left == NONE && right == NONE;
        }

        int[] children() {
            return IntStream.of(left, right).filter(rank -> rank != NONE).toArray();
        }

        int[] toChildren() {
            return IntStream.of(toLeft, toRight).filter(id -> id != NONE).toArray();
        }
    }

    /**
     * The trees over some ranks.
     *
     * @param me the rank that is written
     * @param size how many ranks the trees have
     * @param place this rank's place among them, the root's being 0
     * @param rankAt the rank at a place
     * @param firstSlot where the trees' slots begin
     */
    DoubleTree(RankBuilder me, int size, int place, IntUnaryOperator rankAt, int firstSlot) {
        this.me = me;
        this.lane = me.scratchSlots(firstSlot + SLOTS).lane();
        this.size = size;
        this.place = place;
        this.firstSlot = firstSlot;
        this.halves = new Half[] {half(0, rankAt), half(1, rankAt)};
    }

    private static DoubleTree fromRoot(RankBuilder me) {
        int n = me.size();
        me.chunksPerBlock(2);
        return new DoubleTree(me, n, Math.floorMod(me.rank() - me.root(), n), place -> (place + me.root()) % n, 0);
    }

    /**
     * Up to rank 0, then down again.
     *
     * <p>Cost: 2·log2(n) steps; 2·S copied, 2·S folded.
     */
    static void allReduce(RankBuilder me) {
        Chunk[] own = {me.input(0), me.input(1)};
        Chunk[][] results = {{me.output(0)}, {me.output(1)}};
        fromRoot(me).allReduce(own, results);
    }

    /**
     * Up to the root.
     *
     * <p>Cost: log2(n) steps; S copied, 2·S folded.
     */
    static void reduce(RankBuilder me) {
        DoubleTree trees = fromRoot(me);
        for (Half half : trees.upwards()) {
            if (trees.place == 0) {
                trees.finish(half, me.input(half.index), me.output(half.index));
            } else {
                trees.up(half, me.input(half.index));
            }
        }
    }

    /**
     * Down from the root.
     *
     * <p>Cost: log2(n) steps; 2·S copied.
     */
    static void broadcast(RankBuilder me) {
        DoubleTree trees = fromRoot(me);
        for (Half half : trees.upwards().reversed()) {
            if (trees.place == 0) {
                Chunk own = me.input(half.index);
                trees.lane.copy(own, trees.below(half, own, me.output(half.index)));
                trees.lane.signal(half.toChildren());
            } else {
                trees.down(half, me.output(half.index));
            }
        }
    }

    /**
     * All-reduce of two chunks.
     *
     * @param own this rank's part of each half
     * @param results for each half where its value goes: first a chunk of the output, then any others
     */
    void allReduce(Chunk[] own, Chunk[][] results) {
        List<Half> upwards = upwards();
        if (place == 0) {
            upwards.forEach(half -> {
                finish(half, own[half.index], below(half, results[half.index][0], results[half.index]));
                lane.signal(half.toChildren());
            });
            return;
        }
        upwards.forEach(half -> up(half, own[half.index]));
        upwards.reversed().forEach(half -> down(half, results[half.index]));
    }

    /** The half in which this rank is a leaf first. */
    private List<Half> upwards() {
        return halves[0].isLeaf() ? List.of(halves[0], halves[1]) : List.of(halves[1], halves[0]);
    }

    private void up(Half half, Chunk own) {
        lane.await(half.toChildren());
        lane.reduce(sources(half, own), me.scratchOf(half.parent, slot(half, half.side), own));
        lane.signal(half.toParent());
    }

    private void finish(Half half, Chunk own, Chunk... results) {
        lane.await(half.toChildren());
        lane.finishReduce(sources(half, own), results);
    }

    private void down(Half half, Chunk... results) {
        lane.await(half.toParent());
        lane.copy(me.scratch(slot(half, DOWN), results[0]), below(half, results[0], results));
        lane.signal(half.toChildren());
    }

    private List<Chunk> sources(Half half, Chunk own) {
        List<Chunk> sources = new ArrayList<>();
        if (half.left != NONE) {
            sources.add(me.scratch(slot(half, LEFT), own));
        }
        sources.add(own);
        if (half.right != NONE) {
            sources.add(me.scratch(slot(half, RIGHT), own));
        }
        return sources;
    }

    /** The children's slots, then the results: those who wait come first. */
    private Chunk[] below(Half half, Chunk like, Chunk... results) {
        Chunk[] slots = Peers.slots(me, slot(half, DOWN), like, half.children());
        Chunk[] all = Arrays.copyOf(slots, slots.length + results.length);
        System.arraycopy(results, 0, all, slots.length, results.length);
        return all;
    }

    private int slot(Half half, int which) {
        return firstSlot + 3 * half.index + which;
    }

    private Half half(int index, IntUnaryOperator rankAt) {
        int position = place == 0 ? 0 : position(index);
        IntUnaryOperator rank =
                other -> other == NONE ? NONE : rankAt.applyAsInt(other == 0 ? 0 : placeAt(index, other));
        int parent = parentOf(position);
        int left = leftOf(position);
        int right = rightOf(position);
        int side = parent != NONE && leftOf(parent) == position ? LEFT : RIGHT;
        int toLeft = channel(rank.applyAsInt(left));
        int toRight = channel(rank.applyAsInt(right));
        return new Half(
                index,
                rank.applyAsInt(parent),
                side,
                rank.applyAsInt(left),
                rank.applyAsInt(right),
                toLeft,
                toRight,
                channel(rank.applyAsInt(parent)));
    }

    private int channel(int peer) {
        return peer == NONE ? NONE : me.newChannel(ChannelType.MEMORY, peer);
    }

    /** Where this rank's place stands in a tree: leaves at odd positions. */
    private int position(int index) {
        return index == 0 ? place : size % 2 == 1 ? size - place : place % (size - 1) + 1;
    }

    private int placeAt(int index, int position) {
        return index == 0 ? position : size % 2 == 1 ? size - position : position == 1 ? size - 1 : position - 1;
    }

    /** Positions hang below the next higher power of two that exists. */
    private int parentOf(int position) {
        if (position == 0) {
            return NONE;
        }
        int bit = Integer.lowestOneBit(position);
        int above = (position ^ bit) | (bit << 1);
        return above < size ? above : position ^ bit;
    }

    private static int leftOf(int position) {
        int step = Integer.lowestOneBit(position) / 2;
        return step == 0 ? NONE : position - step;
    }

    private int rightOf(int position) {
        int step = position == 0 ? Integer.highestOneBit(size - 1) : Integer.lowestOneBit(position) / 2;
        while (step > 0 && position + step >= size) {
            step /= 2;
        }
        return step == 0 ? NONE : position + step;
    }
}
