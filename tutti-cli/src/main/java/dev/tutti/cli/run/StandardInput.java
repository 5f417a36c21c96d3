package dev.tutti.cli.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Carries this process's input to rank 0. */
final class StandardInput {
    private StandardInput() {}

    static void carry(InputStream in, OutputStream out) {
        if (isTerminalOfSomebodyElse()) {
            // Reading would stop this process (SIGTTIN): it was started in the background.
            closeQuietly(out);
            return;
        }
        Thread.ofPlatform().daemon().name("tutti-stdin").start(() -> {
            byte[] chunk = new byte[8 << 10];
            try {
                for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                    out.write(chunk, 0, read);
                    out.flush();
                }
            } catch (IOException gone) {
                // Rank 0 reads no more.
            }
            closeQuietly(out);
        });
    }

    private static void closeQuietly(OutputStream out) {
        try {
            out.close();
        } catch (IOException gone) {
            // Rank 0 has ended.
        }
    }

    private static boolean isTerminalOfSomebodyElse() {
        try {
            if (!Files.readSymbolicLink(Path.of("/proc/self/fd/0")).toString().startsWith("/dev/pts")
                    && !Files.readSymbolicLink(Path.of("/proc/self/fd/0"))
                            .toString()
                            .startsWith("/dev/tty")) {
                return false;
            }
            String stat = Files.readString(Path.of("/proc/self/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            // Our process group, and the one in the terminal's foreground.
            return !fields[2].equals(fields[5]);
        } catch (IOException | IndexOutOfBoundsException unknown) {
            return false;
        }
    }
}
