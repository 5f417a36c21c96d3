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
 * Two levels: all pairs inside a node, trees between nodes. Only 2·S/g bytes of a rank cross from node to node, g being the
 * ranks of a node; rank i of each node is responsible for chunk i.
 *
 * <pre>
 *   node 0   0 ⇄ 1 ⇄ 2 ⇄ 3     inside: everybody gives chunk i to rank i, which folds it
 *            │   │   │   │      between: rank i of all nodes, double tree on chunk i
 *   node 1   4 ⇄ 5 ⇄ 6 ⇄ 7     inside: rank i gives the value of chunk i to everybody
 * </pre>
 *
 * A chunk has two halves, one for each tree. Half h of chunk i of local rank j is in slot 2j+h on its way in; the trees have
 * the next six slots; values that come back are in the 2·g after those, half h from local rank j in the (2j+h)-th.
 */
final class Hierarchical {
    private final RankBuilder me;
    private final Lane lane;
    private final int local;
    private final int node;
    private final int perNode;
    private final int nodes;
    private final int firstBack;

    private Hierarchical(RankBuilder me, int ranksPerNode) {
        if (ranksPerNode < 1 || me.size() % ranksPerNode != 0) {
            throw new IllegalArgumentException(me.size() + " ranks do not divide into nodes of " + ranksPerNode
                    + ": choose a divisor of the number of ranks");
        }
        this.me = me;
        this.perNode = ranksPerNode;
        this.nodes = me.size() / perNode;
        this.local = me.rank() % perNode;
        this.node = me.rank() / perNode;
        this.firstBack = 2 * perNode + DoubleTree.SLOTS;
        this.lane = me.chunksPerBlock(2 * perNode)
                .scratchSlots(firstBack + 2 * perNode)
                .lane();
    }

    /** {@link #allReduce(RankBuilder, int)} with nodes that nobody has named. */
    static void allReduce(RankBuilder me) {
        allReduce(me, nodeSize(me.size()));
    }

    /**
     * All-reduce over nodes of consecutive ranks.
     *
     * <p>Cost: 2 + 2·log2(n/g) steps; 4·S copied, 2·S folded.
     *
     * @param me the rank that is written
     * @param ranksPerNode g, a divisor of the number of ranks
     */
    static void allReduce(RankBuilder me, int ranksPerNode) {
        Hierarchical plan = new Hierarchical(me, ranksPerNode);
        int[] neighbours = plan.neighbours();
        int[] inside = channels(me, neighbours);
        plan.scatter(neighbours);
        plan.lane.signal(inside).await(inside);
        plan.between(neighbours);
        plan.lane.signal(inside).await(inside);
        plan.collect(neighbours);
    }

    /** The largest divisor that is not above the square root: as many ranks inside as nodes, or fewer. */
    static int nodeSize(int ranks) {
        int divisor = (int) Math.sqrt(ranks);
        while (ranks % divisor != 0) {
            divisor--;
        }
        return divisor;
    }

    private void scatter(int[] neighbours) {
        for (int peer : neighbours) {
            for (int half = 0; half < 2; half++) {
                Chunk part = me.input(2 * (peer % perNode) + half);
                lane.copy(part, me.scratchOf(peer, 2 * local + half, part));
            }
        }
    }

    /** Folds the node's part of this rank's chunk, the other nodes' into it, and gives the value to the node. */
    private void between(int[] neighbours) {
        Chunk[] own = new Chunk[2];
        Chunk[][] results = new Chunk[2][];
        for (int half = 0; half < 2; half++) {
            int chunk = 2 * local + half;
            Chunk result = me.output(chunk);
            results[half] = and(result, Peers.slots(me, firstBack + chunk, result, neighbours));
            if (nodes == 1) {
                lane.finishReduce(parts(half), results[half]);
            } else if (perNode == 1) {
                own[half] = me.input(chunk);
            } else {
                own[half] = result;
                lane.reduce(parts(half), result);
            }
        }
        if (nodes > 1) {
            new DoubleTree(me, nodes, node, place -> place * perNode + local, 2 * perNode).allReduce(own, results);
        }
    }

    private List<Chunk> parts(int half) {
        Chunk own = me.input(2 * local + half);
        List<Chunk> parts = new ArrayList<>();
        for (int each = 0; each < perNode; each++) {
            parts.add(each == local ? own : me.scratch(2 * each + half, own));
        }
        return parts;
    }

    private void collect(int[] neighbours) {
        for (int peer : neighbours) {
            for (int half = 0; half < 2; half++) {
                int chunk = 2 * (peer % perNode) + half;
                lane.copy(me.scratch(firstBack + chunk, me.output(chunk)), me.output(chunk));
            }
        }
    }

    /** The other ranks of this node, starting after this one. */
    private int[] neighbours() {
        return IntStream.range(1, perNode)
                .map(step -> node * perNode + (local + step) % perNode)
                .toArray();
    }
}
