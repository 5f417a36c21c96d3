package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class UnloadedKernelTest {
    @Test
    void shouldUseTheScalarTwinUntilTrainedAgainWhenTheCollectorHasUnloadedAKernel()
            throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                // As if the code cache were nearly full: code is unloaded after a few collections without use.
                "-XX:StartAggressiveSweepingAt=100",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                UnloadedKernel.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        assertThat(output).containsPattern("after [0-9]+ collections compiled: false");
        assertThat(output.lines()
                        .filter(line -> line.startsWith("allocated: "))
                        .map(line -> Long.parseLong(line.substring("allocated: ".length()))))
                .as(output)
                .singleElement()
                .satisfies(bytes -> assertThat(bytes).isLessThan(200_000));
        assertThat(output).contains("trained: true").contains("trained again: true");
    }
}
