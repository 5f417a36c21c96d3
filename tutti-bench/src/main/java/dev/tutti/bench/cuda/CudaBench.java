package dev.tutti.bench.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.Cuda;
import dev.tutti.cuda.CudaBuffer;
import dev.tutti.cuda.CudaCall;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.cuda.CudaGroup;
import dev.tutti.cuda.CudaStream;
import dev.tutti.cuda.CudaWorld;
import dev.tutti.cuda.driver.Memories;
import dev.tutti.cuda.driver.Modules;
import dev.tutti.cuda.kernel.KernelSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Collectives of ranks that share a device, beside device copies of the same bytes and beside a launch that does nothing. All in
 * one run, alternating, medians.
 *
 * <p>A collective must read every input and write every output; the copies move as many bytes, in as many calls as there are
 * ranks. Bytes are counted as nccl-tests does.
 */
public final class CudaBench {
    private static final int ROUNDS = 5;
    private static final long[] SIZES = {1 << 10, 64 << 10, 256 << 10, 4 << 20, 16 << 20, 64 << 20, 256 << 20};

    private final CudaDevice device;
    private final CudaStream stream;
    private final long nothing;
    private final List<String> lines = new ArrayList<>();
    private boolean quiet;

    private CudaBench(CudaDevice device) {
        this.device = device;
        this.stream = device.stream();
        this.nothing = new KernelSet(
                        "sm_" + device.capabilities().computeCapability().replace(".", ""))
                .copies(KernelSet.places(0, 0), KernelSet.TOGETHER)
                .function("copy_nothing");
    }

    /** What is measured; bytes are those that are read and written in all. */
    enum Kind {
        ALL_REDUCE("allReduce float32", DataType.FLOAT32) {
            @Override
            double traffic(long size, int ranks) {
                return 2.0 * size * ranks;
            }
        },
        ALL_REDUCE_BF16("allReduce bfloat16", DataType.BFLOAT16) {
            @Override
            double traffic(long size, int ranks) {
                return 2.0 * size * ranks;
            }
        },
        ALL_GATHER("allGather", DataType.FLOAT32) {
            @Override
            double traffic(long size, int ranks) {
                return size + 1.0 * size * ranks;
            }
        },
        REDUCE_SCATTER("reduceScatter float32", DataType.FLOAT32) {
            @Override
            double traffic(long size, int ranks) {
                return size + 1.0 * size * ranks;
            }
        },
        BROADCAST("broadcast", DataType.FLOAT32) {
            @Override
            double traffic(long size, int ranks) {
                return 1.0 * size * ranks;
            }
        },
        ALL_TO_ALL("allToAll", DataType.FLOAT32) {
            @Override
            double traffic(long size, int ranks) {
                return 2.0 * size * ranks;
            }
        };

        final String label;
        final DataType type;

        Kind(String label, DataType type) {
            this.label = label;
            this.type = type;
        }

        abstract double traffic(long size, int ranks);

        CudaCall call(CudaBuffer in, CudaBuffer out, long size, int ranks) {
            long count = size / type.bytes();
            return switch (this) {
                case ALL_REDUCE, ALL_REDUCE_BF16 ->
                    CudaCall.allReduce(in.slice(0, count), out.slice(0, count), ReduceOp.SUM);
                case ALL_GATHER -> CudaCall.allGather(in.slice(0, count / ranks), out.slice(0, count));
                case REDUCE_SCATTER ->
                    CudaCall.reduceScatter(in.slice(0, count), out.slice(0, count / ranks), ReduceOp.SUM);
                case BROADCAST -> CudaCall.broadcast(out.slice(0, count), 0);
                case ALL_TO_ALL -> CudaCall.allToAll(in.slice(0, count), out.slice(0, count));
            };
        }
    }

    /**
     * Prints the tables.
     *
     * @param arguments numbers of ranks; 2 4 8 if none
     */
    public static void main(String[] arguments) {
        if (!Cuda.isAvailable()) {
            System.out.println("no GPU: " + Cuda.unavailabilityCause());
            return;
        }
        CudaBench bench = new CudaBench(Cuda.device(0));
        int[] ranks = arguments.length == 0
                ? new int[] {2, 4, 8}
                : Arrays.stream(arguments).mapToInt(Integer::parseInt).toArray();
        // Once without looking: the first rows must not pay for compiling Java and kernels.
        bench.quiet = true;
        bench.run(ranks[0]);
        bench.quiet = false;
        for (int each : ranks) {
            bench.run(each);
        }
        System.out.println("ranks,collective,bytes,fused,fused_sync,copy,copy_sync,empty,empty_sync");
        bench.lines.forEach(System.out::println);
    }

