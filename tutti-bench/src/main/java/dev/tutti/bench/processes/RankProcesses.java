package dev.tutti.bench.processes;

import dev.tutti.bootstrap.HostedJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Ranks of one job, each in a process of its own with the same class path and one program. They end when this is closed. */
final class RankProcesses implements AutoCloseable {
    private static final int USER_TICKS_FIELD = 14;

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
            // The first warning about a late rank loads the logger, which is no part of waiting: early, then.
            builder.environment().put("TUTTI_WARN_AFTER", "1s");
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

    /** Processor time of all so far, in ticks of 10 ms. */
    long ticks() throws IOException {
        long ticks = 0;
        for (Process process : processes) {
            String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            ticks += Long.parseLong(fields[USER_TICKS_FIELD - 3]) + Long.parseLong(fields[USER_TICKS_FIELD - 2]);
        }
        return ticks;
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
