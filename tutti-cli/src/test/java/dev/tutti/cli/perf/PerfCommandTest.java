package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(120)
class PerfCommandTest {
    private static final String SMALL = " -b 48 -e 12K -f 16 -n 2";

    static Stream<String> manyWays() {
        return Stream.of(
                "",
                " -d double -o prod",
                " -d int8 -o avg",
                " -d bfloat16 -o mulsum",
                " -d f8e4m3 -o max -u 3",
                " -R 1 -z 1",
                " --heap -d half",
                " --heap -m 3 -a 3 -z 3");
    }

    private static Stream<String> commands() {
        return Stream.of(Program.values())
                .flatMap(program -> manyWays()
                        .filter(way -> !(program.isScan() && way.contains("avg")))
                        .map(way -> program.label() + " -g " + (way.contains("-R 1") ? 2 : 4) + SMALL + way));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldFindNothingWrong(String command) {
        PerfTester.Outcome outcome = new PerfTester().run(command);
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.exitCode()).as(outcome.out()).isZero();
        assertThat(outcome.out()).contains("# Out of bounds values : 0 OK\n");
        assertThat(outcome.rows()).hasSize(command.startsWith("barrier") ? 1 : 3);
    }

    @Test
    void shouldRunOnVirtualThreads() {
        PerfTester.Outcome outcome = new PerfTester().run("all_reduce -g 3 --virtual" + SMALL);
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("[virtual]");
    }

