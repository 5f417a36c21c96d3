package dev.tutti.bench.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** Everything that was measured with one number of ranks: per row and round the median batch of every entry. */
final class Results {
    /**
     * One turn of everybody.
     *
     * @param lineNanos the round trip of a cache line before it, and after it, too, if the cores stayed where they were
     * @param micros the median batch of each entry that ran
     */
    record Round(double lineNanos, Map<String, Double> micros) {}

    /** One row: its rounds, and how many were not counted, as the cores moved meanwhile. */
    static final class Entries {
        final List<Round> rounds = new ArrayList<>();
        int moved;

        /** What each round has to say about an entry. */
        List<Double> of(String entry) {
            return rounds.stream()
                    .map(round -> round.micros.get(entry))
                    .filter(Objects::nonNull)
                    .toList();
        }

        /** Median of the rounds. */
        OptionalDouble micros(String entry) {
            return median(of(entry));
        }

        /** How many times faster than another, round by round: the median. */
        OptionalDouble ratio(String entry, String other) {
            return median(rounds.stream()
                    .map(Round::micros)
                    .filter(round -> round.containsKey(entry) && round.containsKey(other))
                    .map(round -> round.get(other) / round.get(entry))
                    .toList());
        }

        OptionalDouble lineNanos() {
            return median(rounds.stream().map(Round::lineNanos).toList());
        }
    }

    final int ranks;
    final List<String> natives;
    final List<String> ours;
    /** Loops by hand: what the machine can do. */
    final List<String> byHand;
    /** Ours with 16-bit floats: after the name of the entry with float32 a space, and the type. */
    final List<String> narrow;

    final Map<Row, Entries> rows = new LinkedHashMap<>();

    Results(int ranks, List<String> natives, List<String> ours, List<String> byHand, List<String> narrow) {
        this.ranks = ranks;
        this.natives = natives;
        this.ours = ours;
        this.byHand = byHand;
        this.narrow = narrow;
    }

    /** Everything whose ratio to the native libraries is told. */
    List<String> compared() {
        return Stream.concat(ours.stream(), byHand.stream()).toList();
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

    /**
     * How many times faster than the native library that comes closest; above 1 is better. Rounds are compared one by one: between
     * two of them the cores may have moved, and everybody became slower.
     */
    OptionalDouble ratio(Row row, String entry) {
        Entries entries = of(row);
        return natives.stream()
                .map(name -> entries.ratio(entry, name))
                .filter(OptionalDouble::isPresent)
                .mapToDouble(OptionalDouble::getAsDouble)
                .min();
    }

    static OptionalDouble median(List<Double> values) {
        return values.isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(
                        median(values.stream().mapToDouble(Double::doubleValue).toArray()));
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
