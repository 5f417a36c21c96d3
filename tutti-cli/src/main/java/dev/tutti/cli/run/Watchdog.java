package dev.tutti.cli.run;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A shell that outlives the launcher by a moment. It reads which ranks run from a pipe; when the pipe ends without a goodbye, the
 * launcher was killed, and the shell kills the ranks, with what they have started, and removes the job's folder.
 */
final class Watchdog implements AutoCloseable {
    private static final String SCRIPT = """
            trap '' INT TERM HUP QUIT
            ranks=
            while read -r verb value; do
              case $verb in
                start) ranks="$ranks $value" ;;
                end) left=; for r in $ranks; do [ "$r" = "$value" ] || left="$left $r"; done; ranks=$left ;;
                bye) exit 0 ;;
              esac
            done
            for r in $ranks; do kill -s KILL -- "-$r" 2>/dev/null || kill -s KILL "$r" 2>/dev/null; done
            rm -rf -- "$1"
            user=${1%/*}
            set -- "$user"/*
            if [ "$*" = "$user/lock" ]; then rm -f -- "$user/lock"; rmdir -- "$user"; fi
            """;

    private final Process shell;
    private final OutputStream pipe;

    private Watchdog(Process shell) {
        this.shell = shell;
        this.pipe = shell.getOutputStream();
    }

    static Watchdog start(Path folder) throws IOException {
        List<String> command = new ArrayList<>(Groups.prefix());
        command.addAll(List.of("/bin/sh", "-c", SCRIPT, "tutti-watchdog", folder.toString()));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.DISCARD);
        // Not in a folder that somebody may want to remove or unmount.
        builder.directory(Path.of("/").toFile());
        return new Watchdog(builder.start());
    }

    void started(long pid) {
        tell("start " + pid);
    }

    void ended(long pid) {
        tell("end " + pid);
    }

    private synchronized void tell(String line) {
        try {
            pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException gone) {
            // Somebody killed it. Ranks that use Tutti watch the launcher themselves.
        }
    }

    @Override
    public void close() {
        tell("bye");
        try {
            pipe.close();
            shell.waitFor();
        } catch (IOException alreadyClosed) {
            // It has ended then.
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
