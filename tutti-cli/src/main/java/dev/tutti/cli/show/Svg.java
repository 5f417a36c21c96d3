package dev.tutti.cli.show;

import java.util.Locale;

/** Writes a drawing as SVG. Operations and arrows carry ids, so that a page can find them. */
final class Svg {
    private final StringBuilder out = new StringBuilder();

    private Svg() {}

    static String of(Drawing drawing) {
        Svg svg = new Svg();
        svg.put(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\""
                        + " font-family=\"Helvetica, Arial, sans-serif\">%n",
                drawing.width(), drawing.height(), drawing.width(), drawing.height());
        svg.put("<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>%n");
        for (Drawing.Shape shape : drawing.shapes()) {
            switch (shape) {
                case Drawing.Box box -> svg.box(box);
                case Drawing.Arrow arrow -> svg.arrow(arrow);
                case Drawing.Text text -> svg.text(text);
            }
        }
        return svg.out.append("</svg>\n").toString();
    }

    private void box(Drawing.Box box) {
        put(
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\" fill=\"%s\"",
                box.x(), box.y(), box.width(), box.height(), box.radius(), box.fill());
        if (box.stroke() != null) {
            put(" stroke=\"%s\"", box.stroke());
        }
        if (box.id() >= 0) {
            put(" class=\"op\" data-op=\"%d\"", box.id());
        }
        if (box.tip().isEmpty()) {
            put("/>%n");
        } else {
            put("><title>%s</title></rect>%n", escaped(box.tip()));
        }
    }

    private void arrow(Drawing.Arrow arrow) {
        double[] c = arrow.curve();
        double[] h = arrow.head();
        put("<g class=\"flow\" data-from=\"%d\" data-to=\"%d\">", arrow.fromId(), arrow.toId());
        put(
                "<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s/>",
                c[0],
                c[1],
                c[2],
                c[3],
                c[4],
                c[5],
                c[6],
                c[7],
                arrow.color(),
                arrow.thickness(),
                arrow.dashed() ? " stroke-dasharray=\"4 3\"" : "");
        put(
                "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\" fill=\"%s\"/></g>%n",
                h[0], h[1], h[2], h[3], h[4], h[5], arrow.color());
    }

    private void text(Drawing.Text text) {
        put(
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" fill=\"%s\" text-anchor=\"%s\"%s%s>%s</text>%n",
                text.x(),
                text.y(),
                text.size(),
                text.color(),
                text.anchor().name().toLowerCase(Locale.ROOT),
                text.bold() ? " font-weight=\"bold\"" : "",
                text.id() >= 0 ? " class=\"label\" data-op=\"" + text.id() + "\" pointer-events=\"none\"" : "",
                escaped(text.text()));
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation is in a library that this does not need
    private void put(String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values));
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
