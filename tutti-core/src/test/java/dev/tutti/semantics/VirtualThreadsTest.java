package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Virtual threads leave the work to the worker and park: however few carriers there are, nobody keeps one from
 * another.
 */
@Timeout(value = 90, unit = TimeUnit.SECONDS)
class VirtualThreadsTest {
    @Test
    void shouldNotRunOutOfCarriers(@TempDir Path folder) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "-Djdk.virtualThreadScheduler.parallelism=2",
                "-Djdk.virtualThreadScheduler.maxPoolSize=2",
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                VirtualRanks.class.getName()));
        command.addAll(Arrays.asList("1", "2", "8", "32"));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(80, TimeUnit.SECONDS);
            String text = Files.readString(output);
            assertThat(ended).as("ended; so far: %s", text).isTrue();
            assertThat(text).contains("carriers never ran out");
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 16})
    void shouldRunEveryCollective(int ranks) {
        World.local(ranks).virtualThreads().run(comm -> {
            assertThat(Thread.currentThread().isVirtual()).isTrue();
            for (int i = 0; i < 12; i++) {
                Exchange.all(comm, 1 + 40 * i, i);
            }
        });
    }
}
