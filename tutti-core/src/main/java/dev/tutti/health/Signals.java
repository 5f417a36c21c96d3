package dev.tutti.health;

import java.util.Map;
import java.util.Optional;

/** Names of the signals that end processes; their numbers are the same on every Linux that Tutti knows, and on macOS but for two. */
public final class Signals {
    public static final int HUP = 1;
    public static final int INT = 2;
    public static final int KILL = 9;
    public static final int TERM = 15;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(HUP, "SIGHUP"),
            Map.entry(INT, "SIGINT"),
            Map.entry(3, "SIGQUIT"),
            Map.entry(4, "SIGILL"),
            Map.entry(6, "SIGABRT"),
            Map.entry(7, "SIGBUS"),
            Map.entry(8, "SIGFPE"),
            Map.entry(KILL, "SIGKILL"),
            Map.entry(10, "SIGUSR1"),
            Map.entry(11, "SIGSEGV"),
            Map.entry(12, "SIGUSR2"),
            Map.entry(13, "SIGPIPE"),
            Map.entry(14, "SIGALRM"),
            Map.entry(TERM, "SIGTERM"),
            Map.entry(24, "SIGXCPU"),
            Map.entry(25, "SIGXFSZ"));

    private Signals() {}

    /** What a signal is called, if it is one of the usual ones. */
    public static Optional<String> name(int signal) {
        return Optional.ofNullable(NAMES.get(signal));
    }
}
