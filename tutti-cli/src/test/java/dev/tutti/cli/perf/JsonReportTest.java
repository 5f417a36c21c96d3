package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.cli.common.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class JsonReportTest {
    @TempDir
    private Path folder;

    private PerfTester.Outcome run(Path file, String more) {
        return new PerfTester()
                .with(PerfTester.ticking(400_000))
                .with("NCCL_TESTS_MIN_BW", "0")
                .with("NCCL_SECRET", "xyz")
                .with("HOME", "/root")
                .run("all_reduce -g 2 -b 1M -e 2M -f 2 -J " + file + more);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> read(Path file) throws Exception {
        return (Map<String, Object>) Json.read(Files.readString(file));
    }

    @Test
    @SuppressWarnings("unchecked")
    void shouldHaveTheKeysOfNcclTests() throws Exception {
        Path file = folder.resolve("results.json");
        assertThat(run(file, "").out()).startsWith("# Writing JSON output to " + file + "\n# tutti version ");
        Map<String, Object> report = read(file);
        assertThat(report.keySet())
                .containsExactly(
                        "version",
                        "start_time",
                        "args",
                        "env",
                        "nccl_version",
                        "tutti_version",
                        "config",
                        "results",
                        "out_of_bounds",
                        "average_bus_bandwidth",
                        "errors",
                        "end_time");
        assertThat((List<String>) report.get("args")).startsWith("tutti", "all_reduce", "-g", "2");
        assertThat(report.get("env")).isEqualTo(List.of("NCCL_TESTS_MIN_BW=0"));
        Map<String, Object> config = (Map<String, Object>) report.get("config");
        assertThat(config)
                .containsEntry("nthreads", 1.0)
                .containsEntry("ngpus", 2.0)
                .containsEntry("minimum_bytes", 1048576.0)
                .containsEntry("maximum_bytes", 2097152.0)
                .containsEntry("step_factor", 2.0)
                .containsEntry("iterations", 20.0)
                .containsEntry("blocking_collectives", "false");
        assertThat((List<Map<String, Object>>) config.get("devices")).hasSize(2);
        assertThat(Json.write(((List<?>) report.get("results")).getFirst()))
                .isEqualTo("{\"size\":1048576.000000,\"count\":262144.000000,\"type\":\"float\",\"redop\":\"sum\","
                        + "\"root\":\"    -1\","
                        + "\"out_of_place\":{\"time\":20.000000,\"alg_bw\":52.428800,\"bus_bw\":52.428800,\"nwrong\":0.000000},"
                        + "\"in_place\":{\"time\":20.000000,\"alg_bw\":52.428800,\"bus_bw\":52.428800,\"nwrong\":0.000000},"
                        + "\"actual_iterations\":20.000000,\"steady\":\"unchecked\",\"experiment_name\":\"\"}");
        assertThat(Json.write(report.get("out_of_bounds"))).isEqualTo("{\"count\":0.000000,\"okay\":\"true\"}");
        assertThat(report.get("average_bus_bandwidth")).isEqualTo(Map.of("bandwidth", 78.6432, "okay", "true"));
        assertThat(report.get("errors")).isEqualTo(List.of());
    }

    @Test
    void shouldWriteWholeNumbersWithoutDecimals() throws Exception {
        Path file = folder.resolve("whole.json");
        run(file, "");
        assertThat(Files.readString(file))
                .contains("\"size\":1048576,\"count\":262144,")
                .contains("\"nwrong\":0.000000");
    }

    @Test
    void shouldLeaveFilesAloneThatExist() throws Exception {
        Path file = folder.resolve("results.json");
        Files.writeString(file, "mine");
        assertThat(run(file, "").out()).startsWith("# Writing JSON output to " + file + ".0\n");
        assertThat(run(file, "").out()).startsWith("# Writing JSON output to " + file + ".1\n");
        assertThat(Files.readString(file)).isEqualTo("mine");
    }

    @Test
    @SuppressWarnings("unchecked")
    void shouldListIterationsWhenTheyAreAskedFor() throws Exception {
        Path file = folder.resolve("iterations.json");
        run(file, " -I 1 -n 3");
        Map<String, Object> row = ((List<Map<String, Object>>) read(file).get("results")).getFirst();
        Map<String, Object> iterations = (Map<String, Object>) row.get("out_of_place_per_iter");
        assertThat(iterations.keySet())
                .containsExactly(
                        "skipped_iterations",
                        "min_us",
                        "max_us",
                        "avg_us",
                        "p50_us",
                        "p95_us",
                        "p99_us",
                        "stdev_us",
                        "cv_pct",
                        "times_us");
        assertThat((List<Object>) iterations.get("times_us")).containsExactly(400.0, 400.0, 400.0);
    }

    @Test
    void shouldDrawThisRunAndEarlierOnesWhenAsked() throws Exception {
        Path earlier = folder.resolve("earlier.json");
        Path picture = folder.resolve("curves.png");
        run(earlier, "");
        PerfTester.Outcome outcome = new PerfTester()
                .run("all_reduce -g 2 -b 8 -e 1K -f 2 -n 1 --plot " + picture + " --compare " + earlier);
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        assertThat(ImageIO.read(picture.toFile()).getWidth()).isGreaterThan(1000);
        assertThat(Curve.read(earlier)).singleElement().satisfies(curve -> {
            assertThat(curve.label()).isEqualTo("earlier");
            assertThat(curve.points()).hasSize(2).contains(new Curve.Point(1048576, 20, 52.4288));
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{", "{\"a\"}", "[1,]", "[1 2]", "\"x", "{\"a\":1}x", "tru", "\"\\q\"", "\"\\u00g0\"", "-"})
    void shouldSayWhereTextIsNotJson(String text) {
        assertThatThrownBy(() -> Json.read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at character");
    }

    @Test
    void shouldReadWhatItWrote() {
        String text = "{\"a\":[1.500000,null,true,false,\"q\\\"\\\\\\n\\t\\u0001é\"],\"b\":{}}";
        assertThat(Json.write(Json.read(text))).isEqualTo(text);
    }
}
