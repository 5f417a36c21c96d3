package dev.tutti.matrix;

import dev.tutti.DataType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Draws cells so that every pair of values of two axes occurs. Each cell is, for what it costs, the best of some random ones that
 * have a pair which none had before; a pair for which no legal cell is found is taken not to exist.
 */
final class Sampler {
    private static final Axis[] AXES = Axis.values();
    private static final int TRIES = 60;
    private static final int CANDIDATES = 20;

    /** What a cell costs beside its ranks, in ranks; and what a lone one counts for, with which little can go wrong. */
    private static final int ANY_CELL = 16;

    private static final int LONE_RANK = 16;

    /** How much more a cell costs that needs a world of its own. */
    private static final double NEW_WORLD = 1.5;

    private final Random random;
    private final int[] first = new int[AXES.length + 1];

    Sampler(long seed) {
        this.random = new Random(seed);
        for (int axis = 0; axis < AXES.length; axis++) {
            first[axis + 1] = first[axis] + AXES[axis].values.size();
        }
    }

    /** A point with all values at random, but those given as 0 or more. */
    private int[] draw(int[] fixed) {
        int[] point = new int[AXES.length];
        for (int axis = 0; axis < AXES.length; axis++) {
            point[axis] = fixed[axis] >= 0 ? fixed[axis] : random.nextInt(AXES[axis].values.size());
        }
        // What the route rules out is not worth trying.
        Route route = Route.ALL.get(point[Axis.ROUTE.ordinal()]);
        if (fixed[Axis.OPERATOR.ordinal()] < 0) {
            point[Axis.OPERATOR.ordinal()] =
                    route.operation().collective.isReducing() ? 1 + random.nextInt(Operator.values().length - 1) : 0;
        }
        if (fixed[Axis.ROOT.ordinal()] < 0 && !route.operation().collective.isRooted()) {
            point[Axis.ROOT.ordinal()] = 0;
        }
        if (fixed[Axis.IN_PLACE.ordinal()] < 0) {
            boolean either = route.operation().hasInPlace() && route.operation().hasOutOfPlace();
            point[Axis.IN_PLACE.ordinal()] =
                    either ? random.nextInt(2) : route.operation().hasInPlace() ? 1 : 0;
        }
        if (route.isDirect()) {
            set(point, fixed, Axis.IN, Placement.ALLOCATED.ordinal());
            set(point, fixed, Axis.OUT, Placement.ALLOCATED.ordinal());
        } else if (route.operation().collective.isRooted()
                && random.nextBoolean()
                && point[Axis.IN.ordinal()] != point[Axis.OUT.ordinal()]) {
            // Registered memory on some ranks only is a mismatch.
            set(point, fixed, Axis.OUT, point[Axis.IN.ordinal()]);
        }
        if (route.operation() == Operation.BARRIER) {
            set(point, fixed, Axis.TYPE, DataType.INT8.ordinal());
            set(point, fixed, Axis.EXTENT, 0);
            set(point, fixed, Axis.SHIFT, 0);
            set(point, fixed, Axis.IN, 0);
            set(point, fixed, Axis.OUT, 0);
        }
        return point;
    }

    private static void set(int[] point, int[] fixed, Axis axis, int value) {
        if (fixed[axis.ordinal()] < 0) {
            point[axis.ordinal()] = value;
        }
    }

    static Cell cell(int[] point, int variant) {
        Route route = Route.ALL.get(point[Axis.ROUTE.ordinal()]);
        int ranks = (Integer) Axis.RANKS.values.get(point[Axis.RANKS.ordinal()]);
        int root = switch (point[Axis.ROOT.ordinal()]) {
            case 0 -> 0;
            case 1 -> ranks > 2 ? 1 + variant % (ranks - 2) : 0;
            default -> ranks - 1;
        };
        return new Cell(
                route.operation(),
                route.algorithm(),
                route.protocol(),
                DataType.values()[point[Axis.TYPE.ordinal()]],
                Operator.values()[point[Axis.OPERATOR.ordinal()]],
                ranks,
                Extent.values()[point[Axis.EXTENT.ordinal()]],
                Form.values()[point[Axis.FORM.ordinal()]],
                Placement.values()[point[Axis.IN.ordinal()]],
                Placement.values()[point[Axis.OUT.ordinal()]],
                point[Axis.IN_PLACE.ordinal()] == 1,
                point[Axis.SHIFT.ordinal()],
                root,
                1 + point[Axis.LANES.ordinal()],
                Setting.values()[point[Axis.SETTING.ordinal()]],
                variant);
    }

