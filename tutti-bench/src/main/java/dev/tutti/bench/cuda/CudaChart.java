package dev.tutti.bench.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * Draws what {@link CudaBench} printed: {@code CudaChart OUTPUT.txt CHART.svg [COLLECTIVE]}. A picture of its own and no library's, as
 * machines with a GPU have no screen and often no fonts.
 */
public final class CudaChart {
    private static final int LEFT = 70;
    private static final int RIGHT = 725;
    private static final int TOP = 40;
    private static final int BOTTOM = 360;
    private static final double LEAST_MICROS = 3;
    private static final double MOST_MICROS = 2000;
    private static final String[] COLOURS = {"#1f77b4", "#2ca02c", "#d62728", "#9467bd"};

    private CudaChart() {}

    /** One line of the benchmark: back to back, in microseconds. */
    private record Row(int ranks, String collective, long bytes, double fused, double copies) {
        static Row of(String line) {
            String[] parts = line.split(",", -1);
            return new Row(
                    Integer.parseInt(parts[0]),
                    parts[1],
                    Long.parseLong(parts[2]),
                    Double.parseDouble(parts[3]),
                    Double.parseDouble(parts[5]));
        }
    }

    /**
     * Draws.
     *
     * @param arguments what the benchmark printed, where the picture goes, and perhaps a collective
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        String collective = arguments.length > 2 ? arguments[2] : "allReduce float32";
        List<Row> rows = Files.readAllLines(Path.of(arguments[0])).stream()
                .filter(line -> line.matches("\\d+,[^,]+,\\d+,.*"))
                .map(Row::of)
                .filter(row -> row.collective().equals(collective))
                .sorted(Comparator.comparingLong(Row::bytes))
                .toList();
        Files.writeString(Path.of(arguments[1]), svg(collective, rows));
    }

    private static String svg(String collective, List<Row> rows) {
        StringBuilder svg = new StringBuilder();
        add(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"420\" font-family=\"sans-serif\""
                        + " font-size=\"12\">");
        add(svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
        add(
                svg,
                "<text x=\"%d\" y=\"20\" font-size=\"14\">%s on one device, back to back: one launch (solid), device copies"
                        + " (dashed)</text>",
                LEFT,
                collective);
        for (int micros : new int[] {5, 10, 20, 50, 100, 200, 500, 1000}) {
            double y = y(micros);
            add(svg, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>", LEFT, RIGHT, y, y);
            add(svg, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d µs</text>", LEFT - 8, y + 4, micros);
        }
        long least = rows.getFirst().bytes();
        long most = rows.getLast().bytes();
        rows.stream()
                .mapToLong(Row::bytes)
                .distinct()
                .forEach(bytes -> add(
                        svg,
                        "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                        x(bytes, least, most),
                        BOTTOM + 18,
                        CudaBench.text(bytes)));
        int series = 0;
        for (int ranks : new TreeSet<>(rows.stream().map(Row::ranks).toList())) {
            String colour = COLOURS[series % COLOURS.length];
            StringBuilder fused = new StringBuilder();
            StringBuilder copies = new StringBuilder();
            for (Row row : rows) {
                if (row.ranks() == ranks) {
                    double x = x(row.bytes(), least, most);
                    fused.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y(row.fused())));
                    copies.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y(row.copies())));
                }
            }
            String line = "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"%s\"/>";
            add(svg, line, colour, "", fused.toString().strip());
            add(
                    svg,
                    line,
                    colour,
                    " stroke-dasharray=\"6 4\"",
                    copies.toString().strip());
            add(svg, "<text x=\"%d\" y=\"406\" fill=\"%s\">%d ranks</text>", 90 + 110 * series, colour, ranks);
            series++;
        }
        add(svg, "</svg>");
        return svg.toString();
    }

    private static void add(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static double x(long bytes, long least, long most) {
        return LEFT + (RIGHT - LEFT) * Math.log((double) bytes / least) / Math.log((double) most / least);
    }

    private static double y(double micros) {
        return BOTTOM - (BOTTOM - TOP) * Math.log(micros / LEAST_MICROS) / Math.log(MOST_MICROS / LEAST_MICROS);
    }
}
