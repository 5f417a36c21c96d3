package dev.tutti.cli.common;

/** How {@code tutti perf} ends; the numbers are those of nccl-tests. */
public enum ExitCode {
    /** Everything ran, and the results were right. */
    SUCCESS(0),
    /** A mistake of the tool's. */
    INTERNAL(1),
    /** The library failed. */
    LIBRARY(3),
    /** An operation took longer than {@code -T} allows. */
    TIMEOUT(4),
    /** nccl-tests can do this, Tutti cannot. */
    NOT_IMPLEMENTED(5),
    /** The arguments make no sense. */
    USAGE(6),
    /** Wrong results, or less bandwidth than demanded. */
    BAD_RESULTS(7);

    private final int number;

    ExitCode(int number) {
        this.number = number;
    }

    /**
     * The process's exit status.
     *
     * @return 0 for success
     */
    public int number() {
        return number;
    }
}
