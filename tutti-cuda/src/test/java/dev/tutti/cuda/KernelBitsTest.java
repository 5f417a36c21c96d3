package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.reduce.Fold;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The device's reductions against the host's, bit by bit, special numbers included. */
@Timeout(400)
class KernelBitsTest {
    private static final int[] COUNTS = {1, 3, 17, 1000, 4099};

    @Test
    void shouldGiveTheHostsBitsForEveryTypeAndOperator() throws Exception {
        CudaDevice device = Gpu.device();
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        try (ExecutorService pool =
                Executors.newFixedThreadPool(Math.min(16, Runtime.getRuntime().availableProcessors()))) {
            List<Future<Integer>> futures = new ArrayList<>();
            for (DataType type : DataType.values()) {
                for (Fold fold : Fold.values()) {
                    if (fold.accepts(type)) {
                        long own = seed + 100L * type.number() + fold.ordinal();
                        futures.add(pool.submit(() -> compare(device, type, fold, own)));
                    }
                }
            }
            int cells = 0;
            for (Future<Integer> future : futures) {
                cells += future.get();
            }
            System.out.println(futures.size() + " types x operators, " + cells + " comparisons, all bits equal");
        }
    }

    private static int compare(CudaDevice device, DataType type, Fold fold, long seed) {
        Random random = new Random(seed);
        int cells = 0;
        int[] sizes = fold == Fold.SUM ? new int[] {1, 2, 3, 4, 8, 9} : new int[] {3, 4};
        for (int ranks : sizes) {
            for (int count : COUNTS) {
                for (int shift : new int[] {0, 1}) {
                    compare(device, type, fold, ranks, count, shift, random);
                    cells++;
                }
            }
        }
        return cells;
    }

    private static void compare(
            CudaDevice device, DataType type, Fold fold, int ranks, int count, int shift, Random random) {
        try (Arena arena = Arena.ofConfined();
                CudaWorld world = CudaWorld.open(device, ranks);
                CudaStream stream = device.stream()) {
            HostFold host = new HostFold(type, fold, ranks, count, arena, random);
            List<CudaBuffer> all = new ArrayList<>();
            CudaGroup group = world.group();
            for (int rank = 0; rank < ranks; rank++) {
                // Shifted on one rank only: addresses that lie differently must work as well.
                int offset = rank == ranks - 1 ? shift : 0;
                CudaBuffer in = device.allocate(type, count + shift);
                CudaBuffer out = device.allocate(type, count + shift + 1);
                out.fill(0xA5, stream);
                in.slice(offset, count).copyFrom(host.source(rank), stream);
                all.add(in);
                all.add(out);
                world.communicator(rank).useStream(stream);
                group.add(
                        world.communicator(rank),
                        CudaCall.allReduce(in.slice(offset, count), out.slice(0, count), host.operator(rank)));
            }
            group.run().await();
            byte[] got = new byte[count * type.bytes()];
            byte[] behind = new byte[type.bytes()];
            for (int rank = 0; rank < ranks; rank++) {
                CudaBuffer out = all.get(2 * rank + 1);
                out.slice(0, count).copyTo(java.lang.foreign.MemorySegment.ofArray(got), stream);
                assertThat(host.firstDifference(got))
                        .as("%s %s of %d ranks, %d elements, shift %d, rank %d", fold, type, ranks, count, shift, rank)
                        .isEqualTo("");
                out.slice(count, 1).copyTo(java.lang.foreign.MemorySegment.ofArray(behind), stream);
                assertThat(behind).containsOnly((byte) 0xA5);
            }
            group.close();
            all.forEach(CudaBuffer::close);
        }
    }

    static ReduceOp operator(Fold fold) {
        return switch (fold) {
            case SUM -> ReduceOp.SUM;
            case PROD -> ReduceOp.PROD;
            case MIN -> ReduceOp.MIN;
            case MAX -> ReduceOp.MAX;
            case AND -> ReduceOp.AND;
            case OR -> ReduceOp.OR;
            case XOR -> ReduceOp.XOR;
            case AVG -> ReduceOp.AVG;
            case MUL_SUM -> throw new IllegalArgumentException("a scalar is needed");
        };
    }
}
