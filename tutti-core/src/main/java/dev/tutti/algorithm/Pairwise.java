package dev.tutti.algorithm;

import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;

/** All-to-all with one partner after the other, so that what arrives is read while it is still in the cache. */
final class Pairwise {
    private Pairwise() {}

    /**
     * In step s every rank writes to the one s places ahead and reads what came from s places back.
     *
     * <pre>
     *   step 1   0►1►2►3►0
     *   step 2   0►2►0, 1►3►1
     *   step 3   0►3►2►1►0
     * </pre>
     *
     * Cost: n-1 steps, 2·n·S copied.
     */
    static void allToAll(RankBuilder me) {
        int n = me.size();
        Lane lane = me.scratchSlots(n).lane();
        lane.copy(me.input(me.rank()), me.output(me.rank()));
        for (int step = 1; step < n; step++) {
            int to = (me.rank() + step) % n;
            int from = Math.floorMod(me.rank() - step, n);
            lane.copy(me.input(to), me.scratchOf(to, me.rank(), me.input(to))).signal(me.channel(to));
            lane.await(me.channel(from)).copy(me.scratch(from, me.output(from)), me.output(from));
        }
    }
}
