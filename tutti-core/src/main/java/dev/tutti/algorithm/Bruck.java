package dev.tutti.algorithm;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;

/**
 * All-to-all in logarithmic steps (Bruck et al. 1997): blocks travel together, each the binary way to its destination. A block
 * that has d places to go takes a hop of 2^k in step k if bit k of d is set.
 *
 * <pre>
 *   4 ranks, rank 0's blocks        step 0 (to rank 1)    step 1 (to rank 2)
 *   for rank 1 (d = 01)             ──────► there
 *   for rank 2 (d = 10)                                   ──────► there
 *   for rank 3 (d = 11)             ──────► on rank 1     ──────► from 1 to 3, there
 * </pre>
 *
 * A rank knows a block by d alone: where it came from follows from the step. Every arrival has a slot of its own, those of
 * step k after those of the steps before. Ranks pass on blocks of others, so all must have the same length. All-gather in this
 * manner is {@link HalvingDoubling#allGather}.
 */
final class Bruck {
    private Bruck() {}

    /**
     * All-to-all.
     *
     * <p>Cost: log2(n) steps; n·S·(log2(n)/2 + 1) copied.
     */
    static void allToAll(RankBuilder me) {
        int n = me.size();
        int rank = me.rank();
        Lane lane = me.lane();
        lane.copy(me.input(rank), me.output(rank));
        Chunk[] held = new Chunk[n];
        for (int distance = 1; distance < n; distance++) {
            held[distance] = me.input((rank + distance) % n);
        }
        int slot = 0;
        for (int hop = 1; hop < n; hop *= 2) {
            int ahead = (rank + hop) % n;
            int back = Math.floorMod(rank - hop, n);
            int first = slot;
            for (int distance = hop; distance < n; distance = nextWith(hop, distance)) {
                lane.copy(held[distance], me.scratchOf(ahead, slot++, me.output(rank)));
            }
            lane.signal(me.channel(ahead)).await(me.channel(back));
            int arrived = first;
            for (int distance = hop; distance < n; distance = nextWith(hop, distance)) {
                held[distance] = me.scratch(arrived++, me.output(rank));
                if (distance < 2 * hop) {
                    int source = Math.floorMod(rank - distance, n);
                    Chunk result = me.output(source);
                    lane.copy(me.scratch(arrived - 1, result), result);
                }
            }
        }
    }

    /** The next distance that has the hop's bit. */
    private static int nextWith(int hop, int distance) {
        return (distance + 1) | hop;
    }
}
