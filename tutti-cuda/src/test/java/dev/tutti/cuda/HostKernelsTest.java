package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import dev.tutti.cuda.kernel.HostCompiler;
import dev.tutti.cuda.kernel.KernelSet;
import dev.tutti.reduce.Fold;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The kernel sources, compiled for the host, against the host's kernels: arithmetic, heads, tails and addresses. */
@Timeout(300)
class HostKernelsTest {
    private static final int VARIANTS = 24;

    @Test
    void shouldGiveTheHostsBits(@TempDir Path folder) throws Exception {
        HostCompiler.require("g++");
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        List<int[]> cells = new ArrayList<>();
        for (DataType type : DataType.values()) {
            for (Fold fold : Fold.values()) {
                if (fold.accepts(type)) {
                    cells.add(new int[] {type.ordinal(), fold.ordinal()});
                }
            }
        }
        java.util.Collections.shuffle(cells, random);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int[] cell : cells.subList(0, Integer.getInteger("tutti.cuda.variants", VARIANTS))) {
            DataType type = DataType.values()[cell[0]];
            Fold fold = Fold.values()[cell[1]];
            int ranks = new int[] {2, 3, 4, 8}[random.nextInt(4)];
            Path own = Files.createDirectory(folder.resolve("" + tasks.size()));
            Random numbers = new Random(random.nextLong());
            tasks.add(() -> {
                compare(own, type, fold, ranks, numbers);
                return null;
            });
        }
        HostCompiler.all(tasks);
    }

    private static void compare(Path folder, DataType type, Fold fold, int ranks, Random random) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup library = HostCompiler.host(
                    folder,
                    "fused.cu",
                    HostCompiler.playing("fused_reduce", "Args")
                            + HostCompiler.playing("fused_reduce_scatter", "Args")
                            + HostCompiler.playing("fused_scan", "Args"),
                    List.of("TYPE=" + type.number(), "FOLD=" + fold.ordinal(), "RANKS=" + KernelSet.special(ranks)),
                    arena);
            MethodHandle reduce = HostCompiler.player(library, "play_fused_reduce");
            MethodHandle scatter = HostCompiler.player(library, "play_fused_reduce_scatter");
            for (int count : new int[] {1, 7, 333, 1024}) {
                for (int shift : new int[] {0, 1, 3}) {
                    HostFold host = new HostFold(type, fold, ranks, count, arena, random);
                    MemorySegment args = arena.allocate(32 + 40L * Math.max(ranks, 96), 16);
                    MemorySegment[] outs = new MemorySegment[ranks];
                    args.set(ValueLayout.JAVA_LONG, 0, count);
                    args.set(ValueLayout.JAVA_LONG, 8, ranks);
                    args.set(ValueLayout.JAVA_INT, 16, ranks);
                    long bytes = (long) count * type.bytes();
                    for (int rank = 0; rank < ranks; rank++) {
                        long offset = rank == 1 ? (long) shift * type.bytes() : 0;
                        outs[rank] = arena.allocate(bytes + 64, 64).asSlice(offset, bytes);
                        long at = 32 + 40L * rank;
                        args.set(ValueLayout.JAVA_LONG, at, host.source(rank).address());
                        args.set(ValueLayout.JAVA_LONG, at + 8, outs[rank].address());
                        args.set(ValueLayout.JAVA_LONG, at + 16, scalar(type, host, rank));
                    }
                    HostCompiler.call(reduce, args, 3, 1, 1, 32);
                    for (MemorySegment out : outs) {
                        assertThat(host.firstDifference(out.toArray(ValueLayout.JAVA_BYTE)))
                                .as("%s %s of %d ranks, %d elements, shift %d", fold, type, ranks, count, shift)
                                .isEmpty();
                    }
                    checkScatter(scatter, host, args, type, ranks, count, arena);
                }
            }
        }
    }

    /** The same sources, cut into uneven blocks. */
    private static void checkScatter(
            MethodHandle scatter, HostFold host, MemorySegment args, DataType type, int ranks, int count, Arena arena) {
        MemorySegment all = arena.allocate((long) count * type.bytes(), 64);
        for (int rank = 0; rank < ranks; rank++) {
            long from = (long) count * rank / ranks;
            long to = (long) count * (rank + 1) / ranks;
            long at = 32 + 40L * rank;
            args.set(ValueLayout.JAVA_LONG, at + 8, all.address() + from * type.bytes());
            args.set(ValueLayout.JAVA_LONG, at + 24, from);
            args.set(ValueLayout.JAVA_LONG, at + 32, to - from);
        }
        HostCompiler.call(scatter, args, 2, ranks, 1, 32);
        assertThat(host.firstDifference(all.toArray(ValueLayout.JAVA_BYTE))).isEmpty();
    }

    private static long scalar(DataType type, HostFold host, int rank) {
        dev.tutti.ReduceOp op = host.operator(rank);
        return op.kind() == dev.tutti.ReduceOp.Kind.PRE_MUL_SUM ? FoldArgs.scalarBits(type, op.scalar()) : 0;
    }
}
