package dev.tutti.bench.compare;

import dev.tutti.Collective;
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
                List<Row> rows = rows(collective, rewriting);
                if (!rows.isEmpty()) {
                    table(collective, rewriting, rows);
                }
            }
        }
        summary();
        smallFloats();
    }

    private List<Row> rows(Collective collective, boolean rewriting) {
        return results.rows.keySet().stream()
                .filter(row -> row.collective() == collective && row.rewriting() == rewriting)
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
        results.compared().forEach(name -> head.append(' ').append(name).append(" |"));
        out.println(head);
        out.println(head.toString().replaceAll("[^|]+", "---"));
        for (Row row : rows) {
            Results.Entries entries = results.of(row);
            StringBuilder line = new StringBuilder(
                    "| " + row.size() + " | " + Math.round(entries.lineNanos().orElse(0)) + " |");
            results.natives.forEach(name ->
                    line.append(' ').append(micros(entries.micros(name))).append(" |"));
            for (String name : results.compared()) {
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
        out.println("### Summary, " + results.ranks
                + " ranks, inputs rewritten unless it says unchanged: geometric mean (least, at bytes)");
        out.println();
        StringBuilder head = new StringBuilder("| collective |");
        results.compared().forEach(name -> head.append(' ').append(name).append(" |"));
        out.println(head);
        out.println(head.toString().replaceAll("[^|]+", "---"));
        for (boolean rewriting : new boolean[] {true, false}) {
            for (Collective collective : Row.COLLECTIVES) {
                List<Row> rows = rows(collective, rewriting);
                if (!rows.isEmpty()) {
                    StringBuilder line =
                            new StringBuilder("| " + Row.name(collective) + (rewriting ? " |" : ", unchanged |"));
                    results.compared()
                            .forEach(name ->
                                    line.append(' ').append(mean(rows, name)).append(" |"));
                    out.println(line);
                }
            }
        }
        trips();
    }

    private void trips() {
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

    /** 16-bit floats beside float32 of as many bytes, round by round; native libraries have none worth comparing with. */
    private void smallFloats() {
        if (results.narrow.isEmpty()) {
            return;
        }
        out.println();
        out.println("### 16-bit floats, " + results.ranks
                + " ranks: us, and in brackets the time relative to Tutti's float32 of as many bytes");
        out.println();
        StringBuilder head = new StringBuilder("| collective | bytes |");
        results.narrow.forEach(name -> head.append(' ').append(name).append(" |"));
        out.println(head);
        out.println(head.toString().replaceAll("[^|]+", "---"));
        results.rows.forEach((row, entries) -> {
            if (row.isReducing() && row.rewriting()) {
                StringBuilder line = new StringBuilder("| " + Row.name(row.collective()) + " | " + row.size() + " |");
                for (String name : results.narrow) {
                    line.append(' ').append(micros(entries.micros(name)));
                    entries.ratio(name.substring(0, name.indexOf(' ')), name)
                            .ifPresent(ratio -> line.append(format(" (%.2f)", ratio)));
                    line.append(" |");
                }
                out.println(line);
            }
        });
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
