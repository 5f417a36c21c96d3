package dev.tutti.bench.processes;

import dev.tutti.bootstrap.HostedJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Ranks of one job, each in a process of its own with the same class path and one program. They end when this is closed. */
final class RankProcesses implements AutoCloseable {
    private final HostedJob job = HostedJob.create(System.getenv());
    private final List<Process> processes = new ArrayList<>();

    RankProcesses(int count, Class<?> program, String... arguments) throws IOException {
        for (int process = 0; process < count; process++) {
            List<String> command = new ArrayList<>(List.of(
                    ProcessHandle.current().info().command().orElseThrow(),
                    "-Xmx256m",
                    "-XX:+UseSerialGC",
                    "--add-modules",
                    "jdk.incubator.vector",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    program.getName()));
            command.addAll(List.of(arguments));
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            job.describe(builder.environment(), process, count);
            // Warnings about a late rank are no part of waiting.
            builder.environment().put("TUTTI_WARN_AFTER", "1h");
            processes.add(builder.start());
        }
    }

    /** Waits for all; false if one failed. */
    boolean await() throws InterruptedException {
        boolean good = true;
        for (Process process : processes) {
            good &= process.waitFor() == 0;
        }
        return good;
    }

    /** Processor time of all so far, by the name of the thread, in nanoseconds. Threads that have ended are left out. */
    Map<String, Long> nanosByThread() throws IOException {
        Map<String, Long> nanos = new TreeMap<>();
        for (Process process : processes) {
            try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
                for (Path thread : threads.toList()) {
                    String name = Files.readString(thread.resolve("comm")).strip();
                    String ran = Files.readString(thread.resolve("schedstat")).split(" ")[0];
                    nanos.merge(name, Long.parseLong(ran), Long::sum);
                }
            }
        }
        return nanos;
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
        for (Process process : processes) {
            process.onExit().join();
        }
        job.close();
    }
}
