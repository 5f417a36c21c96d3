package dev.tutti.health;

import dev.tutti.posix.ProcessFacts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A process of this host, told apart from a later one with the same number by the time at which it started.
 *
 * @param pid its number
 * @param startTime when it started: ticks since boot where there is {@code /proc}, else milliseconds of the calendar
 */
public record ProcessId(long pid, long startTime) {
    private static final boolean HAS_PROC = Files.isReadable(Path.of("/proc/self/stat"));

    /** This process. */
    public static ProcessId self() {
        return of(ProcessFacts.pid())
                .orElseThrow(() -> new IllegalStateException("cannot read this process's own start time"));
    }

    /** The process that has this number now, if there is one that has not ended. */
    public static Optional<ProcessId> of(long pid) {
        if (HAS_PROC) {
            long startTime = ProcessFacts.startTime(pid);
            return startTime < 0 ? Optional.empty() : Optional.of(new ProcessId(pid, startTime));
        }
        return ProcessHandle.of(pid)
                .flatMap(handle -> handle.info().startInstant())
                .map(start -> new ProcessId(pid, start.toEpochMilli()));
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
        return ProcessHandle.of(pid).flatMap(ProcessHandle::parent).flatMap(handle -> of(handle.pid()));
    }

    /** Whether its environment has a variable; no if that cannot be read, which is so for other users' processes. */
    public boolean hasVariable(String name) {
        try {
            String all = Files.readString(Path.of("/proc/" + pid + "/environ"), StandardCharsets.ISO_8859_1);
            return all.startsWith(name + "=") || all.contains("\0" + name + "=");
        } catch (IOException unreadable) {
            return false;
        }
    }

    @Override
    public String toString() {
        return pid + ":" + startTime;
    }
}
