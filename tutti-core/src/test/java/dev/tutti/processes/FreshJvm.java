package dev.tutti.processes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM of its own, with options of its own, for what tests cannot do in theirs. */
public final class FreshJvm {
    /** The option without which there are no vector kernels. */
    public static final String VECTORS = "--add-modules=jdk.incubator.vector";

    private static final long SECONDS = 80;

    private FreshJvm() {}

    /**
     * Runs a program and sees that it ends well.
     *
     * @param options of the JVM; assertions are on and native access is allowed
     * @param program has a main method
     * @return what it printed
     */
    public static String run(List<String> options, Class<?> program, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of("-ea", "--enable-native-access=ALL-UNNAMED", "-cp"));
        command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(program.getName());
        command.addAll(List.of(arguments));
        // Into a file: whoever reads a pipe of one that hangs hangs too.
        Path output = Files.createTempFile("tutti-test-", ".out");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        // These would bring options in that the test leaves out.
        builder.environment().keySet().removeAll(List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
            String text = Files.readString(output);
            assertThat(ended).as("ended; so far: %s", text).isTrue();
            assertThat(process.exitValue()).as(text).isZero();
            return text;
        } finally {
            process.destroyForcibly();
            Files.delete(output);
        }
    }
}