    /** A legal point with these values (those that are 0 or more) and random others, or null if none is found. */
    int[] any(int[] fixed) {
        for (int i = 0; i < TRIES; i++) {
            int[] point = draw(fixed);
            if (cell(point, 0).illegal() == null) {
                return point;
            }
        }
        return null;
    }

    /** A random cell for any number of ranks that leaves the choice of the algorithm to the world. */
    Cell step(int ranks, boolean virtual, int variant) {
        int[] fixed = new int[AXES.length];
        Arrays.fill(fixed, -1);
        fixed[Axis.RANKS.ordinal()] = Axis.RANKS.values.indexOf(ranks);
        fixed[Axis.LANES.ordinal()] = 0;
        fixed[Axis.SETTING.ordinal()] = Setting.SMALL.ordinal();
        while (true) {
            fixed[Axis.ROUTE.ordinal()] = random.nextInt(Route.ALL.size());
            fixed[Axis.FORM.ordinal()] = virtual ? Form.VIRTUAL.ordinal() : random.nextInt(Form.VIRTUAL.ordinal());
            int[] point = any(fixed);
            Cell cell = point == null ? null : cell(point, variant);
            // A forced algorithm may not be able to run the user's functions.
            if (cell != null
                    && cell.algorithm().equals(Cell.AUTO)
                    && !cell.operator().isUser()) {
                return cell;
            }
        }
    }

    /** The pairs that exist, and cells that have them all. */
    record Sample(List<Cell> cells, int pairs, int pairsThatDoNotExist) {}

    Sample pairs() {
        int values = first[AXES.length];
        BitSet open = new BitSet(values * values);
        for (int a = 0; a < AXES.length; a++) {
            for (int b = a + 1; b < AXES.length; b++) {
                for (int v = first[a]; v < first[a + 1]; v++) {
                    open.set(v * values + first[b], v * values + first[b + 1]);
                }
            }
        }
        int all = open.cardinality();
        int impossible = 0;
        List<Cell> cells = new ArrayList<>();
        Set<Cell.WorldKey> worlds = new HashSet<>();
        for (int pair = open.nextSetBit(0); pair >= 0; pair = open.nextSetBit(pair)) {
            int[] best = null;
            double gain = 0;
            int found = 0;
            for (int i = 0; i < TRIES && found < CANDIDATES; i++) {
                int[] fixed = new int[AXES.length];
                Arrays.fill(fixed, -1);
                fix(fixed, pair / values);
                fix(fixed, pair % values);
                int[] point = draw(fixed);
                Cell candidate = cell(point, 0);
                if (candidate.illegal() == null) {
                    found++;
                    double covered = mark(open, point, values, false) / cost(candidate, worlds);
                    if (covered > gain) {
                        gain = covered;
                        best = point;
                    }
                }
            }
            if (best == null) {
                open.clear(pair);
                impossible++;
            } else {
                mark(open, best, values, true);
                Cell chosen = cell(best, random.nextInt(1 << 20));
                worlds.add(chosen.world());
                cells.add(chosen);
            }
        }
        return new Sample(cells, all - impossible, impossible);
    }

    private static double cost(Cell cell, Set<Cell.WorldKey> worlds) {
        int ranks = cell.ranks() == 1 ? LONE_RANK : cell.ranks();
        return (ANY_CELL + ranks) * (worlds.contains(cell.world()) ? 1 : NEW_WORLD);
    }

    private void fix(int[] fixed, int value) {
        int axis = 0;
        while (first[axis + 1] <= value) {
            axis++;
        }
        fixed[axis] = value - first[axis];
    }

    /** How many open pairs a point has; closes them if asked to. */
    private int mark(BitSet open, int[] point, int values, boolean close) {
        int count = 0;
        for (int a = 0; a < AXES.length; a++) {
            for (int b = a + 1; b < AXES.length; b++) {
                int pair = (first[a] + point[a]) * values + first[b] + point[b];
                if (open.get(pair)) {
                    count++;
                    if (close) {
                        open.clear(pair);
                    }
                }
            }
        }
        return count;
    }
}
