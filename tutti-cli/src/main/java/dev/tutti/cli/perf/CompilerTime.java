package dev.tutti.cli.perf;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How long the compilers of this JVM have worked, up to now: on Linux the processor time of their threads; elsewhere what the JVM says, which
 * counts a compilation when it ends, and some take long.
 */
final class CompilerTime {
    private static final Path THREADS = Path.of("/proc/self/task");

    private final CompilationMXBean bean = ManagementFactory.getCompilationMXBean();
    private final List<Path> compilers = new ArrayList<>();

    /** Looks for compilers' threads, which come and go. */
    void refresh() {
        compilers.clear();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                if (isCompiler(thread)) {
                    compilers.add(thread.resolve("schedstat"));
                }
            }
        } catch (IOException notLinux) {
            compilers.clear();
        }
    }

    private static boolean isCompiler(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).contains(" Compiler");
        } catch (IOException ended) {
            return false;
        }
    }

    /** Milliseconds; less than before if a thread has ended. */
    long millis() {
        if (compilers.isEmpty()) {
            return bean != null && bean.isCompilationTimeMonitoringSupported() ? bean.getTotalCompilationTime() : 0;
        }
        long nanos = 0;
        for (Path compiler : compilers) {
            nanos += nanos(compiler);
        }
        return nanos / 1_000_000;
    }

    private static long nanos(Path schedule) {
        try {
            String text = Files.readString(schedule);
            return Long.parseLong(text, 0, text.indexOf(' '), 10);
        } catch (IOException ended) {
            return 0;
        }
    }
}
