package dev.tutti.plan.simulate;

import java.util.Arrays;

/**
 * A grid whose ends are joined: every rank has a link to each neighbour in each direction, and messages go dimension by dimension,
 * the shorter way round. Ranks count along the first dimension first.
 */
final class TorusNetwork implements Network {
    private final int[] sizes;
    private final int ranks;
    private final double hopNanos;
    private final double nanosPerByte;

    TorusNetwork(int[] sizes, double hopNanos, double nanosPerByte) {
        this.sizes = sizes.clone();
        this.ranks = Arrays.stream(sizes).reduce(1, Math::multiplyExact);
        this.hopNanos = hopNanos;
        this.nanosPerByte = nanosPerByte;
    }

    /** Sides as equal as the number of ranks allows, the longest last. */
    static int[] sides(int ranks, int dimensions) {
        int[] sides = new int[dimensions];
        int rest = ranks;
        for (int i = 0; i < dimensions; i++) {
            int side = (int) Math.round(Math.pow(rest, 1.0 / (dimensions - i)));
            while (rest % side != 0) {
                side--;
            }
            sides[i] = side;
            rest /= side;
        }
        Arrays.sort(sides);
        return sides;
    }

    @Override
    public int links() {
        return ranks * sizes.length * 2;
    }

    @Override
    public double nanosPerByte(int link) {
        return nanosPerByte;
    }

    @Override
    public int route(int from, int to, int[] links) {
        int count = 0;
        int at = from;
        int stride = 1;
        for (int dimension = 0; dimension < sizes.length; dimension++) {
            int size = sizes[dimension];
            int steps = Math.floorMod(to / stride % size - at / stride % size, size);
            boolean forward = steps <= size - steps;
            for (int left = forward ? steps : size - steps; left > 0; left--) {
                links[count++] = (at * sizes.length + dimension) * 2 + (forward ? 0 : 1);
                int place = at / stride % size;
                at += (Math.floorMod(place + (forward ? 1 : -1), size) - place) * stride;
            }
            stride *= size;
        }
        return count;
    }

    @Override
    public double latencyNanos(int from, int to) {
        int hops = 0;
        int stride = 1;
        for (int size : sizes) {
            int steps = Math.floorMod(to / stride % size - from / stride % size, size);
            hops += Math.min(steps, size - steps);
            stride *= size;
        }
        return hops * hopNanos;
    }

    @Override
    public int longestRoute() {
        return Math.max(1, Arrays.stream(sizes).map(size -> size / 2).sum());
    }

    @Override
    public int period() {
        return sizes.length == 1 ? 1 : ranks / sizes[sizes.length - 1];
    }

    @Override
    public int represent(int link, int period) {
        return link % (period * sizes.length * 2);
    }

    @Override
    public String describe(int link) {
        int dimension = link / 2 % sizes.length;
        return "link of rank " + link / 2 / sizes.length + " in dimension " + dimension
                + (link % 2 == 0 ? " forward" : " back");
    }
}
