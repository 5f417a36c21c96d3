package dev.tutti.bench.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Everything that was measured with one number of ranks: per row and entry the median batch of every round. */
final class Results {
    /** One row: rounds of every entry, and the cache-line round trips that were taken beside them. */
    static final class Entries {
        final Map<String, List<Double>> rounds = new LinkedHashMap<>();
        final List<Double> calibrations = new ArrayList<>();

        void add(String entry, double[] batches) {
            rounds.computeIfAbsent(entry, any -> new ArrayList<>()).add(median(batches));
        }

        /** Median of the rounds. */
        OptionalDouble micros(String entry) {
            List<Double> values = rounds.get(entry);
            return values == null ? OptionalDouble.empty() : OptionalDouble.of(median(values));
        }
    }

    final int ranks;
    final List<String> natives;
    final List<String> ours;
    final Map<Row, Entries> rows = new LinkedHashMap<>();

    Results(int ranks, List<String> natives, List<String> ours) {
        this.ranks = ranks;
        this.natives = natives;
        this.ours = ours;
    }

    Entries of(Row row) {
        return rows.computeIfAbsent(row, any -> new Entries());
    }

    /** The fastest native library at a row. */
    OptionalDouble bestNative(Row row) {
        Entries entries = of(row);
        return natives.stream()
                .map(entries::micros)
                .filter(OptionalDouble::isPresent)
                .mapToDouble(OptionalDouble::getAsDouble)
                .min();
    }

    /** How many times faster than the fastest native library; above 1 is better. */
    OptionalDouble ratio(Row row, String entry) {
        OptionalDouble best = bestNative(row);
        OptionalDouble mine = of(row).micros(entry);
        return best.isPresent() && mine.isPresent()
                ? OptionalDouble.of(best.getAsDouble() / mine.getAsDouble())
                : OptionalDouble.empty();
    }

    static double median(List<Double> values) {
        return median(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
