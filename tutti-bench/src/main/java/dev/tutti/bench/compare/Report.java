package dev.tutti.bench.compare;

import dev.tutti.Collective;
import dev.tutti.DataType;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Tables of microseconds and ratios, and the geometric means against what was aimed at. */
final class Report {
    private final Results results;
    private final PrintStream out;

    Report(Results results, PrintStream out) {
        this.results = results;
        this.out = out;
    }

    void print() {
        for (Collective collective : Row.COLLECTIVES) {
            for (boolean rewriting : new boolean[] {true, false}) {
                List<Row> rows = rows(collective, rewriting, DataType.FLOAT32);
                if (!rows.isEmpty()) {
                    table(collective, rewriting, rows);
                }
            }
        }
        summary();
        smallFloats();
    }

    private List<Row> rows(Collective collective, boolean rewriting, DataType type) {
        return results.rows.keySet().stream()
                .filter(row -> row.collective() == collective && row.rewriting() == rewriting && row.type() == type)
                .toList();
    }

    private void table(Collective collective, boolean rewriting, List<Row> rows) {
        out.println();
        out.println("### " + Row.name(collective) + ", " + results.ranks + " ranks, "
                + (collective == Collective.BARRIER ? "" : rewriting ? "inputs rewritten, " : "inputs unchanged, ")
                + "us per operation and, in brackets, times faster than the best native");
        out.println();
        StringBuilder head = new StringBuilder("| bytes | line ns |");
        results.natives.forEach(name -> head.append(' ').append(name).append(" |"));
        results.ours.forEach(name -> head.append(' ').append(name).append(" |"));
        out.println(head);
        out.println(head.toString().replaceAll("[^|]+", "---"));
        for (Row row : rows) {
            Results.Entries entries = results.of(row);
            StringBuilder line = new StringBuilder(
                    "| " + row.size() + " | " + Math.round(entries.lineNanos().orElse(0)) + " |");
            results.natives.forEach(name ->
                    line.append(' ').append(micros(entries.micros(name))).append(" |"));
            for (String name : results.ours) {
                line.append(' ').append(micros(entries.micros(name)));
                results.ratio(row, name).ifPresent(ratio -> line.append(format(" (%.2f)", ratio)));
                line.append(" |");
            }
            out.println(line);
        }
    }

    /** Least ratio and geometric mean of every collective; the variant with rewritten inputs is the one that counts. */
    private void summary() {
        if (results.natives.isEmpty()) {
            return;
        }
        out.println();
        out.println("### Summary, " + results.ranks + " ranks, inputs rewritten: geometric mean (least, at bytes)");
        out.println();
        StringBuilder head = new StringBuilder("| collective |");
        results.ours.forEach(name -> head.append(' ').append(name).append(" |"));
        out.println(head);
        out.println(head.toString().replaceAll("[^|]+", "---"));
        for (Collective collective : Row.COLLECTIVES) {
            List<Row> rows = rows(collective, true, DataType.FLOAT32);
            if (!rows.isEmpty()) {
                StringBuilder line = new StringBuilder("| " + Row.name(collective) + " |");
                results.ours.forEach(
                        name -> line.append(' ').append(mean(rows, name)).append(" |"));
                out.println(line);
            }
        }
        double[] trips = results.rows.values().stream()
                .flatMap(entries -> entries.rounds.stream())
                .mapToDouble(Results.Round::lineNanos)
                .sorted()
                .toArray();
        if (trips.length > 0) {
            out.println();
            out.println(format(
                    "Cache-line round trip: %.0f to %.0f ns, median %.0f, over %d rounds; %d rounds in which it changed are not counted.",
                    trips[0],
                    trips[trips.length - 1],
                    Results.median(trips),
                    trips.length,
                    results.rows.values().stream()
                            .mapToInt(entries -> entries.moved)
                            .sum()));
        }
    }

    private String mean(List<Row> rows, String name) {
        double logs = 0;
        int count = 0;
        double least = Double.MAX_VALUE;
        String where = "";
        for (Row row : rows) {
            OptionalDouble ratio = results.ratio(row, name);
            if (ratio.isPresent()) {
                logs += Math.log(ratio.getAsDouble());
                count++;
                if (ratio.getAsDouble() < least) {
                    least = ratio.getAsDouble();
                    where = row.size();
                }
            }
        }
        return count == 0 ? "" : format("%.2f (%.2f at %s)", Math.exp(logs / count), least, where);
    }

    /** 16-bit floats beside float32 of as many bytes; native libraries have none worth comparing with. */
    private void smallFloats() {
        List<Row> rows = results.rows.keySet().stream()
                .filter(row -> row.type() != DataType.FLOAT32)
                .toList();
        if (rows.isEmpty()) {
            return;
        }
        out.println();
        out.println(
                "### 16-bit floats, " + results.ranks + " ranks: time relative to Tutti's float32 of as many bytes");
        out.println();
        StringBuilder head = new StringBuilder("| collective | type | bytes |");
        List<String> ours = results.ours.stream()
                .filter(name -> !name.equals("tutti-array"))
                .toList();
        ours.forEach(name -> head.append(' ').append(name).append(" |"));
        out.println(head);
        out.println(head.toString().replaceAll("[^|]+", "---"));
        for (Row row : rows) {
            Row wide = new Row(row.collective(), row.bytes(), row.rewriting(), DataType.FLOAT32);
            StringBuilder line = new StringBuilder(
                    "| " + Row.name(row.collective()) + " | " + row.type() + " | " + row.size() + " |");
            for (String name : ours) {
                OptionalDouble narrow = results.of(row).micros(name);
                OptionalDouble other =
                        results.rows.containsKey(wide) ? results.of(wide).micros(name) : OptionalDouble.empty();
                line.append(' ').append(micros(narrow));
                if (narrow.isPresent() && other.isPresent()) {
                    line.append(format(" (%.2f)", narrow.getAsDouble() / other.getAsDouble()));
                }
                line.append(" |");
            }
            out.println(line);
        }
    }

    private static String micros(OptionalDouble value) {
        if (value.isEmpty()) {
            return "-";
        }
        double micros = value.getAsDouble();
        return micros < 10 ? format("%.3f", micros) : micros < 1000 ? format("%.1f", micros) : format("%.0f", micros);
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
