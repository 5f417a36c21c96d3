package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.channels;

import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;

/** Signals without data. */
final class Barriers {
    private Barriers() {}

    /**
     * Everybody signals everybody.
     *
     * <pre>
     *   rank 0 ──┬──►
     *   rank 1 ──┼──►  each waits for n-1 signals
     *   rank 2 ──┴──►
     * </pre>
     *
     * Cost: 1 step, n-1 signals and waits.
     */
    static void flat(RankBuilder me) {
        int[] channels = channels(me, me.peers());
        me.lane().signal(channels).await(channels);
    }

    /**
     * In step k everybody signals the rank 2^k further on: after step k it has heard from 2^(k+1)-1 others.
     *
     * <pre>
     *   step 0   0►1►2►3►4►0
     *   step 1   0►2►4►1►3►0
     *   step 2   0►4►3►2►1►0
     * </pre>
     *
     * Cost: log2(n) steps, one signal and wait in each.
     */
    static void dissemination(RankBuilder me) {
        int n = me.size();
        Lane lane = me.lane();
        for (int distance = 1; distance < n; distance *= 2) {
            lane.signal(me.channel((me.rank() + distance) % n)).await(me.channel((me.rank() + n - distance) % n));
        }
    }
}
