package dev.tutti.algorithm;

import dev.tutti.Collective;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import dev.tutti.plan.Reach;
import java.util.function.Consumer;

/**
 * One way to run a collective: who writes its plans, and what is known about them.
 *
 * @param name what users call it; with the protocol it is unique within a collective
 * @param collective what it computes
 * @param protocol how its transfers announce themselves
 * @param foldsInRankOrder whether every element is exactly ((x0 op x1) op x2) …, as a function that is not commutative needs
 * @param ragged whether blocks may have different lengths
 * @param readsPeers whether ranks read each other's scratch, for which it must be addressable
 * @param direct whether ranks reach into each other's input or output, which must be registered
 * @param author writes the part of one rank
 * @param cost how long it should take
 */
public record Algorithm(
        String name,
        Collective collective,
        Protocol protocol,
        boolean foldsInRankOrder,
        boolean ragged,
        boolean readsPeers,
        boolean direct,
        Consumer<RankBuilder> author,
        Cost cost) {

    /**
     * A plan of this algorithm.
     *
     * @param ranks how many ranks take part
     * @param root the root of a rooted collective, else 0
     * @param lanes how many lanes share each rank's part
     * @return the plan; its parts are written when they are asked for
     */
    public Plan plan(int ranks, int root, int lanes) {
        return Plan.of(name, collective, ranks, root, protocol, author)
                .reaching(direct ? Reach.GUARDED : Reach.OWN)
                .replicated(lanes);
    }

    @Override
    public String toString() {
        return name + "/" + protocol;
    }
}
