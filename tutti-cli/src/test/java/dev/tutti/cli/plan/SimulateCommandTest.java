package dev.tutti.cli.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SimulateCommandTest {
    @TempDir
    private Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return PlanCommand.of(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8))
                .execute(arguments);
    }

    private String printed() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String complained() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldPrintARowForEachSizeWhenSimulating() throws IOException {
        Path json = folder.resolve("r.json");
        int status = run(
                "simulate",
                "--algo",
                "ring",
                "--topology",
                "dgx-h100",
                "-b",
                "1K",
                "-e",
                "16K",
                "-f",
                "4",
                "-J",
                "" + json);

        assertThat(status).isZero();
        assertThat(printed().lines().filter(line -> line.startsWith("  ring"))).hasSize(3);
        assertThat(Files.readString(json)).contains("\"plan\":\"ring\",\"ranks\":8,\"bytes\":1024");
    }

    @Test
    void shouldWriteATraceThatNamesOperationsWhenAsked() throws IOException {
        Path trace = folder.resolve("t.json");

        assertThat(run(
                        "simulate",
                        "all_gather",
                        "--algo",
                        "doubling",
                        "-g",
                        "2",
                        "-b",
                        "1K",
                        "-e",
                        "1K",
                        "--trace",
                        "" + trace))
                .isZero();
        assertThat(Files.readString(trace)).contains("\"traceEvents\"", "\"name\":\"signal\"", "\"name\":\"rank 1\"");
    }

    @Test
    void shouldDrawWhenThereAreSeveralRankCounts() {
        Path plot = folder.resolve("p.png");

        assertThat(run(
                        "simulate",
                        "--algo",
                        "tree",
                        "-g",
                        "4,8",
                        "--topology",
                        "racks",
                        "-b",
                        "1M",
                        "-e",
                        "1M",
                        "--plot",
                        "" + plot))
                .isZero();
        assertThat(plot).isNotEmptyFile();
    }

    @Test
    void shouldSayWhatThereIsWhenNamesAreWrong() {
        assertThat(run("simulate", "--topology", "moon")).isEqualTo(6);
        assertThat(run("simulate", "--algo", "rnig")).isEqualTo(6);
        assertThat(run("simulate", "no-such-file.json")).isEqualTo(6);
        assertThat(complained()).contains("dgx-h100-128", "no algorithm 'rnig'", "neither a file nor a collective");
    }

    @Test
    void shouldListOperationsWhenShownWithoutAFile() {
        assertThat(run("show", "--algo", "one-shot", "-g", "2")).isZero();
        assertThat(printed()).contains("rank 1", "put [s[1]@0] <- [i[0]@1]");
    }
}
