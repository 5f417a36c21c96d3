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
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
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
                SymbolLookup library = HostCompiler.host(
                        folder,
                        "plan.cu",
                        "extern \"C\" void play_plan(const void* args, int x, int y, int z, int threads) {"
                                + " play_blocks(plan_run, *(const Args*)args, x); }\n",
                        List.of("TYPE=" + type.number()),
                        arena);
                MethodHandle player = HostCompiler.player(library, "play_plan");
                for (Collective collective : Collective.values()) {
                    for (Algorithm algorithm : Algorithms.of(collective)) {
                        for (int ranks : new int[] {1, 2, 3, 4, 8}) {
                            int lanes = 1 + random.nextInt(3);
                            int root = collective.isRooted() ? random.nextInt(ranks) : 0;
                            Plan plan = algorithm.plan(ranks, root, lanes);
                            int count = List.of(1, 7, 129, 1000, 4099).get(random.nextInt(5));
                            play(plan, type, operator(plan, type, random), count, random.nextLong(), player);
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
            Plan plan, DataType type, ReduceOp.@Nullable Kind kind, int count, long seed, MethodHandle player) {
        try (Arena arena = Arena.ofConfined()) {
            PlanLayout layout = new PlanLayout(plan, new PlanLayout.Memory() {
                @Override
                public long allocate(long bytes) {
                    return arena.allocate(Math.max(1, bytes), 256).address();
                }

                @Override
                public void write(long address, MemorySegment data) {
                    MemorySegment.ofAddress(address)
                            .reinterpret(data.byteSize())
                            .copyFrom(data);
                }
            });
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
            layout.prepare(block, type, kind == null ? null : ExactData.operator(kind, 0));
            MemorySegment control = arena.allocate(64 + 8L * layout.lanes(), 64);
            for (int launch = 0; launch < LAUNCHES; launch++) {
                long[] inputs = new long[ranks];
                long[] outputs = new long[ranks];
                MemorySegment[] results = new MemorySegment[ranks];
                for (int rank = 0; rank < ranks; rank++) {
                    MemorySegment input = arena.allocate(Math.max(1, in), 64);
                    results[rank] = arena.allocate(Math.max(1, out), 64).fill(POISON);
                    data.input(rank, seed + launch).fill(input.asSlice(0, in), 0);
                    inputs[rank] = input.address();
                    outputs[rank] = results[rank].address();
                }
                MemorySegment room = arena.allocate(Math.max(8, layout.imageBytes()), 64);
                PlanLayout.Turn turn = layout.next();
                room.copyFrom(layout.image(turn.half(), room.address(), inputs, outputs, scalars)
                        .asSlice(0, room.byteSize()));
                MemorySegment args = arena.allocate(32, 16);
                args.set(ValueLayout.JAVA_LONG, 0, room.address());
                args.set(ValueLayout.JAVA_LONG, 8, control.address());
                args.set(ValueLayout.JAVA_LONG, 16, control.address() + 64);
                args.set(ValueLayout.JAVA_INT, 24, turn.flag());
                HostCompiler.call(player, args, layout.lanes(), 1, 1, 1);
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
