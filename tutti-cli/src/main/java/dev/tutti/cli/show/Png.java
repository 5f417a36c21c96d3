package dev.tutti.cli.show;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.CubicCurve2D;
import java.awt.geom.Path2D;
import java.awt.geom.RoundRectangle2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import javax.imageio.ImageIO;

/** Paints a drawing with Java2D, without a screen. */
final class Png {
    /** More than this and the picture no longer fits into memory or viewers. */
    private static final double MOST_PIXELS = 120e6;

    private Png() {}

    static void write(Drawing drawing, Path file) throws IOException {
        System.setProperty("java.awt.headless", "true");
        double area = drawing.width() * drawing.height();
        double scale = Math.min(2, Math.sqrt(MOST_PIXELS / area));
        BufferedImage image = new BufferedImage(
                (int) Math.ceil(drawing.width() * scale),
                (int) Math.ceil(drawing.height() * scale),
                BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, image.getWidth(), image.getHeight());
        graphics.scale(scale, scale);
        for (Drawing.Shape shape : drawing.shapes()) {
            switch (shape) {
                case Drawing.Box box -> box(graphics, box);
                case Drawing.Arrow arrow -> arrow(graphics, arrow);
                case Drawing.Text text -> text(graphics, text);
            }
        }
        graphics.dispose();
        if (!ImageIO.write(image, "png", file.toFile())) {
            throw new IOException("this Java cannot write PNG");
        }
    }

    private static void box(Graphics2D graphics, Drawing.Box box) {
        RoundRectangle2D outline = new RoundRectangle2D.Double(
                box.x(), box.y(), box.width(), box.height(), 2 * box.radius(), 2 * box.radius());
        graphics.setColor(Color.decode(box.fill()));
        graphics.fill(outline);
        if (box.stroke() != null) {
            graphics.setColor(Color.decode(box.stroke()));
            graphics.setStroke(new BasicStroke(1));
            graphics.draw(outline);
        }
    }

    private static void arrow(Graphics2D graphics, Drawing.Arrow arrow) {
        float thickness = (float) arrow.thickness();
        graphics.setColor(Color.decode(arrow.color()));
        graphics.setStroke(
                arrow.dashed()
                        ? new BasicStroke(
                                thickness, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {4, 3}, 0)
                        : new BasicStroke(thickness));
        double[] c = arrow.curve();
        graphics.draw(new CubicCurve2D.Double(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]));
        double[] h = arrow.head();
        Path2D head = new Path2D.Double();
        head.moveTo(h[0], h[1]);
        head.lineTo(h[2], h[3]);
        head.lineTo(h[4], h[5]);
        head.closePath();
        graphics.fill(head);
    }

    private static void text(Graphics2D graphics, Drawing.Text text) {
        graphics.setFont(
                new Font(Font.SANS_SERIF, text.bold() ? Font.BOLD : Font.PLAIN, 1).deriveFont((float) text.size()));
        graphics.setColor(Color.decode(text.color()));
        FontMetrics metrics = graphics.getFontMetrics();
        double width = metrics.getStringBounds(text.text(), graphics).getWidth();
        double left = switch (text.anchor()) {
            case START -> text.x();
            case MIDDLE -> text.x() - width / 2;
            case END -> text.x() - width;
        };
        graphics.drawString(text.text(), (float) left, (float) text.y());
    }
}
