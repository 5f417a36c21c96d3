package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WithoutVectorModuleTest {
    @Test
    void shouldReduceWithScalarCodeAndSayHowToChangeThatWhenTheModuleIsAbsent()
            throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                ScalarOnly.class.getName());
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // These would bring the module in again.
        builder.environment().keySet().removeAll(List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        assertThat(output).contains("idle: true");
        assertThat(output.lines().filter(line -> line.contains("Tutti reduces with scalar code")))
                .as(output)
                .singleElement()
                .asString()
                .contains("--add-modules jdk.incubator.vector");
    }
}
