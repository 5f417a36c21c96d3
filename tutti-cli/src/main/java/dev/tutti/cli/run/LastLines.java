package dev.tutti.cli.run;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;

/** The last lines that a process has printed, for when it fails. */
final class LastLines {
    private static final int LINES = 20;
    private static final int LONGEST = 500;

    private final ArrayDeque<String> lines = new ArrayDeque<>();

    synchronized void add(byte[] line) {
        String text = new String(line, 0, Math.min(line.length, LONGEST), StandardCharsets.UTF_8).stripTrailing();
        if (lines.size() == LINES) {
            lines.removeFirst();
        }
        lines.addLast(text);
    }

    synchronized List<String> all() {
        return List.copyOf(lines);
    }
}
