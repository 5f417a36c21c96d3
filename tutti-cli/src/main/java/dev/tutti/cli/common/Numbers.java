package dev.tutti.cli.common;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * Numbers as C prints them. Java's formatter rounds ties up and looks at the shortest decimal of a double; C rounds its exact
 * value, ties to even, and the table is compared by people and scripts that know C's.
 */
public final class Numbers {
    private Numbers() {}

    /** In so many columns: two decimals, or one, or none, else with an exponent. */
    public static String fixed(double value, int width) {
        if (!Double.isFinite(value)) {
            return pad(Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf", width);
        }
        for (int decimals = 2; decimals >= 0; decimals--) {
            String text = decimal(value, decimals);
            if (text.length() <= width) {
                return pad(text, width);
            }
        }
        return pad(exponent(value, width >= 7 ? 1 : 0), width);
    }

    /** C's {@code %.Nf}. */
    public static String decimal(double value, int decimals) {
        String text =
                new BigDecimal(value).setScale(decimals, RoundingMode.HALF_EVEN).toPlainString();
        return isNegative(value) && !text.startsWith("-") ? "-" + text : text;
    }

    /** C's {@code %g}: six digits, no zeros behind, an exponent when the number is tiny or huge. */
    public static String general(double value) {
        if (value == 0 || !Double.isFinite(value)) {
            return value == 0 ? "0" : fixed(value, 0);
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(6, RoundingMode.HALF_EVEN));
        int power = rounded.precision() - rounded.scale() - 1;
        if (power < -4 || power >= 6) {
            BigDecimal digits = rounded.movePointLeft(power).stripTrailingZeros();
            return digits.toPlainString() + suffix(power);
        }
        return rounded.stripTrailingZeros().toPlainString();
    }

    public static String pad(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    private static String exponent(double value, int decimals) {
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(decimals + 1, RoundingMode.HALF_EVEN));
        int power = rounded.precision() - rounded.scale() - 1;
        return rounded.movePointLeft(power)
                        .setScale(decimals, RoundingMode.UNNECESSARY)
                        .toPlainString()
                + suffix(power);
    }

    private static String suffix(int power) {
        return String.format(Locale.ROOT, "e%s%02d", power < 0 ? "-" : "+", Math.abs(power));
    }

    private static boolean isNegative(double value) {
        return value < 0 || (value == 0 && 1 / value < 0);
    }
}
