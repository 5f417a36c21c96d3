package dev.tutti.cli.common;

import java.awt.Color;
import java.awt.Font;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;

/** How all charts of the command line look. */
public final class ChartStyle {
    private static final Color INK = new Color(0x333333);
    private static final Color GRID = new Color(0xE4E4E4);

    private ChartStyle() {}

    /** Colours, fonts and legend; axes are the chart's own. */
    public static XYStyler apply(XYChart chart) {
        Font plain = new Font(Font.SANS_SERIF, Font.PLAIN, 14);
        var styler = chart.getStyler();
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        styler.setPlotGridLinesColor(GRID);
        styler.setChartFontColor(INK);
        styler.setChartTitleFont(plain.deriveFont(Font.BOLD, 17f));
        styler.setAxisTitleFont(plain);
        styler.setAxisTickLabelsFont(plain.deriveFont(13f));
        styler.setLegendFont(plain);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        styler.setMarkerSize(7);
        styler.setYAxisLogarithmic(true);
        styler.setXAxisTickMarkSpacingHint(60);
        return styler;
    }
}
