package dev.tutti.cli.show;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A picture as a list of shapes, back to front; what SVG and PNG are written from. */
final class Drawing {
    private final List<Shape> shapes = new ArrayList<>();
    private double width;
    private double height;

    /** One thing in a picture. */
    sealed interface Shape {}

    /** A filled rectangle; with an id it is an operation. */
    record Box(
            double x,
            double y,
            double width,
            double height,
            double radius,
            String fill,
            @Nullable String stroke,
            int id,
            String tip)
            implements Shape {}

    /** A curve with a head at its end; it leaves and arrives level, or, between rows, upright. */
    record Arrow(
            double fromX,
            double fromY,
            double toX,
            double toY,
            boolean upright,
            String color,
            double thickness,
            boolean dashed,
            int fromId,
            int toId)
            implements Shape {
        static final double HEAD = 6;
        private static final double HALF_HEAD = 3.2;

        /** Up or down, where the arrow is upright. */
        private int sign() {
            return toY < fromY ? -1 : 1;
        }

        /** Ends and handles of the curve: x and y of four points; it ends where the head begins. */
        double[] curve() {
            if (upright) {
                double reach = Math.max(8, Math.min(50, Math.abs(toY - fromY) / 2)) * sign();
                double end = toY - HEAD * sign();
                return new double[] {fromX, fromY, fromX, fromY + reach, toX, end - reach, toX, end};
            }
            double reach = Math.max(10, Math.min(60, Math.abs(toX - fromX) / 2));
            return new double[] {fromX, fromY, fromX + reach, fromY, toX - HEAD - reach, toY, toX - HEAD, toY};
        }

        /** The three points of the head. */
        double[] head() {
            double back = HEAD * sign();
            return upright
                    ? new double[] {toX, toY, toX - HALF_HEAD, toY - back, toX + HALF_HEAD, toY - back}
                    : new double[] {toX, toY, toX - HEAD, toY - HALF_HEAD, toX - HEAD, toY + HALF_HEAD};
        }
    }

    /** Text; x is its left, middle or right. */
    record Text(double x, double y, String text, double size, boolean bold, String color, Anchor anchor, int id)
            implements Shape {}

    enum Anchor {
        START,
        MIDDLE,
        END
    }

    void add(Shape shape) {
        shapes.add(shape);
    }

    List<Shape> shapes() {
        return shapes;
    }

    void size(double newWidth, double newHeight) {
        width = newWidth;
        height = newHeight;
    }

    double width() {
        return width;
    }

    double height() {
        return height;
    }
}
