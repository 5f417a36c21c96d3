package dev.tutti.plan.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tutti.ReduceOp;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.json.PlanFile;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every family says the same as the file that the original's language wrote: the same operations on the same chunks in every lane, meetings
 * of threads included, channels compared by their ends; and is proven.
 */
@Timeout(60)
class PlanFamiliesTest {
    private static final Path PLANS = Path.of("../../shared/plans");

    static Stream<Arguments> families() {
        return Stream.of(
                family("single_node/allreduce_2r_inst2", () -> PlanFamilies.allReduce(2, 2, true)),
                family("single_node/allreduce_4r", () -> PlanFamilies.allReduce(4, 1, true)),
                family("single_node/allreduce_8r_inst4", () -> PlanFamilies.allReduce(8, 4, true)),
                family("single_node/allreduce_nofuse_4r", () -> PlanFamilies.allReduce(4, 1, false)),
                family("single_node/allreduce_naivy_2r", () -> PlanFamilies.allReducePackets(2, 1, true)),
                family("single_node/allreduce_naivy_4r_inst2", () -> PlanFamilies.allReducePackets(4, 2, true)),
                family("single_node/allreduce_naivy_8r", () -> PlanFamilies.allReducePackets(8, 1, true)),
                family("single_node/allreduce_naivy_nofuse_4r", () -> PlanFamilies.allReducePackets(4, 1, false)),
                family("own/rd_allreduce_pkt_2r", () -> PlanFamilies.recursiveDoubling(2, 1)),
                family("own/rd_allreduce_pkt_4r_inst2", () -> PlanFamilies.recursiveDoubling(4, 2)),
                family("own/rd_allreduce_pkt_8r", () -> PlanFamilies.recursiveDoubling(8, 1)),
                family("own/ring_allreduce_2r", () -> PlanFamilies.ring(2, 1)),
                family("own/ring_allreduce_4r_inst4", () -> PlanFamilies.ring(4, 4)),
                family("own/ring_allreduce_5r", () -> PlanFamilies.ring(5, 1)),
                family("own/ring_allreduce_8r", () -> PlanFamilies.ring(8, 1)),
                family("own/ring_allreduce_port_2r", () -> PlanFamilies.ringOverPorts(2)),
                family("own/ring_allreduce_port_8r", () -> PlanFamilies.ringOverPorts(8)),
                family("own/tbg_allreduce_4r_tbg3", () -> PlanFamilies.groupOfLanes(4, 3)),
                family("own/allpairs_oop_2r", () -> PlanFamilies.allPairs(2, ReduceOp.SUM)),
                family("own/allpairs_oop_4r_max", () -> PlanFamilies.allPairs(4, ReduceOp.MAX)),
                family("single_node/allgather_ring_2r", () -> PlanFamilies.allGather(2, 32)),
                family("single_node/allgather_ring_8r_inst1", () -> PlanFamilies.allGather(8, 1)),
                family("own/get_allgather_2r_cf2", () -> PlanFamilies.allGatherByReading(2)),
                family("own/get_allgather_8r_cf2", () -> PlanFamilies.allGatherByReading(8)),
                family("single_node/allgather_pkt_rppkt_2r", () -> PlanFamilies.allGatherPackets(2, 1)),
                family("single_node/allgather_pkt_rppkt_8r_inst2", () -> PlanFamilies.allGatherPackets(8, 2)),
                family("own/pipelined_allgather_4r", () -> PlanFamilies.pipelinedAllGather(4)),
                family("single_node/alltoall_4r_inst1", () -> PlanFamilies.allToAll(4, 1)),
                family("single_node/alltoall_8r_inst4", () -> PlanFamilies.allToAll(8, 4)),
                family("single_node/alltoall_pkt_4r_inst1", () -> PlanFamilies.allToAllPackets(4, 1)),
                family("single_node/alltoall_pkt_8r_inst1", () -> PlanFamilies.allToAllPackets(8, 1)),
                family("own/alltoall_port_flush_2r", PlanFamilies::allToAllOverPorts),
                family("single_node/allreduce_nvls_zero_copy_2r", () -> PlanFamilies.allReduceBySwitch(2, 8)),
                family("single_node/allreduce_nvls_zero_copy_8r_inst1", () -> PlanFamilies.allReduceBySwitch(8, 1)),
                family("single_node/allreduce_pipeline_2r", PlanFamilies::pipelinedAllReduce));
    }

    private static Arguments family(String file, Supplier<Plan> author) {
        return Arguments.of(file, author);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("families")
    void shouldSayTheSameAsTheFileWhenWrittenInTheLanguage(String file, Supplier<Plan> author) throws IOException {
        Path path = PLANS.resolve(file + ".json");
        assumeTrue(
                Files.exists(path), "no plan files at " + PLANS.toAbsolutePath().normalize());
        Plan original = PlanFile.load(path);
        Plan plan = author.get();

        assertThat(plan.header().purpose()).isEqualTo(original.header().purpose());
        assertThat(plan.header().inPlace()).isEqualTo(original.header().inPlace());
        assertThat(plan.header().doubleScratch()).isEqualTo(original.header().doubleScratch());
        assertThat(plan.header().reuseResources()).isEqualTo(original.header().reuseResources());
        assertThat(plan.protocol()).isEqualTo(original.protocol());
        assertThat(plan.ranks()).isEqualTo(original.ranks());
        for (int rank = 0; rank < plan.ranks(); rank++) {
            RankPlan mine = plan.rank(rank);
            RankPlan theirs = original.rank(rank);
            assertThat(List.of(mine.inputChunks(), mine.outputChunks(), mine.scratchChunks(), mine.semaphores()))
                    .as("chunks and semaphores of rank %d", rank)
                    .isEqualTo(List.of(
                            theirs.inputChunks(), theirs.outputChunks(), theirs.scratchChunks(), theirs.semaphores()));
            assertThat(normal(mine)).as("rank %d", rank).isEqualTo(normal(theirs));
        }
        assertThat(Verifier.check(plan).status()).isEqualTo(Verdict.Status.PASS);
    }

    private static List<List<String>> normal(RankPlan part) {
        return part.lanes().stream().map(lane -> normal(part, lane)).toList();
    }

    private static List<String> normal(RankPlan part, List<Op> lane) {
        List<String> ops = new ArrayList<>();
        for (Op op : lane) {
            List<String> ends = op.channels().stream()
                    .map(id -> op.code().isGroup()
                            ? part.groups().get(id).toString()
                            : part.channels().get(id).toString())
                    .sorted()
                    .toList();
            ops.add(op.code() + " " + op.destinations() + " <- " + op.sources() + " " + ends + " " + op.semaphores()
                    + " "
                    + op.fold() + " " + op.plainPosition() + " " + op.slice() + " " + op.barrier()
                    + (op.loop() == null
                            ? ""
                            : " every " + op.loop().unitBytes() + " of "
                                    + op.loop().chunks() + " "
                                    + normal(part, op.loop().body())));
        }
        return ops;
    }
}
