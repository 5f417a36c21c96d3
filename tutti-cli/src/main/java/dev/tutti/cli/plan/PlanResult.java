package dev.tutti.cli.plan;

import java.util.Locale;

/**
 * One line of {@code tutti plan run} and {@code tutti plan check}.
 *
 * @param file as it was named on the command line
 * @param status what came out
 * @param seconds how long it took
 * @param reason why, or what was done
 */
public record PlanResult(String file, PlanStatus status, double seconds, String reason) {
    /**
     * The line.
     *
     * @return status, file, seconds and reason
     */
    public String line() {
        return String.format(Locale.ROOT, "%-14s  %s  %.3f  %s", status, file, seconds, oneLine(reason));
    }

    /** The same, of something that has taken so many seconds before. */
    PlanResult after(double earlier) {
        return new PlanResult(file, status, earlier + seconds, reason);
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s*\\R\\s*", " ");
    }
}
