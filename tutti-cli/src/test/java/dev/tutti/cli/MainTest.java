package dev.tutti.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class MainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return Main.run(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                Map.of(),
                arguments);
    }

    @Test
    void shouldNameTheVersionWhenAsked() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .startsWith("tutti version ")
                .contains(" java=");
    }

    @Test
    void shouldShowCommandsAndExamplesWhenGivenNothing() {
        assertThat(run()).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("Commands:", "perf", "Examples:");
    }

    @Test
    void shouldShowEveryOptionWhenAskedForHelp() {
        assertThat(run("perf", "--help")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("-b, --minbytes=SIZE", "-a, --average", "--percentiles", "--compare", "Exit status:")
                .doesNotContain("--cudagraph");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            prf                              | tutti: unknown command 'prf'; did you mean perf?
            topology                         | tutti: unknown command 'topology'; there are run, perf, plan, doctor
            perf                             | tutti perf: PROGRAM is missing; see tutti perf --help
            perf all_reduce --algoo ring     | tutti perf: unknown option --algoo; did you mean --algo?
            perf all_reduce --percentile     | tutti perf: unknown option --percentile; did you mean --percentiles?
            perf all_reduce -Q 3             | tutti perf: unknown option -Q
            perf all_reduce -n abc           | tutti perf: -n: 'abc' is no whole number
            perf all_reduce -n               | tutti perf: -n needs a value: N
            perf all_reduce more             | tutti perf: unexpected argument 'more'
            """)
    void shouldSayInOneLineWhatIsWrongWhenMistyped(String line, String expected) {
        assertThat(run(line.split(" "))).isEqualTo(6);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo(expected + System.lineSeparator());
        assertThat(out.size()).isZero();
    }
}
