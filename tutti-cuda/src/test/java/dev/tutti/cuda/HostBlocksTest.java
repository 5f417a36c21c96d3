package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.cuda.kernel.HostCompiler;
import dev.tutti.data.DataStream;
import dev.tutti.data.ExactData;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Reach;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every algorithm of Tutti's own on the device's executor of plans, compiled for the host with a thread for each lane. */
@Timeout(300)
class HostBlocksTest {
    private static final int LAUNCHES = 3;
    private static final byte POISON = 0x5A;

    @Test
    void shouldRunEveryAlgorithm(@TempDir Path folder) throws Exception {
        HostCompiler.require("g++");
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        int run = 0;
        for (DataType type : List.of(DataType.INT32, DataType.BFLOAT16, DataType.FLOAT64)) {
            try (Arena arena = Arena.ofConfined()) {
                HostPlans plans = new HostPlans(folder, type, arena);
                for (Collective collective : Collective.values()) {
                    for (Algorithm algorithm : Algorithms.of(collective)) {
                        for (int ranks : new int[] {1, 2, 3, 4, 8}) {
                            int lanes = 1 + random.nextInt(3);
                            int root = collective.isRooted() ? random.nextInt(ranks) : 0;
                            Plan plan = algorithm.plan(ranks, root, lanes);
                            int count = List.of(1, 7, 129, 1000, 4099).get(random.nextInt(5));
                            play(plan, type, operator(plan, type, random), count, random.nextLong(), plans);
                            run++;
                        }
                    }
                }
            }
        }
        System.out.println(run + " algorithms, ranks and types ran");
        assertThat(run).isGreaterThan(400);
    }

    private static ReduceOp.@Nullable Kind operator(Plan plan, DataType type, Random random) {
        if (!plan.collective().isReducing()) {
            return null;
        }
        boolean scans = plan.collective() == Collective.SCAN || plan.collective() == Collective.EXSCAN;
        while (true) {
            ReduceOp.Kind kind = ReduceOp.Kind.values()[random.nextInt(ReduceOp.Kind.values().length)];
            boolean applies =
                    kind != ReduceOp.Kind.USER && ExactData.operator(kind, 0).accepts(type);
            if (applies
                    && !(scans && kind == ReduceOp.Kind.AVG)
                    && !(kind == ReduceOp.Kind.PRE_MUL_SUM && plan.reach() != Reach.OWN)) {
                return kind;
            }
        }
    }

    private static void play(
            Plan plan, DataType type, ReduceOp.@Nullable Kind kind, int count, long seed, HostPlans plans) {
        try (Arena arena = Arena.ofConfined()) {
            int ranks = plan.ranks();
            long block = (long) count * type.bytes();
            long in = plan.collective().inputBlocks(ranks) * block;
            long out = plan.collective().outputBlocks(ranks) * block;
            ExactData data = kind == null ? ExactData.moving(type, ranks) : ExactData.reducing(type, kind, ranks);
            long[] scalars = new long[ranks];
            for (int rank = 0; kind == ReduceOp.Kind.PRE_MUL_SUM && rank < ranks; rank++) {
                scalars[rank] =
                        FoldArgs.scalarBits(type, ExactData.operator(kind, rank).scalar());
            }
            HostPlans.Ready ready =
                    plans.prepare(plan, block, type, kind == null ? null : ExactData.operator(kind, 0), arena);
            for (int launch = 0; launch < LAUNCHES; launch++) {
                MemorySegment[] inputs = new MemorySegment[ranks];
                MemorySegment[] results = new MemorySegment[ranks];
                for (int rank = 0; rank < ranks; rank++) {
                    inputs[rank] = arena.allocate(Math.max(1, in), 64);
                    results[rank] = arena.allocate(Math.max(1, out), 64).fill(POISON);
                    data.input(rank, seed + launch).fill(inputs[rank].asSlice(0, in), 0);
                }
                ready.launch(inputs, results, scalars);
                for (int rank = 0; rank < ranks; rank++) {
                    assertThat(wrong(plan, data, seed + launch, rank, count, block, results[rank]))
                            .as(
                                    "%s of %d ranks, %s %s, %d elements, launch %d, rank %d",
                                    plan, ranks, type, kind, count, launch, rank)
                            .isZero();
                }
            }
        }
    }

    private static long wrong(
            Plan plan, ExactData data, long seed, int rank, int count, long block, MemorySegment result) {
        boolean atRoot = rank == plan.root();
        DataStream expected = switch (plan.collective()) {
            case ALL_REDUCE, REDUCE_SCATTER -> data.reduced(seed);
            case REDUCE -> atRoot ? data.reduced(seed) : null;
            case SCAN -> data.reduced(rank + 1, seed);
            case EXSCAN -> rank == 0 ? null : data.reduced(rank, seed);
            case BROADCAST, SCATTER -> data.input(plan.root(), seed);
            default -> null;
        };
        if (expected != null) {
            boolean blocks = plan.collective() == Collective.REDUCE_SCATTER || plan.collective() == Collective.SCATTER;
            return expected.countWrong(result.asSlice(0, block), blocks ? (long) rank * count : 0);
        }
        boolean gathers =
                plan.collective() == Collective.ALL_GATHER || (plan.collective() == Collective.GATHER && atRoot);
        boolean exchanges = plan.collective() == Collective.ALL_TO_ALL;
        long wrong = 0;
        for (int peer = 0; (gathers || exchanges) && peer < plan.ranks(); peer++) {
            wrong += data.input(peer, seed)
                    .countWrong(result.asSlice(peer * block, block), exchanges ? (long) rank * count : 0);
        }
        return wrong;
    }
}
