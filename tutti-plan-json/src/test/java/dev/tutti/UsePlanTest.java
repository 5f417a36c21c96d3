package dev.tutti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.algorithm.Algorithms;
import dev.tutti.data.ExactData;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.json.PlanFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ordinary calls that plan files serve. */
@Timeout(120)
final class UsePlanTest {
    private static final long[] COUNTS = {0, 1, 3, 64, 100, 1001, 40_000};

    private static Plan load(String file) throws IOException {
        Path path = Path.of("../../shared/plans").resolve(file);
        Assumptions.assumeTrue(
                Files.exists(path), "no plan file at " + path.toAbsolutePath().normalize());
        return PlanFile.load(path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "single_node/allreduce_4r.json", // in place, reaches peers' input
                "single_node/allreduce_naivy_nofuse_4r.json", // packets, one half
                "own/allpairs_oop_2r.json", // not in place, reaches peers' output
                "own/ring_allreduce_5r.json",
                "own/tbg_allreduce_4r_tbg3.json", // lane groups
                "examples/dsl_with_nccl_api_allreduce_nvls_4r_inst2.json", // switch groups
                "single_node/allreduce_pipeline_2r.json", // loops and semaphores
                "default_algos/allreduce_multi_nodes_n4_g2_tbg2.json"
            }) // ports, two halves, limits
    void shouldReduceEverywhere(String file) throws IOException {
        Plan plan = load(file);
        World.local(plan.ranks()).run(comm -> {
            comm.use(plan);
            for (ReduceOp.Kind kind :
                    List.of(ReduceOp.Kind.SUM, ReduceOp.Kind.AVG, ReduceOp.Kind.PRE_MUL_SUM, ReduceOp.Kind.MAX)) {
                ExactData data = ExactData.reducing(DataType.FLOAT32, kind, comm.size());
                for (long count : COUNTS) {
                    for (int placement = 0; placement < 6; placement++) {
                        reduce(comm, data, count, placement);
                    }
                }
            }
        });
    }

    private static void reduce(Communicator comm, ExactData data, long count, int placement) {
        long seed = count * 10 + placement;
        boolean inPlace = placement % 2 == 1;
        long bytes = 4 * count;
        MemorySegment filled = Arena.ofAuto().allocate(Math.max(4, bytes), 8).asSlice(0, bytes);
        data.input(comm.rank(), seed).fill(filled, 0);
        MemorySegment in;
        MemorySegment out;
        Buffer input;
        Buffer output;
        if (placement < 2) { // arrays
            float[] array = filled.toArray(java.lang.foreign.ValueLayout.JAVA_FLOAT);
            float[] result = inPlace ? array : new float[array.length];
            in = MemorySegment.ofArray(array);
            out = MemorySegment.ofArray(result);
            input = Buffer.of(array);
            output = inPlace ? input : Buffer.of(result);
        } else {
            input = comm.allocate(DataType.FLOAT32, count);
            output = inPlace ? input : comm.allocate(DataType.FLOAT32, count);
            in = input.segment();
            out = output.segment();
            in.copyFrom(filled);
        }
        if (placement < 4) {
            comm.allReduce(input, output, data.operator(comm.rank()));
        } else {
            comm.allReduceAsync(input, output, data.operator(comm.rank())).await();
        }
        String what = comm.rank() + " " + data.operator(0) + " count " + count + " placement " + placement;
        assertThat(data.reduced(seed).countWrong(out, 0)).as(what).isZero();
        if (!inPlace) {
            assertThat(data.input(comm.rank(), seed).countWrong(in, 0))
                    .as("input of " + what)
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "own/get_allgather_2r_cf2.json",
                "own/pipelined_allgather_4r.json",
                "multi_node/allgather_2x2_inst2.json",
                "default_algos/allgather_multi_nodes_n4_g2_oop.json",
                "multi_node/reducescatter_2x2.json",
                "multi_node/reducescatter_pkt_2x4.json",
                "single_node/alltoall_4r.json",
                "single_node/alltoall_ring_oop_4r_inst2.json"
            })
    void shouldServeTheOthers(String file) throws IOException {
        Plan plan = load(file);
        int n = plan.ranks();
        World.local(n).run(comm -> {
            comm.use(plan);
            for (long count : COUNTS) {
                Buffer small = comm.allocate(DataType.INT32, count);
                Buffer large = comm.allocate(DataType.INT32, n * count);
                switch (plan.collective()) {
                    case ALL_GATHER -> {
                        ExactData data = ExactData.moving(DataType.INT32, n);
                        data.input(comm.rank(), count).fill(small.segment(), 0);
                        comm.allGather(small, large);
                        for (int peer = 0; peer < n; peer++) {
                            assertThat(data.input(peer, count)
                                            .countWrong(large.segment().asSlice(peer * 4 * count, 4 * count), 0))
                                    .isZero();
                        }
                    }
                    case REDUCE_SCATTER -> {
                        ExactData data = ExactData.reducing(DataType.INT32, ReduceOp.Kind.SUM, n);
                        data.input(comm.rank(), count).fill(large.segment(), 0);
                        comm.reduceScatter(large, small, ReduceOp.SUM);
                        assertThat(data.reduced(count).countWrong(small.segment(), comm.rank() * count))
                                .isZero();
                        assertThat(data.input(comm.rank(), count).countWrong(large.segment(), 0))
                                .isZero();
                    }
                    default -> {
                        ExactData data = ExactData.moving(DataType.INT32, n);
                        Buffer received = comm.allocate(DataType.INT32, n * count);
                        data.input(comm.rank(), count).fill(large.segment(), 0);
                        comm.allToAll(large, received);
                        for (int peer = 0; peer < n; peer++) {
                            assertThat(data.input(peer, count)
                                            .countWrong(
                                                    received.segment().asSlice(peer * 4 * count, 4 * count),
                                                    comm.rank() * count))
                                    .isZero();
                        }
                    }
                }
            }
        });
    }

