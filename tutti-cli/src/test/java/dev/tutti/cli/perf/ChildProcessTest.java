package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command as a process of its own: exit status, and nothing but the table on standard output. */
@Timeout(120)
class ChildProcessTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            perf all_reduce -g 2 -b 8 -e 32 -f 4 -n 5 | 0 | # tutti version
            perf all_reduce -b 8 -e 4                 | 6 | ''
            perf all_reduce -G 1                      | 5 | ''
            --version                                 | 0 | tutti version
            """)
    void shouldEndWithItsExitCode(String arguments, int code, String firstOut, @TempDir Path folder) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.tutti.cli.Main"));
        command.addAll(List.of(arguments.split(" ")));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        assertThat(process.waitFor()).as(Files.readString(err)).isEqualTo(code);
        assertThat(Files.readString(out, StandardCharsets.UTF_8)).startsWith(firstOut);
        // On a busy machine a row may not become steady in time, which is said.
        assertThat(Files.readAllLines(err).stream()
                        .filter(line -> !line.contains("incubator") && !line.contains("become steady")))
                .hasSize(code == 0 ? 0 : 1)
                .allMatch(line -> line.startsWith("tutti perf: "));
    }
}
