package dev.tutti.health;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * A process of this host, told apart from a later one with the same number by the time at which it started.
 *
 * @param pid its number
 * @param startTime when it started: ticks since boot where there is {@code /proc}, else milliseconds of the calendar
 */
public record ProcessId(long pid, long startTime) {
    private static final Path PROC = Path.of("/proc");
    private static final boolean HAS_PROC = Files.isReadable(PROC.resolve("self/stat"));

    /** What {@code /proc} says about a process. */
    private record Stat(char state, long parent, long startTime) {}

    /** This process. */
    public static ProcessId self() {
        return of(ProcessHandle.current().pid())
                .orElseThrow(() -> new IllegalStateException("cannot read this process's own start time"));
    }

    /** The process that has this number now, if there is one that has not ended. */
    public static Optional<ProcessId> of(long pid) {
        if (HAS_PROC) {
            return stat(pid).filter(stat -> !hasEnded(stat)).map(stat -> new ProcessId(pid, stat.startTime));
        }
        return ProcessHandle.of(pid)
                .flatMap(handle -> handle.info().startInstant())
                .map(Instant::toEpochMilli)
                .map(start -> new ProcessId(pid, start));
    }

    /** Reads what {@link #toString} wrote. */
    public static ProcessId parse(String text) {
        int colon = text.indexOf(':');
        try {
            return new ProcessId(Long.parseLong(text, 0, colon, 10), Long.parseLong(text.substring(colon + 1)));
        } catch (IndexOutOfBoundsException | NumberFormatException malformed) {
            throw new IllegalArgumentException("expected PID:START, got '" + text + "'", malformed);
        }
    }

    /** Whether it is still there; one that has ended and has not been waited for is not. */
    public boolean isAlive() {
        return of(pid).filter(this::equals).isPresent();
    }

    /** The process that started it, if that is still there. */
    public Optional<ProcessId> parent() {
        return HAS_PROC
                ? stat(pid).flatMap(stat -> of(stat.parent))
                : ProcessHandle.of(pid).flatMap(ProcessHandle::parent).flatMap(handle -> of(handle.pid()));
    }

    /** Whether its environment has a variable; no if that cannot be read, which is so for other users' processes. */
    public boolean hasVariable(String name) {
        try {
            String all = Files.readString(PROC.resolve(pid + "/environ"), StandardCharsets.ISO_8859_1);
            return all.startsWith(name + "=") || all.contains("\0" + name + "=");
        } catch (IOException unreadable) {
            return false;
        }
    }

    private static boolean hasEnded(Stat stat) {
        return stat.state == 'Z' || stat.state == 'X';
    }

    private static Optional<Stat> stat(long pid) {
        try {
            String line = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
            // The second field is the name in parentheses and may contain anything; counting begins after it.
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
            return Optional.of(new Stat(fields[0].charAt(0), Long.parseLong(fields[1]), Long.parseLong(fields[19])));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    @Override
    public String toString() {
        return pid + ":" + startTime;
    }
}
