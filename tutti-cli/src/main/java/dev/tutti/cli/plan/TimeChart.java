package dev.tutti.cli.plan;

import dev.tutti.cli.common.ChartStyle;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Simulated time over the size of the message, or over the number of ranks. */
final class TimeChart {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 680;
    /** Apart for people who see colours differently, too (Okabe and Ito). */
    private static final Color[] COLORS = {
        new Color(0x0072B2), new Color(0xD55E00), new Color(0x009E73), new Color(0xCC79A7),
        new Color(0xE69F00), new Color(0x56B4E9), new Color(0x999999), new Color(0x000000)
    };

    private TimeChart() {}

    static void draw(Path file, String machine, List<SimulateCommand.Row> rows) throws IOException {
        System.setProperty("java.awt.headless", "true");
        boolean overRanks =
                rows.stream().mapToInt(SimulateCommand.Row::ranks).distinct().count() > 1;
        boolean severalSizes =
                rows.stream().mapToLong(SimulateCommand.Row::bytes).distinct().count() > 1;
        String subject = overRanks && !severalSizes ? size(rows.getFirst().bytes()) + " on " + machine : machine;
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title("Simulated time, " + subject)
                .xAxisTitle(overRanks ? "ranks" : "size (bytes)")
                .yAxisTitle("time (µs)")
                .build();
        style(chart, overRanks);
        Map<String, Map<Double, Double>> series = new LinkedHashMap<>();
        for (SimulateCommand.Row row : rows) {
            double x = overRanks ? row.ranks() : row.bytes();
            String name = overRanks && severalSizes ? row.name() + ", " + size(row.bytes()) : row.name();
            if (x > 0 && row.micros() > 0) {
                series.computeIfAbsent(name, absent -> new TreeMap<>()).put(Math.log(x) / Math.log(2), row.micros());
            }
        }
        int number = 0;
        for (Map.Entry<String, Map<Double, Double>> each : series.entrySet()) {
            XYSeries line = chart.addSeries(
                    each.getKey(),
                    each.getValue().keySet().stream()
                            .mapToDouble(Double::doubleValue)
                            .toArray(),
                    each.getValue().values().stream()
                            .mapToDouble(Double::doubleValue)
                            .toArray());
            Color color = COLORS[number++ % COLORS.length];
            line.setLineColor(color);
            line.setMarkerColor(color);
            line.setMarker(SeriesMarkers.CIRCLE);
            line.setLineStyle(new BasicStroke(2.4f));
        }
        BufferedImage picture = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = picture.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        chart.paint(graphics, WIDTH, HEIGHT);
        graphics.dispose();
        if (!ImageIO.write(picture, "png", file.toFile())) {
            throw new IOException("this Java cannot write PNG");
        }
    }

    private static void style(XYChart chart, boolean overRanks) {
        var styler = ChartStyle.apply(chart);
        styler.setXAxisTickLabelsFormattingFunction(power -> Math.abs(power - Math.rint(power)) > 1e-6
                ? ""
                : overRanks
                        ? String.format(Locale.ROOT, "%,.0f", Math.pow(2, power))
                        : size((long) Math.pow(2, power)));
        styler.setYAxisTickLabelsFormattingFunction(TimeChart::decade);
    }

    private static String decade(double value) {
        double digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        return Math.abs(digit - 1) > 1e-6
                ? ""
                : value >= 1 ? String.format(Locale.ROOT, "%,.0f", value) : String.valueOf(value);
    }

    private static String size(long bytes) {
        return bytes >= 1 << 30
                ? (bytes >> 30) + "G"
                : bytes >= 1 << 20 ? (bytes >> 20) + "M" : bytes >= 1 << 10 ? (bytes >> 10) + "K" : bytes + "B";
    }
}
