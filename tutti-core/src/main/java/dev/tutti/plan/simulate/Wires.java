package dev.tutti.plan.simulate;

import java.util.Arrays;

/**
 * Moves bytes over the network's links. Where ranks stand for others, a link stands for the same link of those: links of ranks
 * beyond the period are those of their representatives.
 */
final class Wires {
    private final Network network;
    private final int ranks;
    private final int period;
    private final double[] freeAt;
    private final double[] nanosPerByte;
    private final int[] route;
    /** When the last byte of the latest transfer has left its sender. */
    double left;
    /** When the last byte of the latest transfer is there. */
    double arrived;

    Wires(Network network, int ranks, int period) {
        this.network = network;
        this.ranks = ranks;
        this.period = period;
        this.freeAt = new double[network.links()];
        this.nanosPerByte = new double[network.links()];
        Arrays.setAll(nanosPerByte, network::nanosPerByte);
        this.route = new int[network.longestRoute() + 1];
    }

    double latencyNanos(int from, int to) {
        return network.latencyNanos(from, to);
    }

    /** Sends bytes; {@link #left} and {@link #arrived} tell when. */
    void send(int from, int to, double bytes, double at) {
        occupy(from, to, bytes, at, true, true);
    }

    /**
     * Sends bytes of which a switch makes copies, or folds: only the first of a group's transfers counts at the rank's own port.
     *
     * @param own whether the transfer uses the port of the rank that the operation belongs to
     * @param outwards whether that rank is the sender
     */
    void sendThroughSwitch(int from, int to, double bytes, double at, boolean own, boolean outwards) {
        occupy(from, to, bytes, at, own || !outwards, own || outwards);
    }

    private void occupy(int from, int to, double bytes, double at, boolean first, boolean last) {
        double time = at;
        double end = at;
        int count = network.route(from, to, route);
        left = at;
        for (int i = 0; i < count; i++) {
            if ((i == 0 && !first) || (i == count - 1 && !last)) {
                continue;
            }
            int link = period == ranks ? route[i] : network.represent(route[i], period);
            double nanos = bytes * nanosPerByte[link];
            if (nanos > 0) {
                time = Math.max(time, freeAt[link]);
                freeAt[link] = time + nanos;
                end = Math.max(end, time + nanos);
            }
            if (i == 0) {
                left = end;
            }
        }
        arrived = end + network.latencyNanos(from, to);
    }
}
