package dev.tutti.cli.perf;

import java.util.List;

/** A process that {@code tutti perf} has started as one of its own, or several of its ranks. */
public final class PerfRank {
    /** Ends the words of {@link Handover}; what the user typed follows, for the record. */
    static final String TYPED = "--";

    private PerfRank() {}

    /**
     * Runs this process's ranks and ends with the exit status.
     *
     * @param arguments the program, options as {@link Handover} writes them, {@code --}, and what the user typed
     */
    public static void main(String[] arguments) {
        List<String> words = List.of(arguments);
        int end = words.indexOf(TYPED);
        PerfCommand command =
                new PerfCommand(System.out, System.err, System.getenv(), words.subList(end + 1, words.size()));
        command.program = words.getFirst();
        Handover.read(words.subList(1, end), command.options);
        System.exit(command.call());
    }
}
