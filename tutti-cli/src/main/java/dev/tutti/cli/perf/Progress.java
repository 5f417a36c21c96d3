package dev.tutti.cli.perf;

import java.io.Console;
import java.io.PrintStream;
import java.util.Optional;

/** One line on the terminal that says what is going on, and disappears; nothing where there is no terminal. */
final class Progress {
    private static final String ERASE = "\r\u001B[K";

    private final PrintStream err;
    private final boolean shown;
    private boolean dirty;

    private Progress(PrintStream err, boolean shown) {
        this.err = err;
        this.shown = shown;
    }

    static Progress on(PrintStream err, boolean terminal) {
        return new Progress(err, terminal);
    }

    /** Whether somebody looks. */
    static boolean hasTerminal() {
        // Whether there is a console that is no terminal, or none, depends on the version and the settings of Java.
        return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    }

    void show(String text) {
        if (shown) {
            err.print(ERASE + "  " + text + " ...");
            err.flush();
            dirty = true;
        }
    }

    void clear() {
        if (dirty) {
            err.print(ERASE);
            err.flush();
            dirty = false;
        }
    }
}
