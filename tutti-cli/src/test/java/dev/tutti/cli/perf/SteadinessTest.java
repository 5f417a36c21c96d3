package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class SteadinessTest {
    private static final Case SUM = new Case(Program.ALL_REDUCE, DataType.FLOAT32, ReduceOp.Kind.SUM, -1);
    private static final Case MAX = new Case(Program.ALL_REDUCE, DataType.FLOAT32, ReduceOp.Kind.MAX, -1);

    private static Row row(Case what, long bytes, Steadiness steadiness) {
        Row.Half half = new Row.Half(1, 1, 1, 0, List.of());
        Shape shape = what.program().shape(bytes, 4, 2, Traffic.fromEnvironment(Map.of(), 2));
        return new Row(what, shape, 20, steadiness, half, half);
    }

    @Test
    void shouldNameWhatWasMeasuredTooSoonAndWhatToDo() {
        List<Row> rows = List.of(
                row(SUM, 8, Steadiness.UNSTEADY),
                row(SUM, 32, Steadiness.STEADY),
                row(SUM, 1 << 20, Steadiness.UNSTEADY),
                row(SUM, 8, Steadiness.UNSTEADY));
        assertThat(Steadiness.warning(rows, null))
                .contains("measured before times had become steady, so perhaps too slow: 8 B, 1048576 B; "
                        + "-w 20 warms up for longer");
        assertThat(Steadiness.warning(rows, 50)).get().asString().endsWith("; a larger -w than 50 warms up for longer");
    }

    @Test
    void shouldNameCasesWhereThereAreSeveralButNotAllOfMany() {
        assertThat(Steadiness.warning(List.of(row(SUM, 8, Steadiness.UNSTEADY), row(MAX, 8, Steadiness.STEADY)), null))
                .get()
                .asString()
                .contains(": 8 B (float sum); ");
        List<Row> many = IntStream.range(1, 12)
                .mapToObj(i -> row(SUM, 4L * i, Steadiness.UNSTEADY))
                .toList();
        assertThat(Steadiness.warning(many, null)).get().asString().contains(": 4 B, 8 B, ", ", 32 B and 3 more; ");
    }

    @Test
    void shouldSayNothingWhenAllAreSteadyOrNobodyLooked() {
        assertThat(Steadiness.warning(
                        List.of(row(SUM, 8, Steadiness.STEADY), row(SUM, 32, Steadiness.UNCHECKED)), null))
                .isEmpty();
    }

    /** With so little time nothing can be seen to be steady; where there is no warm-up, nobody looks. */
    @ParameterizedTest
    @CsvSource({"-c 1, false", "-w 2, false", "-w 0, unchecked"})
    void shouldTellInTheFileAndBesideTheTable(String option, String steady, @TempDir Path folder) throws Exception {
        Path json = folder.resolve("rows.json");
        Hooks hurried = new Hooks(System::nanoTime, 1, Hooks.NONE.tamper());
        PerfTester.Outcome outcome =
                new PerfTester().with(hurried).run("all_reduce -g 2 -b 8 -e 32 -f 4 -J " + json + " " + option);
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        assertThat(Files.readString(json)).contains("\"steady\":\"" + steady + "\"");
        assertThat(outcome.out()).doesNotContain("steady");
        if (steady.equals("false")) {
            assertThat(outcome.err())
                    .startsWith("tutti perf: measured before times had become steady, so perhaps too slow: 8 B, 32 B; ")
                    .hasLineCount(1);
        } else {
            assertThat(outcome.err()).isEmpty();
        }
    }

    private static List<Settling.Batch> batches(long compiledMillis, long... millis) {
        return Arrays.stream(millis)
                .mapToObj(each -> new Settling.Batch(1, each * 1_000_000, compiledMillis))
                .toList();
    }

    @Test
    void shouldCallTimesSteadyThatHaveStoppedFalling() {
        assertThat(Settling.isSteady(batches(0, 9, 6, 5, 5, 5, 5, 6, 9, 5, 5))).isTrue();
        assertThat(Settling.isSteady(batches(0, 9, 6, 6, 6, 6, 6, 5, 5, 5, 5))).isFalse();
        assertThat(Settling.isSteady(batches(1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5))).isFalse();
    }

    @Test
    void shouldCallARowSteadyWhenBothHalvesAre() {
        Settling.Result steady = new Settling.Result(2, true);
        assertThat(steady.and(new Settling.Result(3, false))).isEqualTo(new Settling.Result(3, false));
        assertThat(steady.and(new Settling.Result(1, true))).isEqualTo(steady);
    }

    /** A call of a second leaves no time for ten of them; a few calls of microseconds say nothing. */
    @Test
    void shouldJudgeByFewBatchesOnlyWhenTheyAreLong() {
        assertThat(Settling.isSteady(batches(0, 1000, 990))).isTrue();
        assertThat(Settling.isSteady(batches(0, 1000, 900, 900))).isFalse();
        assertThat(Settling.isSteady(batches(0, 5, 5, 5))).isFalse();
        assertThat(Settling.isSteady(batches(0, 1000))).isFalse();
    }
}