    /** A row that has settled knows how long a call takes, and so has more iterations than the 20 that it has at least. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"-c 1|true", "-w 3|true", "-w 0|false"})
    void shouldSettleUnlessThereIsToBeNoWarmUp(String option, boolean settles, @TempDir Path folder) throws Exception {
        Path json = folder.resolve("rows.json");
        PerfTester.Outcome outcome =
                new PerfTester().with(Hooks.NONE).run("all_reduce -g 2 -b 64 -e 64 -J " + json + " " + option);
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        assertThat(Files.readString(json))
                .containsPattern("\"actual_iterations\": ?" + (settles ? "(?!20\\b)\\d\\d" : "20\\b"));
    }

    @ParameterizedTest
    @EnumSource(Program.class)
    void shouldCountWrongElementsAndFailWhenAResultIsSpoilt(Program program) {
        if (program == Program.BARRIER) {
            return;
        }
        Hooks spoiling = new Hooks(System::nanoTime, 0, (rank, what, inPlace, output) -> {
            if (rank == 0 && !inPlace) {
                flip(output, 1);
                flip(output, output.byteSize() / 4 - 1);
            }
        });
        PerfTester.Outcome outcome = new PerfTester().with(spoiling).run(program.label() + " -g 2 -b 1K -e 1K -n 1");
        assertThat(outcome.rows().getFirst().substring(79, 85).strip()).isEqualTo("2");
        assertThat(outcome.out()).contains("# Out of bounds values : 1 FAILED\n");
        assertThat(outcome.exitCode()).isEqualTo(7);
    }

    private static void flip(MemorySegment memory, long index) {
        memory.setAtIndex(
                ValueLayout.JAVA_INT_UNALIGNED, index, ~memory.getAtIndex(ValueLayout.JAVA_INT_UNALIGNED, index));
    }

    @Test
    void shouldFailWhenBandwidthIsLessThanDemanded() {
        PerfTester.Outcome poor =
                new PerfTester().with("NCCL_TESTS_MIN_BW", "1e9").run("all_reduce -g 2 -b 8 -e 8 -n 1");
        assertThat(poor.exitCode()).isEqualTo(7);
        assertThat(poor.out()).containsPattern("# Avg bus bandwidth    : \\S+ FAILED\n");
        PerfTester.Outcome enough =
                new PerfTester().with("NCCL_TESTS_MIN_BW", "0").run("all_reduce -g 2 -b 8 -e 8 -n 1");
        assertThat(enough.exitCode()).isZero();
        assertThat(enough.out()).containsPattern("# Avg bus bandwidth    : \\S+ OK\n");
    }

    @Test
    void shouldEndWithTimeoutWhenARankIsStuck() {
        Hooks stuck = new Hooks(System::nanoTime, 0, (rank, what, inPlace, output) -> {
            if (rank == 1) {
                java.util.concurrent.locks.LockSupport.parkNanos(4_000_000_000L);
            }
        });
        PerfTester.Outcome outcome = new PerfTester().with(stuck).run("all_reduce -g 2 -b 8 -e 8 -T 1");
        assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(4);
        assertThat(outcome.err()).startsWith("tutti perf: ").hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            all_reduc                     | 6 | unknown program 'all_reduc'; there are all_reduce
            all_reduce -b 8 -e 4          | 6 | -b must not be more than -e: 8 > 4
            all_reduce -b 4x              | 6 | -b: '4x' is no size
            all_reduce -b 0 -e 8 -f 2     | 6 | -b 0 does not grow
            all_reduce -f 0               | 6 | -f must be at least 1
            all_reduce -o foo             | 6 | unknown operator 'foo' (-o); there are sum prod
            all_reduce -d floot           | 6 | unknown type 'floot' (-d); there are int8
            all_reduce -o xor             | 6 | all_reduce has no xor of float
            scan -o avg                   | 6 | scan has no avg of float
            reduce -g 2 -r 2              | 6 | -r must be in -1..1, got 2
            hypercube -g 3                | 6 | hypercube needs a power of two of ranks
            all_reduce --algo rong        | 6 | no such algorithm (--algo, --proto) of all_reduce; there are
            sendrecv --algo ring          | 6 | sendrecv has no algorithms
            all_reduce --transport tcp    | 6 | unknown transport 'tcp'
            all_reduce -K 3               | 6 | -K needs -I 1 or --percentiles
            all_reduce --heap -R 1        | 6 | --heap and -R 1 exclude each other
            all_reduce --compare x.json   | 6 | --compare needs --plot
            all_reduce -J /no/such/x.json | 6 | cannot write /no/such/x.json (-J): there is no such folder
            all_reduce --plot /no/such/x  | 6 | cannot write /no/such/x (--plot): there is no such folder
            all_reduce -n 0               | 6 | -n must be at least 1, got 0
            all_reduce -G 1               | 5 | -G 1 is for GPUs
            all_reduce -R 2               | 5 | -R 2 (symmetric memory) is for GPUs
            all_reduce -D 1               | 5 | -D 1 is for GPUs
            """)
    void shouldRefuseInOneLine(String command, int code, String message) {
        PerfTester.Outcome outcome = new PerfTester().run(command);
        assertThat(outcome.err()).startsWith("tutti perf: " + message).hasLineCount(1);
        assertThat(outcome.exitCode()).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource({"-p 0", "-y 0", "-G 0", "-x -1", "-D 0", "-V 16", "-M 0", "-R 0", "-t 2", "--transport local"})
    void shouldAcceptDefaultsOfWhatIsNotForThreads(String option) {
        assertThat(new PerfTester()
                        .run("all_reduce -g 1 -b 8 -e 8 -n 1 " + option)
                        .exitCode())
                .isZero();
    }

    @Test
    void shouldSendWhatTheMatrixSaysWhenThereIsOne(@TempDir Path folder) throws Exception {
        Path matrix = folder.resolve("matrix");
        Files.writeString(matrix, "0 64 128\n16 0 0\n1000 0 32\n");
        PerfTester tester = new PerfTester().with("NCCL_TESTS_ALLTOALLV_MATRIX_FILE", matrix.toString());
        PerfTester.Outcome outcome = tester.run("alltoallv -g 3 -b 4K -e 4K -n 2");
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        assertThat(outcome.rows().getFirst()).startsWith("        1024             0 ");
        assertThat(tester.run("alltoallv -g 4 -b 4K -e 4K").err()).contains("is for 3 ranks");
        assertThat(tester.run("alltoallv -g 3 -b 512 -e 512").err()).contains("-e must be at least 1024");
    }

    /** Three ranks with even numbers, two with odd ones; rank 0's group is shown. */
    @ParameterizedTest
    @CsvSource({
        "NCCL_TESTS_SPLIT, MOD 2",
        "NCCL_TESTS_SPLIT, %2",
        "NCCL_TESTS_SPLIT, AND 0x1",
        "NCCL_TESTS_SPLIT_MASK, 1"
    })
    void shouldRunInGroupsWhenRanksAreSplit(String variable, String value) {
        PerfTester.Outcome outcome = new PerfTester().with(variable, value).run("all_gather -g 5 -b 480 -e 480 -n 2");
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("#  Rank  1 Group  1 ", "#  Rank  4 Group  0 ");
        assertThat(outcome.rows().getFirst()).startsWith("         480            40 ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            DIV 2  | reduce -g 4 -r 1    |
            DIV 2  | hypercube -g 4      |
            OR 4   | sendrecv -g 3       |
            MOD 2  | reduce -g 4 -r 2    | tutti perf: -r must be in -1..1, as the smallest group has 2 ranks; got 2
            MOD 2  | hypercube -g 6      | tutti perf: hypercube needs a power of two of ranks
            MOD 0  | all_reduce -g 2     | tutti perf: NCCL_TESTS_SPLIT='MOD 0' is no way to split
            XOR 3  | all_reduce -g 2     | tutti perf: NCCL_TESTS_SPLIT='XOR 3' is no way to split
            AND 99999999999 | all_reduce | tutti perf: NCCL_TESTS_SPLIT='AND 99999999999' is no way to split
            """)
    void shouldAcceptOrRefuseWaysToSplit(String split, String command, String message) {
        PerfTester.Outcome outcome =
                new PerfTester().with("NCCL_TESTS_SPLIT", split).run(command + " -b 1K -e 1K -n 1");
        assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(message == null ? 0 : 6);
        assertThat(outcome.err()).startsWith(message == null ? "" : message).hasLineCount(message == null ? 0 : 1);
    }
}
