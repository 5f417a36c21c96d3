package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.and;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Parallel aggregated trees (Jeaugey 2024): every block has a binomial tree, all trees run at once, and what goes to the same
 * rank in the same step goes together. Unlike {@link HalvingDoubling} the long hops carry little and the short ones most,
 * which suits machines on which far is slow.
 *
 * <pre>
 *   all-gather, 8 ranks, block of rank 0:    0 ──► 4             1 block, 4 places
 *                                            0 ──► 2, 4 ──► 6    2 blocks, 2 places
 *                                            0 ► 1, 2 ► 3, …     4 blocks, 1 place
 * </pre>
 *
 * A rank d places after a block's owner gets it from d minus the lowest bit of d, and passes it on by every shorter hop.
 * Reduce-scatter is the same film run backwards. Slot d-1 belongs to the block that travels to (or from) distance d. All blocks of
 * a step are aggregated: slots are written once per launch, so there is nothing to gain from fewer.
 */
final class Pat {
    private final RankBuilder me;
    private final Lane lane;
    private final int n;

    private Pat(RankBuilder me) {
        this.me = me;
        this.n = me.size();
        this.lane = me.scratchSlots(n - 1).lane();
    }

    /**
     * Long hops first.
     *
     * <p>Cost: log2(n) steps, 2·n·S copied.
     */
    static void allGather(RankBuilder me) {
        Pat plan = new Pat(me);
        int longest = 2 * Integer.highestOneBit(plan.n - 1);
        plan.lane.copy(me.input(0), and(me.output(me.rank()), plan.onward(0, longest, me.input(0))));
        for (int hop = longest / 2; hop >= 1; hop /= 2) {
            plan.lane.signal(me.channel(plan.ahead(hop))).await(me.channel(plan.back(hop)));
            for (int distance = hop; distance < plan.n; distance += 2 * hop) {
                Chunk result = me.output(plan.back(distance));
                plan.lane.copy(me.scratch(distance - 1, result), and(result, plan.onward(distance, hop, result)));
            }
        }
    }

    /**
     * Short hops first.
     *
     * <p>Cost: log2(n) steps, up to 2·n·S folded.
     */
    static void reduceScatter(RankBuilder me) {
        Pat plan = new Pat(me);
        for (int hop = 1; hop < plan.n; hop *= 2) {
            for (int distance = hop; distance < plan.n; distance += 2 * hop) {
                Chunk like = me.input(plan.back(distance));
                plan.lane.reduce(plan.parts(distance, hop), me.scratchOf(plan.back(hop), distance - 1, like));
            }
            plan.lane.signal(me.channel(plan.back(hop))).await(me.channel(plan.ahead(hop)));
        }
        plan.lane.finishReduce(plan.parts(0, 2 * Integer.highestOneBit(plan.n - 1)), me.output(0));
    }

    /** The slots to which a block at this distance goes on, by all hops shorter than the one that brought it. */
    private Chunk[] onward(int distance, int hop, Chunk like) {
        List<Chunk> slots = new ArrayList<>();
        for (int next = hop / 2; next >= 1; next /= 2) {
            if (distance + next < n) {
                slots.add(me.scratchOf(ahead(next), distance + next - 1, like));
            }
        }
        return slots.toArray(Chunk[]::new);
    }

    /** This rank's input and what came by shorter hops for a block, in the order of the senders. */
    private List<Chunk> parts(int distance, int hop) {
        record Part(int sender, Chunk chunk) {}
        Chunk own = me.input(back(distance));
        List<Part> parts = new ArrayList<>();
        parts.add(new Part(me.rank(), own));
        for (int shorter = 1; shorter < hop && distance + shorter < n; shorter *= 2) {
            parts.add(new Part(ahead(shorter), me.scratch(distance + shorter - 1, own)));
        }
        return parts.stream()
                .sorted(Comparator.comparingInt(Part::sender))
                .map(Part::chunk)
                .toList();
    }

    private int ahead(int distance) {
        return (me.rank() + distance) % n;
    }

    private int back(int distance) {
        return Math.floorMod(me.rank() - distance, n);
    }
}
