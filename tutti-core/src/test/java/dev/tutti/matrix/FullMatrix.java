package dev.tutti.matrix;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * All cells of (operation and algorithm) × type × operator × ranks × extent in random order, the other axes at random, until
 * all have run or time is up.
 */
final class FullMatrix {
    private static final Axis[] PRODUCT = {Axis.ROUTE, Axis.TYPE, Axis.OPERATOR, Axis.RANKS, Axis.EXTENT};
    private static final int LEAST_BATCH = 2000;
    private static final int MOST_BATCH = 50_000;
    private static final int MOST_FAILURES = 50;

    private final long seed;
    private final Random random;
    private final Sampler sampler;
    private final int[] cells;
    private final int first;
    private final int end;
    private final Map<Axis, Set<Object>> seen = new EnumMap<>(Axis.class);

    /**
     * A part of them: with the same seed, the parts together are the whole.
     *
     * @param part 1 to {@code parts}
     */
    FullMatrix(long seed, int part, int parts) {
        this.seed = seed;
        this.random = new Random(seed);
        this.sampler = new Sampler(seed);
        this.cells = existing();
        shuffle();
        this.first = (int) ((part - 1L) * cells.length / parts);
        this.end = (int) ((long) part * cells.length / parts);
    }

    private static int[] existing() {
        int all = Arrays.stream(PRODUCT).mapToInt(axis -> axis.values.size()).reduce(1, Math::multiplyExact);
        int[] existing = new int[all];
        int count = 0;
        for (int number = 0; number < all; number++) {
            if (exists(point(number))) {
                existing[count++] = number;
            }
        }
        return Arrays.copyOf(existing, count);
    }

    /** Values of the product's axes; -1 for the others. */
    private static int[] point(int number) {
        int[] point = new int[Axis.values().length];
        Arrays.fill(point, -1);
        int rest = number;
        for (Axis axis : PRODUCT) {
            point[axis.ordinal()] = rest % axis.values.size();
            rest /= axis.values.size();
        }
        return point;
    }

    /** Whether the cell exists with the plainest values of the other axes. */
    private static boolean exists(int[] point) {
        int[] plain = point.clone();
        for (Axis axis : Axis.values()) {
            if (plain[axis.ordinal()] < 0) {
                plain[axis.ordinal()] = 0;
            }
        }
        Operation operation = Route.ALL.get(plain[Axis.ROUTE.ordinal()]).operation();
        plain[Axis.IN_PLACE.ordinal()] = operation.hasOutOfPlace() ? 0 : 1;
        plain[Axis.SETTING.ordinal()] = Setting.SMALL.ordinal();
        return Sampler.cell(plain, 0).illegal() == null;
    }

    private void shuffle() {
        for (int i = cells.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = cells[i];
            cells[i] = cells[j];
            cells[j] = swapped;
        }
    }

    /** Runs and prints; returns what went wrong. */
    List<MatrixRun.Failure> run(double minutes) {
        // What all pairs need comes with the first part.
        List<Cell> pairs = first == 0 ? sampler.pairs().cells() : List.of();
        System.out.printf(
                "matrix: seed %d, %,d cells for all pairs of values, then %,d to %,d of %,d, at most %s minutes%n",
                seed, pairs.size(), first + 1, end, cells.length, minutes);
        long start = System.nanoTime();
        MatrixRun run = new MatrixRun(start + (long) (minutes * TimeUnit.MINUTES.toNanos(1)));
        note(run.run(pairs));
        int sampled = run.done();
        // Cells that share a world run faster, cells of many worlds cover more: the less time there is, the fewer at
        // once.
        int batch = (int) Math.clamp(minutes * LEAST_BATCH, LEAST_BATCH, MOST_BATCH);
        boolean more = sampled == pairs.size();
        for (int next = first; more && next < end && run.failures().size() < MOST_FAILURES; next += batch) {
            List<Cell> drawn = new ArrayList<>();
            for (int i = next; i < Math.min(end, next + batch); i++) {
                drawn.add(Sampler.cell(sampler.any(point(cells[i])), random.nextInt(1 << 20)));
            }
            List<Cell> ran = run.run(drawn);
            note(ran);
            more = ran.size() == drawn.size();
        }
        print(run, sampled, (System.nanoTime() - start) / 1e9);
        return run.failures();
    }

    private void note(List<Cell> ran) {
        for (Axis axis : Axis.values()) {
            ran.forEach(cell -> seen.computeIfAbsent(axis, _ -> new HashSet<>()).add(axis.of(cell)));
        }
    }

    private void print(MatrixRun run, int sampled, double seconds) {
        System.out.printf("%-12s %8s %8s%n", "axis", "covered", "values");
        for (Axis axis : Axis.values()) {
            Set<Object> covered = seen.getOrDefault(axis, Set.of());
            List<?> missing = axis.values.stream()
                    .filter(value -> !covered.contains(value))
                    .toList();
            System.out.printf(
                    "%-12s %8d %8d%s%n",
                    axis, covered.size(), axis.values.size(), missing.isEmpty() ? "" : "   not " + missing);
        }
        System.out.printf(
                "cells: %,d for all pairs, %,d of %,d; %,d worlds, %.0f s, %d failures%n",
                sampled,
                run.done() - sampled,
                cells.length,
                run.worlds(),
                seconds,
                run.failures().size());
    }
}
