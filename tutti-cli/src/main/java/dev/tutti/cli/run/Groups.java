package dev.tutti.cli.run;

import dev.tutti.posix.Pidfd;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Processes with what they have started: each rank gets a group (and session) of its own where there is {@code setsid}, so that a
 * signal reaches a script and what it runs, and a Ctrl-C comes once, from us.
 */
final class Groups {
    private static final Optional<Path> SETSID = find("setsid");

    private Groups() {}

    /** What must stand before a command. */
    static List<String> prefix() {
        return SETSID.map(path -> List.of(path.toString())).orElse(List.of());
    }

    /** Sends a signal to a process and all of its group. */
    static void signal(Process process, int signal) {
        if (SETSID.isEmpty() || !Pidfd.kill(-process.pid(), signal)) {
            // No group, or not yet: setsid itself has not run.
            if (process.isAlive()) {
                Pidfd.kill(process.pid(), signal);
            }
        }
    }

    /** Whether nobody is left of a process that has ended. */
    static boolean isEmpty(Process process) {
        return SETSID.isEmpty() || !Pidfd.kill(-process.pid(), 0);
    }

    /** A program on the PATH, or at a place of its own. */
    static Optional<Path> find(String program) {
        if (program.contains("/")) {
            return Optional.of(Path.of(program)).filter(Files::isRegularFile);
        }
        String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
        for (String folder : path.split(File.pathSeparator, -1)) {
            Path file = Path.of(folder.isEmpty() ? "." : folder, program);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                return Optional.of(file);
            }
        }
        return Optional.empty();
    }
}
