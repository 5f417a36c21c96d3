package dev.tutti.cli.perf;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

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

    static PerfException cannotWrite(Path file, String option, IOException failure) {
        String reason = failure instanceof NoSuchFileException
                ? "there is no such folder"
                : failure instanceof AccessDeniedException ? "not allowed" : failure.getMessage();
        return usage("cannot write " + file + " (" + option + "): " + reason);
    }

    ExitCode code() {
        return code;
    }
}
