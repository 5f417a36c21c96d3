package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The whole text, byte for byte; times come from a clock that advances 400 µs between any two looks. */
@Timeout(60)
class GoldenTest {
    private static PerfTester.Outcome run(String line) {
        return new PerfTester().with(PerfTester.ticking(400_000)).run(line);
    }

    @Test
    void shouldPrintTheTableOfNcclTests() {
        PerfTester.Outcome outcome = run("all_reduce -g 2 -b 1M -e 4M -f 2");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.stableOut()).isEqualTo("""
# tutti version VERSION
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: auto iters: auto agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using ranks
#  Rank  0 Group  0 Pid PID on HOST thread  0 [platform] perf-0
#  Rank  1 Group  0 Pid PID on HOST thread  1 [platform] perf-1
#
#                                                              out-of-place                       in-place         \s
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\s
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)        \s
     1048576        262144     float     sum      -1    20.00   52.43   52.43       0    20.00   52.43   52.43       0
     2097152        524288     float     sum      -1    20.00  104.86  104.86       0    20.00  104.86  104.86       0
     4194304       1048576     float     sum      -1    20.00  209.72  209.72       0    20.00  209.72  209.72       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 122.334\s
#
# Collective test concluded: all_reduce_perf
#

""");
        assertThat(outcome.exitCode()).isZero();
    }

    @Test
    void shouldSayNotAvailableWhereNothingIsCompared() {
        assertThat(run("alltoall_perf -g 2 -b 64 -e 64 -f 2").rows())
                .containsExactly(
                        "          64             8     float    none      -1    20.00    0.00    0.00       0    20.00    0.00    0.00    N/A");
        assertThat(run("broadcast -g 2 -b 64 -e 64 -c 0 -r 1 -d half").rows())
                .containsExactly(
                        "          64            32      half    none       1    20.00    0.00    0.00    N/A    20.00    0.00    0.00    N/A");
        assertThat(run("hypercube -g 2 -b 64 -e 64").rows().getFirst())
                .startsWith("          64             8     float              -1    20.00");
        assertThat(run("barrier -g 2").rows())
                .containsExactly(
                        "           0             0     float    none      -1    20.00    0.00    0.00    N/A    20.00    0.00    0.00    N/A");
    }

    @Test
    void shouldHaveRowsOfNothingWhenSizesAreLessThanSixteenBytesPerRank() {
        assertThat(run("all_gather -g 4 -b 8 -e 32 -f 4").rows())
                .containsExactly(
                        "           0             0     float    none      -1    20.00    0.00    0.00       0    20.00    0.00    0.00       0",
                        "           0             0     float    none      -1    20.00    0.00    0.00       0    20.00    0.00    0.00       0");
    }

    @Test
    void shouldHaveNoBusBandwidthWhenThereIsOneRank() {
        assertThat(run("all_reduce -g 1 -b 1M -e 1M").rows())
                .containsExactly(
                        "     1048576        262144     float     sum      -1    20.00   52.43    0.00       0    20.00   52.43    0.00       0");
        assertThat(run("reduce -g 1 -b 1M -e 1M").rows())
                .containsExactly(
                        "     1048576        262144     float     sum       0    20.00   52.43   52.43       0    20.00   52.43   52.43       0");
    }

    @Test
    void shouldAddColumnsWhenIterationsAreAskedFor() {
        PerfTester.Outcome outcome = run("all_reduce -g 2 -b 1M -e 1M -I 1 -K 2 -n 4");
        assertThat(outcome.out())
                .contains(
                        "# Per-Iteration Report: wall clock; i_* uses max over ranks; summary skips first 2 iterations \n")
                .contains("""
#                                                                 out-of-place (+ per-iteration)                                in-place (+ per-iteration)
#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%\s
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%)     (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%)\s
     1048576        262144     float     sum      -1   400.00    2.62    2.62       0   400.00   400.00   400.00     0.00   400.00    2.62    2.62       0   400.00   400.00   400.00     0.00
""");
        assertThat(run("all_reduce -g 2 -b 1M -e 1M -n 4 --percentiles").out()).contains("""
#                                                              out-of-place                                         in-place         \s
#       size         count      type   redop    root     time   algbw   busbw  #wrong      p50      p99     time   algbw   busbw  #wrong      p50      p99\s
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)     (us)     (us)  (GB/s)  (GB/s)             (us)     (us)\s
     1048576        262144     float     sum      -1   400.00    2.62    2.62       0   400.00   400.00   400.00    2.62    2.62       0   400.00   400.00
""");
    }

    @Test
    void shouldStampRowsAndNameTheModeWhenAsked() {
        PerfTester.Outcome outcome = run("all_reduce -g 2 -b 1M -e 1M -S 1 -z 3 -C 1");
        assertThat(outcome.out())
                .contains(
                        "# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes barrier \n")
                .contains("  cputime   algbw   busbw  #wrong           timestamp\n")
                .contains(" %Y-%m-%d %H:%M:%S\n");
        assertThat(outcome.rows().getFirst()).matches(".* 0  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d");
    }

    @Test
    void shouldTakeAFirstLookWhenNoSizesAreGiven() {
        PerfTester.Outcome outcome = run("all_reduce -g 2 -n 1");
        assertThat(outcome.out()).contains(" minBytes 8 maxBytes 4194304 step: 4(factor) ");
        assertThat(outcome.rows()).hasSize(10);
    }

    @Test
    void shouldGoThroughTypesThenOperatorsThenRoots() {
        assertThat(run("reduce -g 2 -b 64 -e 64 -d all -o all -r -1 -n 1").rows().stream()
                        .map(row -> row.substring(28, 52).strip().replaceAll(" +", " ")))
                .hasSize(2 * (14 * 6 + 8 * 3))
                .startsWith("int8 sum 0", "int8 sum 1", "int8 prod 0", "int8 prod 1", "int8 max 0")
                .contains("f8e5m2 mulsum 1")
                .endsWith("uint16 xor 0", "uint16 xor 1");
    }
}