    private void run(int ranks) {
        long largest = SIZES[SIZES.length - 1];
        List<CudaBuffer> in = new ArrayList<>();
        List<CudaBuffer> out = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            in.add(device.allocate(DataType.FLOAT32, largest / 4));
            out.add(device.allocate(DataType.FLOAT32, largest / 4));
            in.getLast().fill(0, stream);
            out.getLast().fill(0, stream);
        }
        for (Kind kind : Kind.values()) {
            print("%n%s, %d ranks, µs: back to back / each synchronised%n", kind.label, ranks);
            print("|   bytes | fused | device copies | empty launch | fused : copies | fused : empty |%n");
            print("|--------:|------:|--------------:|-------------:|---------------:|--------------:|%n");
            for (long size : SIZES) {
                row(kind, ranks, size, in, out);
            }
        }
        in.forEach(CudaBuffer::close);
        out.forEach(CudaBuffer::close);
    }

    private void row(Kind kind, int ranks, long size, List<CudaBuffer> in, List<CudaBuffer> out) {
        try (CudaWorld world = CudaWorld.open(device, ranks);
                CudaGroup group = world.group()) {
            for (int rank = 0; rank < ranks; rank++) {
                CudaBuffer from = in.get(rank).as(kind.type);
                CudaBuffer to = out.get(rank).as(kind.type);
                group.add(world.communicator(rank).useStream(stream), kind.call(from, to, size, ranks));
            }
            long copied = Math.max(1, (long) (kind.traffic(size, ranks) / 2 / ranks));
            Runnable copies = () -> {
                for (int rank = 0; rank < ranks; rank++) {
                    Memories.deviceToDeviceAsync(
                            out.get(rank).pointer(), in.get(rank).pointer(), copied, stream.handle());
                }
            };
            Runnable empty = () -> Modules.launch(nothing, 1, 1, 1, 32, 1, 1, 0, stream.handle(), 0, 0);
            Runnable[] contestants = {group::enqueue, copies, empty};
            int iterations = size >= 16 << 20 ? 20 : size >= 4 << 20 ? 50 : 200;
            double[][] apart = new double[contestants.length][ROUNDS];
            double[][] joined = new double[contestants.length][ROUNDS];
            for (Runnable each : contestants) {
                time(each, iterations, true);
                time(each, iterations, false);
            }
            for (int round = 0; round < ROUNDS; round++) {
                for (int who = 0; who < contestants.length; who++) {
                    joined[who][round] = time(contestants[who], iterations, false);
                    apart[who][round] = time(contestants[who], iterations, true);
                }
            }
            double[] together =
                    Arrays.stream(joined).mapToDouble(CudaBench::median).toArray();
            double[] single =
                    Arrays.stream(apart).mapToDouble(CudaBench::median).toArray();
            print(
                    "| %7s | %.1f / %.1f | %.1f / %.1f | %.1f / %.1f | %.2f / %.2f | %.2f / %.2f |%n",
                    text(size),
                    together[0],
                    single[0],
                    together[1],
                    single[1],
                    together[2],
                    single[2],
                    together[0] / together[1],
                    single[0] / single[1],
                    together[0] / together[2],
                    single[0] / single[2]);
            if (quiet) {
                return;
            }
            lines.add(String.format(
                    Locale.ROOT,
                    "%d,%s,%d,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f",
                    ranks,
                    kind.label,
                    size,
                    together[0],
                    single[0],
                    together[1],
                    single[1],
                    together[2],
                    single[2]));
        }
    }

    /** Microseconds of one. */
    private double time(Runnable body, int iterations, boolean synchronised) {
        return time(body, stream, iterations, synchronised);
    }

    static double time(Runnable body, CudaStream stream, int iterations, boolean synchronised) {
        stream.synchronise();
        long start = System.nanoTime();
        for (int i = 0; i < iterations; i++) {
            body.run();
            if (synchronised) {
                stream.synchronise();
            }
        }
        stream.synchronise();
        return (System.nanoTime() - start) / 1e3 / iterations;
    }

    private void print(String format, Object... values) {
        if (!quiet) {
            System.out.printf(Locale.ROOT, format, values);
        }
    }

    static double median(double[] times) {
        double[] sorted = times.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    static String text(long bytes) {
        return bytes >= 1 << 20 ? (bytes >> 20) + " MB" : (bytes >> 10) + " KB";
    }
}