    @Test
    void shouldLeaveMessagesOutsideOfTheRangeToBuiltInAlgorithms() throws IOException {
        Plan plan = load("single_node/allreduce_naivy_nofuse_4r.json");
        World.local(4).run(comm -> {
            comm.use(plan, 1000, 2000);
            ExactData data = ExactData.reducing(DataType.FLOAT32, ReduceOp.Kind.SUM, 4);
            for (long count : new long[] {10, 249, 250, 400, 500, 501, 5000}) {
                reduce(comm, data, count, 2);
            }
        });
        // Whether the plan serves a call shows where ranks disagree about it.
        for (long count : new long[] {250, 500}) {
            assertThatThrownBy(() -> disagree(plan, count))
                    .isInstanceOf(MismatchException.class)
                    .hasMessageContaining("(by plan ");
        }
        disagree(plan, 249);
        disagree(plan, 501);
    }

    private static void disagree(Plan plan, long count) {
        World.local(4).run(comm -> {
            comm.use(plan, 1000, 2000);
            if (comm.rank() == 1) {
                comm.member.useBuiltIn();
            }
            comm.allReduce(comm.allocate(DataType.FLOAT32, count), ReduceOp.SUM);
            comm.barrier();
        });
    }

    @Test
    void shouldTakeOwnPlansToo() {
        Plan ring = Algorithms.find(Collective.ALL_REDUCE, "ring", Protocol.SIMPLE)
                .orElseThrow()
                .plan(3, 0, 2);
        Plan again = PlanFile.parse(PlanFile.write(ring));
        World.local(3).run(comm -> {
            ExactData data = ExactData.reducing(DataType.FLOAT32, ReduceOp.Kind.SUM, 3);
            reduce(comm, data, 1001, 2);
            comm.use(again);
            reduce(comm, data, 1001, 2);
            reduce(comm, data, 100_000, 1);
            comm.useBuiltIn();
            reduce(comm, data, 1001, 2);
        });
    }

    /** Small calls in a row take a short cut; a plan that comes in the middle serves the next one all the same, and no longer when it goes. */
    @Test
    void shouldServeTheNextCallOfARow() throws IOException {
        Plan plan = load("own/ring_allreduce_2r.json");
        assertThatThrownBy(() -> disagreeInARow(plan, false))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining("(by plan ");
        disagreeInARow(plan, true);
    }

    private static void disagreeInARow(Plan plan, boolean bothForget) {
        World.local(2).run(comm -> {
            float[] x = new float[2];
            for (int i = 0; i < 10; i++) {
                comm.allReduce(x, ReduceOp.SUM);
            }
            comm.use(plan);
            if (comm.rank() == 1 || bothForget) {
                comm.member.useBuiltIn();
            }
            for (int i = 0; i < 10; i++) {
                comm.allReduce(x, ReduceOp.SUM);
            }
        });
    }

    @Test
    void shouldRefuseWhatIsWrongAndStayUsable() throws IOException {
        Plan racing = load("executor_tests/reduce_tbg_2r.json");
        Plan other = load("own/ring_allreduce_2r.json");
        Plan four = load("single_node/allreduce_4r.json");
        World.local(2).run(comm -> {
            assertThatThrownBy(() -> comm.use(racing))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("RACE");
            assertThatThrownBy(() -> comm.use(four)).hasMessageContaining("is for 4 ranks");
            assertThatThrownBy(() -> comm.use(comm.rank() == 0 ? other : racing))
                    .hasMessageContaining("rank 1 gave another plan than rank 0");
            float[] x = {comm.rank()};
            comm.allReduce(x, ReduceOp.SUM);
            assertThat(x[0]).isEqualTo(1);
        });
    }

    @Test
    void shouldNameWhoIsMissing() throws IOException {
        Plan plan = load("single_node/allreduce_4r.json");
        CountDownLatch others = new CountDownLatch(3);
        assertThatThrownBy(() -> World.local(4)
                        .config(Config.fromEnvironment().with(Config.Key.TIMEOUT, "1s"))
                        .run(comm -> {
                            comm.use(plan);
                            if (comm.rank() == 2) {
                                others.await();
                                return;
                            }
                            try {
                                comm.allReduce(new float[1000], ReduceOp.SUM);
                            } finally {
                                others.countDown();
                            }
                        }))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("waits for rank 2 to begin");
    }
}
