package dev.tutti.cli.run;

import dev.tutti.posix.Pidfd;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Processes with what they have started: each rank gets a process group of its own, so that a signal reaches a script and what it runs, and
 * a Ctrl-C comes once, from us.
 *
 * <p>A group, and no session of its own if that can be had: Linux shares a core's time evenly between sessions, and gives it to whoever has had
 * less. Ranks that share a core hand it over when they wait; between sessions it comes straight back, and eight ranks on two cores take up to
 * three times as long.
 */
final class Groups {
    /** A program that puts whatever stands after it into a group of its own. */
    private record Way(String program, List<String> prefix) {}

    /**
     * The best first. A terminal may stop whoever is not in its foreground group and writes to it or reads from it; these ignore that. Without
     * PERL_BADLANG Perl complains of a language that is not installed, in everybody's output.
     */
    private static final List<Way> WAYS = List.of(
            new Way("setpgid", List.of("setpgid", "sh", "-c", "trap '' TTIN TTOU; exec \"$@\"", "sh")),
            new Way(
                    "perl",
                    List.of(
                            "env",
                            "PERL_BADLANG=0",
                            "perl",
                            "-e",
                            "setpgrp; $SIG{TTIN} = $SIG{TTOU} = 'IGNORE'; delete $ENV{PERL_BADLANG};"
                                    + " exec { $ARGV[0] } @ARGV or die qq($ARGV[0]: $!\n)")),
            new Way("setsid", List.of("setsid")));

    private static final List<String> PREFIX = WAYS.stream()
            .filter(way -> find(way.program).isPresent())
            .findFirst()
            .map(Way::prefix)
            .orElse(List.of());

    private Groups() {}

    /** What must stand before a command. */
    static List<String> prefix() {
        return PREFIX;
    }

    /** Sends a signal to a process and all of its group. */
    static void signal(Process process, int signal) {
        if (PREFIX.isEmpty() || !Pidfd.kill(-process.pid(), signal)) {
            // No group, or not yet: what makes it has not run.
            if (process.isAlive()) {
                Pidfd.kill(process.pid(), signal);
            }
        }
    }

    /** Whether nobody is left of a process that has ended. */
    static boolean isEmpty(Process process) {
        return PREFIX.isEmpty() || !Pidfd.kill(-process.pid(), 0);
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
