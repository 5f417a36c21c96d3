package dev.tutti.algorithm;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Logarithmic steps and the fewest bytes, for any number of ranks: halving and doubling on a circle rather than on a
 * hypercube, so that numbers other than powers of two need no extra ranks to be folded in (Bruck et al. 1997; Träff 2023).
 *
 * <p>A rank speaks of block b by its distance d = b - r round the circle. Doubling: in step k it has the blocks of distance
 * 0 … 2^k-1, sends them 2^k back and gets the next ones from 2^k ahead. Halving is the same film run backwards.
 *
 * <pre>
 *   doubling, 6 ranks, what rank 0 has:    0 | 1 | 2 3 | 4 5       from ranks 1, 2, 4
 *   halving,  6 ranks, what rank 0 sends:  4 5 | 2 3 | 1           to ranks   4, 2, 1
 * </pre>
 *
 * Nothing is folded before it has to go: a block's parts wait in their slots and are folded in one operation straight into the
 * next rank's slot. A block that arrives is copied to the output and to every rank that it goes on to in one operation.
 * Slot d-1 belongs to the block that is sent at distance d (halving) or arrives at distance d (doubling).
 */
final class HalvingDoubling {
    private final RankBuilder me;
    private final Lane lane;
    private final int n;

    private HalvingDoubling(RankBuilder me) {
        this.me = me;
        this.lane = me.lane();
        this.n = me.size();
    }

    /**
     * Halving, then doubling, on chunks.
     *
     * <p>Cost: 2·log2(n) steps; 2·S·(n-1)/n copied, up to 2·S folded.
     */
    static void allReduce(RankBuilder me) {
        HalvingDoubling plan = new HalvingDoubling(me);
        me.chunksPerBlock(plan.n).scratchSlots(2 * (plan.n - 1));
        plan.halve();
        int slots = plan.n - 1;
        plan.lane.finishReduce(plan.partsOf(0), plan.destinations(0, slots));
        plan.doubleUp(slots);
    }

    /**
     * Halving: block r ends on rank r.
     *
     * <p>Cost: log2(n) steps, up to 2·n·S folded.
     */
    static void reduceScatter(RankBuilder me) {
        HalvingDoubling plan = new HalvingDoubling(me);
        me.scratchSlots(plan.n - 1);
        plan.halve();
        plan.lane.finishReduce(plan.partsOf(0), me.output(0));
    }

    /**
     * Doubling.
     *
     * <p>Cost: log2(n) steps, 2·n·S copied.
     */
    static void allGather(RankBuilder me) {
        HalvingDoubling plan = new HalvingDoubling(me);
        me.scratchSlots(plan.n - 1);
        plan.lane.copy(me.input(0), plan.destinations(0, 0));
        plan.doubleUp(0);
    }

    private void halve() {
        for (int hop = Integer.highestOneBit(Math.max(1, n - 1)); hop >= 1 && n > 1; hop /= 2) {
            for (int distance = hop; distance < Math.min(2 * hop, n); distance++) {
                lane.reduce(partsOf(distance), me.scratchOf(ahead(hop), distance - 1, input(distance)));
            }
            lane.signal(me.channel(ahead(hop))).await(me.channel(back(hop)));
        }
    }

    /** This rank's input and what arrived for a block in the steps before it goes on, in the order of the senders. */
    private List<Chunk> partsOf(int distance) {
        record Part(int sender, Chunk chunk) {}
        List<Part> parts = new ArrayList<>();
        parts.add(new Part(me.rank(), input(distance)));
        for (int hop = nextHop(distance); distance + hop < n; hop *= 2) {
            parts.add(new Part(back(hop), me.scratch(distance + hop - 1, input(distance))));
        }
        return parts.stream()
                .sorted(Comparator.comparingInt(Part::sender))
                .map(Part::chunk)
                .toList();
    }

    private void doubleUp(int firstSlot) {
        for (int hop = 1; hop < n; hop *= 2) {
            lane.signal(me.channel(back(hop))).await(me.channel(ahead(hop)));
            for (int distance = hop; distance < Math.min(2 * hop, n); distance++) {
                lane.copy(me.scratch(firstSlot + distance - 1, output(distance)), destinations(distance, firstSlot));
            }
        }
    }

    /** The output, and the slots of all ranks to which the block goes on in later steps. */
    private Chunk[] destinations(int distance, int firstSlot) {
        List<Chunk> all = new ArrayList<>();
        Chunk result = output(distance);
        all.add(result);
        for (int hop = nextHop(distance); distance + hop < n; hop *= 2) {
            all.add(me.scratchOf(back(hop), firstSlot + distance + hop - 1, result));
        }
        return all.toArray(Chunk[]::new);
    }

    /** The smallest power of two above a distance. */
    private static int nextHop(int distance) {
        return distance == 0 ? 1 : 2 * Integer.highestOneBit(distance);
    }

    private Chunk input(int distance) {
        return me.input(ahead(distance));
    }

    private Chunk output(int distance) {
        return me.output(ahead(distance));
    }

    private int ahead(int distance) {
        return (me.rank() + distance) % n;
    }

    private int back(int distance) {
        return Math.floorMod(me.rank() - distance, n);
    }
}
