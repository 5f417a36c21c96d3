package dev.tutti.cli.perf;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whether times had become steady when a row was measured. */
enum Steadiness {
    STEADY,
    /** The row was measured all the same: somebody waits for it. */
    UNSTEADY,
    /** Nobody looked: there was to be no warm-up, or it is a device's time. */
    UNCHECKED;

    /** So many rows are named at most. */
    private static final int NAMED = 8;

    /** A good try where none are given. */
    private static final int WARM_UP = 20;

    static Steadiness of(boolean steady) {
        return steady ? STEADY : UNSTEADY;
    }

    /**
     * Says which rows are not to be trusted, and what to do.
     *
     * @param warmupIterations as given, or null
     * @return a line, or nothing if there are no such rows
     */
    static Optional<String> warning(List<Row> rows, @Nullable Integer warmupIterations) {
        boolean several = rows.stream().map(Row::what).distinct().count() > 1;
        List<String> unsteady = rows.stream()
                .filter(row -> row.steadiness() == UNSTEADY)
                .map(row -> row.shape().bytes() + " B" + (several ? " (" + Curve.describe(row.what()) + ")" : ""))
                .distinct()
                .toList();
        if (unsteady.isEmpty()) {
            return Optional.empty();
        }
        int more = unsteady.size() - NAMED;
        String named = String.join(", ", unsteady.subList(0, Math.min(NAMED, unsteady.size())))
                + (more > 0 ? " and " + more + " more" : "");
        String remedy = warmupIterations == null ? "-w " + WARM_UP : "a larger -w than " + warmupIterations;
        return Optional.of("measured before times had become steady, so perhaps too slow: " + named + "; " + remedy
                + " warms up for longer");
    }
}
