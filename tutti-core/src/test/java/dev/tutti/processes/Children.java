package dev.tutti.processes;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** JVMs that tests start: one program, with variables for each. */
final class Children implements AutoCloseable {
    private static final long SECONDS = 90;

    private final List<Process> processes = new ArrayList<>();

    /** How one ended, and what it printed; warnings of the JVM left out. */
    record Outcome(int status, List<String> lines) {
        String text() {
            return String.join("\n", lines);
        }
    }

    static List<String> command(Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath(),
                program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static String classPath() {
        // Under a build tool the classes of the module may be on the module path, and not here.
        String folders = Path.of("target", "classes").toAbsolutePath() + ":"
                + Path.of("target", "test-classes").toAbsolutePath();
        return folders + ":" + System.getProperty("java.class.path");
    }

    Process start(List<String> command, Map<String, String> variables) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(variables);
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    /** Starts several, and waits for all. */
    List<Outcome> run(int number, IntFunction<Map<String, String>> variables, List<String> command)
            throws IOException, InterruptedException {
        for (int i = 0; i < number; i++) {
            start(command, variables.apply(i));
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (Process process : List.copyOf(processes)) {
            outcomes.add(await(process));
        }
        return outcomes;
    }

    static Outcome await(Process process) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (!line.startsWith("WARNING")) {
                    lines.add(line);
                }
            }
        }
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("did not end: " + lines);
        }
        return new Outcome(process.exitValue(), lines);
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}
