package dev.tutti.cli.perf;

import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.Json;
import dev.tutti.cli.common.Names;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Time and bandwidth by size, with a name. */
record Curve(String label, List<Point> points) {
    record Point(double bytes, double micros, double busBandwidth) {}

    /** The curves of rows: one per case, or both sides of the table if there is but one case. */
    static List<Curve> of(String name, List<Row> rows, boolean bothSides) {
        Map<Case, List<Row>> cases = new LinkedHashMap<>();
        rows.forEach(row ->
                cases.computeIfAbsent(row.what(), what -> new ArrayList<>()).add(row));
        List<Curve> curves = new ArrayList<>();
        cases.forEach((what, series) -> {
            String label = name + (cases.size() > 1 ? " " + describe(what) : "");
            boolean both = bothSides && cases.size() == 1;
            curves.add(ofSide(both ? "out-of-place" : label, series, Row::outOfPlace));
            if (both) {
                curves.add(ofSide("in-place", series, Row::inPlace));
            }
        });
        return curves;
    }

    private static Curve ofSide(String label, List<Row> rows, Function<Row, Row.Half> side) {
        return new Curve(
                label,
                rows.stream()
                        .map(row -> new Point(
                                row.shape().bytes(),
                                side.apply(row).timeMicros(),
                                side.apply(row).busBandwidth()))
                        .toList());
    }

    static String describe(Case what) {
        String operator = what.program().isReducing() ? " " + Names.of(what.operator()) : "";
        String root = what.root() < 0 ? "" : " root " + what.root();
        return Names.of(what.type()) + operator + root;
    }

    /** The curves of a file that -J wrote, or nccl-tests did; out of place. */
    static List<Curve> read(Path file) {
        try {
            if (Json.read(Files.readString(file)) instanceof Map<?, ?> report
                    && report.get("results") instanceof List<?> results) {
                return ofResults(name(file), results);
            }
            throw CommandException.usage(file + " (--compare) has no results");
        } catch (IOException unreadable) {
            throw CommandException.usage("cannot read " + file + " (--compare)");
        } catch (IllegalArgumentException malformed) {
            throw CommandException.usage(file + " (--compare): " + malformed.getMessage());
        }
    }

    private static List<Curve> ofResults(String name, List<?> results) {
        Map<String, List<Point>> cases = new LinkedHashMap<>();
        for (Object result : results) {
            if (result instanceof Map<?, ?> row && row.get("out_of_place") instanceof Map<?, ?> side) {
                String what = row.get("type") + " " + row.get("redop") + " "
                        + Objects.toString(row.get("root")).strip();
                Object time = side.containsKey("time") ? side.get("time") : side.get("cpu_time");
                cases.computeIfAbsent(what, each -> new ArrayList<>())
                        .add(new Point(number(row.get("size")), number(time), number(side.get("bus_bw"))));
            }
        }
        List<Curve> curves = new ArrayList<>();
        cases.forEach((what, points) -> curves.add(new Curve(cases.size() > 1 ? name + " " + what : name, points)));
        return curves;
    }

    private static double number(@Nullable Object value) {
        return value instanceof Double number ? number : 0;
    }

    private static String name(Path file) {
        return file.getFileName().toString().replaceFirst("\\.json.*$", "");
    }
}
