package dev.tutti.exec;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Durations as people write them, for messages. */
public final class Durations {
    private static final long SECOND = 1_000_000_000;

    private Durations() {}

    /**
     * A duration in the unit that suits it, to a thousandth: {@code 100 ms}, {@code 2.5 s}, {@code 5 min}.
     *
     * @param nanos how long
     */
    public static String text(long nanos) {
        if (nanos != 0 && nanos % (60 * SECOND) == 0) {
            return nanos / (60 * SECOND) + " min";
        }
        long size = Math.abs(nanos);
        if (size >= SECOND) {
            return in(SECOND, nanos) + " s";
        }
        if (size >= 1_000_000) {
            return in(1_000_000, nanos) + " ms";
        }
        return size >= 1000 ? in(1000, nanos) + " µs" : nanos + " ns";
    }

    private static String in(long unit, long nanos) {
        return BigDecimal.valueOf(nanos)
                .divide(BigDecimal.valueOf(unit), 3, RoundingMode.HALF_UP)
                .stripTrailingZeros()
                .toPlainString();
    }
}
