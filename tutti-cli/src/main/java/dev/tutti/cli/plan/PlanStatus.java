package dev.tutti.cli.plan;

import java.util.Locale;

/** What came out of running or checking one plan file. */
public enum PlanStatus {
    /** It computes its collective. */
    PASS,
    /** It ran to its end; it does not say what it should compute. */
    RUNS,
    /** It gave wrong results, or did not end. */
    FAIL,
    /** It was not run: the file is broken, or the plan is known to be wrong. */
    REFUSED,
    /** It has no meaning: nothing gives its chunks a size. */
    NOT_EXECUTABLE,
    /** Nothing wrong was found, but not everything could be proved. */
    NOT_PROVEN;

    /**
     * Whether scripts may go on.
     *
     * @return true for PASS and RUNS
     */
    public boolean isGood() {
        return this == PASS || this == RUNS;
    }

    @Override
    public String toString() {
        return name().replace('_', '-').toUpperCase(Locale.ROOT);
    }
}
