package dev.tutti.cli.common;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Ends the command with one line and an exit code. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final ExitCode code;

    public CommandException(ExitCode code, String message) {
        super(message);
        this.code = code;
    }

    public static CommandException usage(String message) {
        return new CommandException(ExitCode.USAGE, message);
    }

    public static CommandException cannotWrite(Path file, String option, IOException failure) {
        return usage("cannot write " + file + " (" + option + "): " + reason(failure, "folder"));
    }

    /** Why a file cannot be read, in words. */
    public static String unreadable(IOException failure) {
        return "cannot be read: " + reason(failure, "file");
    }

    private static String reason(IOException failure, String wanted) {
        return failure instanceof NoSuchFileException
                ? "there is no such " + wanted
                : failure instanceof AccessDeniedException ? "not allowed" : String.valueOf(failure.getMessage());
    }

    public ExitCode code() {
        return code;
    }
}
