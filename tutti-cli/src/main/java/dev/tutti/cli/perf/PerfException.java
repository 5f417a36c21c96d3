package dev.tutti.cli.perf;

/** Ends the command with one line and an exit code. */
final class PerfException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final ExitCode code;

    PerfException(ExitCode code, String message) {
        super(message);
        this.code = code;
    }

    static PerfException usage(String message) {
        return new PerfException(ExitCode.USAGE, message);
    }

    ExitCode code() {
        return code;
    }
}
