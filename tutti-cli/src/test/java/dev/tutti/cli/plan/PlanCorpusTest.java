package dev.tutti.cli.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Plan files that lie beside the repository behave as their verdicts say: all on threads, some of every kind on processes. Both at once, as
 * they wait for much of their time: for plans that never end, and for processes to start.
 */
@Timeout(600)
final class PlanCorpusTest {
    private static final Path PLANS = Path.of("../../shared/plans");

    /** Every operation, channel type, way to fail and number of ranks up to 4, and nothing twice. */
    private static final Set<String> ON_PROCESSES = Set.of(
            "default_algos/allgather_multi_nodes_n4_g2_oop.json", // ports, packets, two halves
            "default_algos/allreduce_multi_nodes_n4_g2_tbg2.json",
            "executor_tests/reduce_tbg_2r.json", // a race
            "known_bad/allgather_pkt_4r_no_double_scratch.json", // packets overwritten
            "multi_node/reducescatter_2x2.json",
            "multi_node/sendrecv_1x4_split0_inst1.json", // no collective
            "own/alltoall_port_flush_2r.json",
            "own/get_allgather_2r_cf2.json",
            "own/pipelined_allgather_4r.json", // loops, semaphores
            "own/tbg_allreduce_4r_tbg3.json", // lane groups
            "single_node/allreduce_4r.json", // reaches peers' input
            "single_node/allgather_nvls_zero_copy_pkt_2r.json", // groups
            "single_node/allreduce_pipeline_2r.json",
            "unit_tests/barrier_test.json", // no sizes
            "unit_tests/copy_packet_test.json", // one rank
            "unit_tests/put_with_signal_fuse_test.json", // computes nothing in particular
            "unit_tests/reduce_copy_send_packet_test.json", // waits for ever
            "unit_tests/switch_reduce_test.json"); // three ranks

    @TempDir
    Path folder = Path.of("");

    private final long seed = System.nanoTime();

    @BeforeEach
    void requirePlans() {
        Assumptions.assumeTrue(
                Files.exists(PLANS.resolve("MANIFEST.tsv")),
                "no plan files at " + PLANS.toAbsolutePath().normalize());
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldBehaveAsTheVerdictSaysOnThreads() throws IOException {
        PlanCorpus corpus = new PlanCorpus(PLANS, folder, seed);
        List<PlanCorpus.Entry> entries = corpus.entries();
        assertThat(entries).hasSizeGreaterThanOrEqualTo(182);
        compare(entries, corpus.run(entries, "threads", 4, 4));
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldBehaveAsTheVerdictSaysOnProcesses() throws IOException {
        PlanCorpus corpus = new PlanCorpus(PLANS, folder, seed);
        List<PlanCorpus.Entry> entries = corpus.entries().stream()
                .filter(entry -> ON_PROCESSES.contains(entry.file()))
                .toList();
        assertThat(entries).hasSize(ON_PROCESSES.size());
        List<PlanResult> results = corpus.run(entries, "shm", 4, 0);
        compare(entries, results);
        for (int i = 0; i < results.size(); i++) {
            if (entries.get(i).verdict().startsWith("FAIL deadlock")) {
                assertThat(results.get(i).reason()).contains("timed out").contains("waits for packets");
            }
        }
    }

    private void compare(List<PlanCorpus.Entry> entries, List<PlanResult> results) {
        for (int i = 0; i < entries.size(); i++) {
            assertThat(results.get(i).status())
                    .as("seed " + seed + ": " + entries.get(i) + "; "
                            + results.get(i).line())
                    .isIn(entries.get(i).expected());
        }
        System.out.println("plan files: seed " + seed + ", " + entries.size() + " " + PlanCorpus.counts(results));
    }
}
