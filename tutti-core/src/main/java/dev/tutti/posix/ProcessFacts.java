package dev.tutti.posix;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** What tells one process of a machine from all others, past and present. Read from {@code /proc}, so no call is needed. */
public final class ProcessFacts {
    private static final int START_TIME_FIELD = 22;

    private ProcessFacts() {}

    /** This process's id as its own namespace numbers it. */
    public static long pid() {
        return ProcessHandle.current().pid();
    }

    /** The user that this process acts for; -1 where that has no number. */
    public static int uid() {
        try {
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException none) {
            return -1;
        }
    }

    /** When a process began, in ticks since the machine did: with the id it names a process for ever; -1 if there is none. */
    public static long startTime(long pid) {
        String stat = read(Path.of("/proc/" + pid + "/stat"));
        // The second field is the command in parentheses and may hold anything; what follows is numbers.
        int afterCommand = stat.lastIndexOf(')') + 2;
        if (afterCommand < 2 || afterCommand >= stat.length()) {
            return -1;
        }
        String[] fields = stat.substring(afterCommand).split(" ", -1);
        // Field 3, the state, is the first here. A zombie no longer has memory to share.
        return fields[0].equals("Z") || fields[0].equals("X") ? -1 : Long.parseLong(fields[START_TIME_FIELD - 3]);
    }

    /** Whether that very process still runs. */
    public static boolean isAlive(long pid, long startTime) {
        return startTime == -1 || startTime(pid) == startTime;
    }

    /** Different after each start of the machine, and on each machine; empty where unknown. */
    public static String bootId() {
        return read(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    }

    /** Processes with the same one agree on what a process id means; empty where unknown. */
    public static String pidNamespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
        } catch (IOException | UnsupportedOperationException none) {
            return "";
        }
    }

    private static String read(Path path) {
        try {
            return Files.readString(path, StandardCharsets.ISO_8859_1);
        } catch (IOException none) {
            return "";
        }
    }
}
