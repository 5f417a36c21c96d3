package dev.tutti.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs programs in JVMs of their own, with the flags of this one, one after the other: what the compiler makes of a program, and where its
 * memory lies, is another thing in each.
 */
public final class FreshJvm {
    private FreshJvm() {}

    /** Runs a program to its end; the lines that it has printed. */
    public static List<String> run(Class<?> program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        Path errors = Files.createTempFile("tutti-bench", ".log");
        try {
            Process process =
                    new ProcessBuilder(command).redirectError(errors.toFile()).start();
            List<String> lines = process.inputReader().lines().toList();
            if (process.waitFor() != 0) {
                throw new IOException(program.getSimpleName() + " " + String.join(" ", arguments) + " failed:\n"
                        + Files.readString(errors));
            }
            return lines;
        } finally {
            Files.delete(errors);
        }
    }
}
