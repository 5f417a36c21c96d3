package dev.tutti.cli.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How large messages can be: each rank has two areas as large as the largest one. */
final class MemoryLimit {
    private MemoryLimit() {}

    static long maxBytes(int ranks, int localRanks) {
        // Native memory of a process is bounded like its heap is, unless -XX:MaxDirectMemorySize says otherwise; the
        // library needs some, too.
        long ofAll = availableBytes() / 4 * 3 / (2L * ranks);
        long ofProcess = Runtime.getRuntime().maxMemory() / 4 * 3 / (2L * localRanks);
        return Math.min(ofAll, ofProcess);
    }

    private static long availableBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                if (line.startsWith("MemAvailable:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) << 10;
                }
            }
        } catch (IOException | NumberFormatException notLinux) {
            // The heap's bound has to do.
        }
        return Long.MAX_VALUE;
    }
}
