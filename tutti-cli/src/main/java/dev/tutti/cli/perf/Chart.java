package dev.tutti.cli.perf;

import dev.tutti.cli.common.ChartStyle;
import dev.tutti.cli.common.CommandException;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.DoubleSummaryStatistics;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Latency and bus bandwidth over size, side by side in one picture. */
final class Chart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 640;
    /** Apart for people who see colours differently, too (Okabe and Ito). */
    private static final Color[] COLORS = {
        new Color(0x0072B2), new Color(0xD55E00), new Color(0x009E73), new Color(0xCC79A7),
        new Color(0xE69F00), new Color(0x56B4E9), new Color(0x999999), new Color(0x000000)
    };

    private Chart() {}

    static void draw(Path file, String title, List<Curve> curves) {
        System.setProperty("java.awt.headless", "true");
        XYChart latency = panel(title + ": latency", "time (µs)", curves, Curve.Point::micros);
        XYChart bandwidth = panel(title + ": bus bandwidth", "bus bandwidth (GB/s)", curves, Curve.Point::busBandwidth);
        BufferedImage picture = new BufferedImage(2 * WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = picture.createGraphics();
        latency.paint(graphics, WIDTH, HEIGHT);
        graphics.translate(WIDTH, 0);
        bandwidth.paint(graphics, WIDTH, HEIGHT);
        graphics.dispose();
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            if (!ImageIO.write(picture, "png", bytes)) {
                throw new IOException("this Java cannot write PNG");
            }
            Files.write(file, bytes.toByteArray());
        } catch (IOException failure) {
            throw CommandException.cannotWrite(file, "--plot", failure);
        }
    }

    private static XYChart panel(String title, String yTitle, List<Curve> curves, ToDoubleFunction<Curve.Point> value) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle("size (bytes)")
                .yAxisTitle(yTitle)
                .build();
        style(chart, decades(curves, value) > 2);
        Set<String> labels = new HashSet<>();
        int number = 0;
        for (Curve curve : curves) {
            // A logarithmic axis has no place for nothing.
            List<Curve.Point> points = curve.points().stream()
                    .filter(point -> point.bytes() > 0 && value.applyAsDouble(point) > 0)
                    .toList();
            if (!points.isEmpty()) {
                XYSeries series = chart.addSeries(
                        unique(labels, curve.label()),
                        points.stream()
                                .mapToDouble(point -> log2(point.bytes()))
                                .toArray(),
                        points.stream().mapToDouble(value).toArray());
                Color color = COLORS[number % COLORS.length];
                series.setMarkerColor(color);
                series.setLineColor(color);
                series.setMarker(SeriesMarkers.CIRCLE);
                series.setLineStyle(new BasicStroke(2.2f));
                number++;
            }
        }
        return chart;
    }

    private static String unique(Set<String> labels, String label) {
        String name = label;
        for (int i = 2; !labels.add(name); i++) {
            name = label + " (" + i + ")";
        }
        return name;
    }

    /** How many powers of ten the values cover. */
    private static double decades(List<Curve> curves, ToDoubleFunction<Curve.Point> value) {
        DoubleSummaryStatistics values = curves.stream()
                .flatMap(curve -> curve.points().stream())
                .mapToDouble(value)
                .filter(each -> each > 0)
                .summaryStatistics();
        return values.getCount() == 0 ? 0 : Math.log10(values.getMax() / values.getMin());
    }

    private static void style(XYChart chart, boolean manyDecades) {
        var styler = ChartStyle.apply(chart);
        styler.setAntiAlias(true);
        styler.setYAxisLogarithmicDecadeOnly(false);
        styler.setXAxisTickLabelsFormattingFunction(Chart::sizeLabel);
        styler.setYAxisTickLabelsFormattingFunction(value -> decadeLabel(value, manyDecades));
    }

    /** The axis counts powers of two: 10 stands for 1K. */
    private static String sizeLabel(double power) {
        if (Math.abs(power - Math.rint(power)) > 1e-6) {
            return "";
        }
        double bytes = Math.scalb(1.0, (int) Math.rint(power));
        return bytes < 1 << 10
                ? plainLabel(bytes)
                : bytes < 1 << 20
                        ? plainLabel(bytes / (1 << 10)) + "K"
                        : bytes < 1 << 30 ? plainLabel(bytes / (1 << 20)) + "M" : plainLabel(bytes / (1 << 30)) + "G";
    }

    /** Lines at 1, 2, 3 … 10, but labels only where they do not touch. */
    private static String decadeLabel(double value, boolean manyDecades) {
        double digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        boolean labelled = isNear(digit, 1) || (!manyDecades && (isNear(digit, 2) || isNear(digit, 5)));
        return labelled ? plainLabel(value) : "";
    }

    private static boolean isNear(double one, double other) {
        return Math.abs(one - other) < 1e-6;
    }

    private static String plainLabel(double value) {
        return value >= 1 || value <= 0
                ? String.format(Locale.ROOT, "%,.0f", value)
                : new java.math.BigDecimal(value)
                        .round(new java.math.MathContext(2))
                        .stripTrailingZeros()
                        .toPlainString();
    }

    private static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }
}
