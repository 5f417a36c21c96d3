package dev.tutti.bench.compare;

import dev.tutti.Collective;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.BiFunction;
import java.util.function.Function;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** One picture per collective: times on the left, ratios to the best native on the right. */
final class Charts {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 620;
    private static final Color GRID = new Color(0xE4E4E4);
    /** Apart for people who see colours differently, too (Okabe and Ito). */
    private static final Color[] NATIVE = {new Color(0x999999), new Color(0x555555), new Color(0xE69F00)};

    private static final Color[] OURS = {new Color(0x0072B2), new Color(0x009E73), new Color(0xD55E00)};

    private Charts() {}

    static void draw(Results results, Path directory) {
        System.setProperty("java.awt.headless", "true");
        for (Collective collective : Row.COLLECTIVES) {
            List<Row> rows = results.rows.keySet().stream()
                    .filter(row -> row.collective() == collective && row.rewriting() && row.bytes() > 0)
                    .toList();
            if (rows.size() > 1) {
                draw(results, rows, directory.resolve(Row.name(collective) + "-" + results.ranks + ".png"));
            }
        }
    }

    private static void draw(Results results, List<Row> rows, Path file) {
        String title = Row.name(rows.getFirst().collective()) + ", " + results.ranks + " ranks";
        XYChart times = panel(title + ": time, inputs rewritten", "us per operation", Charts::valueLabel);
        times.getStyler().setYAxisLogarithmic(true).setYAxisLogarithmicDecadeOnly(false);
        add(times, results.natives, NATIVE, rows, (row, name) -> results.of(row).micros(name));
        add(times, results.ours, OURS, rows, (row, name) -> results.of(row).micros(name));
        XYChart ratios = panel(title + ": times faster than the best native", "ratio", Charts::ratioLabel);
        ratios.getStyler().setYAxisMin(0.0);
        add(ratios, results.ours, OURS, rows, results::ratio);
        BufferedImage picture = new BufferedImage(2 * WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = picture.createGraphics();
        times.paint(graphics, WIDTH, HEIGHT);
        graphics.translate(WIDTH, 0);
        ratios.paint(graphics, WIDTH, HEIGHT);
        graphics.dispose();
        try {
            ImageIO.write(picture, "png", file.toFile());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void add(
            XYChart chart,
            List<String> names,
            Color[] colors,
            List<Row> rows,
            BiFunction<Row, String, OptionalDouble> value) {
        for (int i = 0; i < names.size(); i++) {
            List<Double> x = new ArrayList<>();
            List<Double> y = new ArrayList<>();
            for (Row row : rows) {
                OptionalDouble found = value.apply(row, names.get(i));
                // A logarithmic axis has no place for what rewriting alone took longer than.
                if (found.isPresent() && found.getAsDouble() > 0) {
                    x.add(Math.log(row.bytes()) / Math.log(2));
                    y.add(found.getAsDouble());
                }
            }
            if (!x.isEmpty()) {
                XYSeries series = chart.addSeries(names.get(i), x, y);
                series.setLineColor(colors[i % colors.length]);
                series.setMarkerColor(colors[i % colors.length]);
                series.setMarker(SeriesMarkers.CIRCLE);
                series.setLineStyle(new BasicStroke(2.2f));
            }
        }
    }

    private static XYChart panel(String title, String yTitle, Function<Double, String> yLabel) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle("bytes")
                .yAxisTitle(yTitle)
                .build();
        Font plain = new Font(Font.SANS_SERIF, Font.PLAIN, 14);
        XYStyler style = chart.getStyler();
        style.setChartBackgroundColor(Color.WHITE);
        style.setPlotBackgroundColor(Color.WHITE);
        style.setPlotBorderVisible(false);
        style.setPlotGridLinesColor(GRID);
        style.setChartTitleFont(plain.deriveFont(Font.BOLD, 17f));
        style.setAxisTitleFont(plain);
        style.setAxisTickLabelsFont(plain.deriveFont(13f));
        style.setLegendFont(plain);
        style.setLegendBorderColor(Color.WHITE);
        style.setLegendPosition(Styler.LegendPosition.OutsideS);
        style.setLegendLayout(Styler.LegendLayout.Horizontal);
        style.setMarkerSize(7);
        style.setAntiAlias(true);
        style.setXAxisTickMarkSpacingHint(60);
        style.setXAxisTickLabelsFormattingFunction(Charts::sizeLabel);
        style.setYAxisTickLabelsFormattingFunction(yLabel);
        return chart;
    }

    /** The axis counts powers of two: 10 stands for 1K. */
    private static String sizeLabel(double power) {
        if (Math.abs(power - Math.rint(power)) > 1e-6) {
            return "";
        }
        long bytes = 1L << (int) Math.rint(power);
        return bytes >= 1 << 20 ? (bytes >> 20) + "M" : bytes >= 1 << 10 ? (bytes >> 10) + "K" : "" + bytes;
    }

    /** Lines at 1, 2, 3 ... 10, but labels only where they do not touch. */
    private static String valueLabel(double value) {
        double digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        if (Math.abs(digit - 1) > 1e-6 && (value > 10 || Math.abs(digit - 2) > 1e-6) && Math.abs(digit - 5) > 1e-6) {
            return "";
        }
        return number(value);
    }

    private static String ratioLabel(double value) {
        return value == Math.rint(value) ? number(value) : String.format(Locale.ROOT, "%.1f", value);
    }

    private static String number(double value) {
        return value >= 1 || value == 0
                ? String.format(Locale.ROOT, "%,.0f", value)
                : new java.math.BigDecimal(value)
                        .round(new java.math.MathContext(2))
                        .stripTrailingZeros()
                        .toPlainString();
    }
}
