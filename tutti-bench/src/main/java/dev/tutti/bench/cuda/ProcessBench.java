package dev.tutti.bench.cuda;

import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.Cuda;
import dev.tutti.cuda.CudaBuffer;
import dev.tutti.cuda.CudaCall;
import dev.tutti.cuda.CudaCommunicator;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.cuda.CudaGroup;
import dev.tutti.cuda.CudaPath;
import dev.tutti.cuda.CudaStream;
import dev.tutti.cuda.CudaWorld;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Collectives of ranks that are processes on one device, beside the fused launch of as many ranks in one process, in one run. To be
 * started as each of the ranks, with {@code TUTTI_RANK}, {@code TUTTI_SIZE} and {@code TUTTI_JOB}; rank 0 prints. With and without MPS: the
 * path that is found is printed.
 */
public final class ProcessBench {
    private static final int ROUNDS = 9;

    private final CudaDevice device;
    private final Communicator host;
    private final int ranks;
    private final long[] sizes;

    private ProcessBench(CudaDevice device, Communicator host, long[] sizes) {
        this.device = device;
        this.host = host;
        this.ranks = host.size();
        this.sizes = sizes;
    }

    /**
     * Measures and prints.
     *
     * @param arguments sizes in bytes; 1 KB to 256 MB if none
     */
    public static void main(String[] arguments) {
        if (!Cuda.isAvailable()) {
            System.out.println("no GPU: " + Cuda.unavailabilityCause());
            return;
        }
        long[] sizes = arguments.length == 0
                ? new long[] {1 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20}
                : Arrays.stream(arguments).mapToLong(Long::parseLong).toArray();
        try (Communicator host = Communicator.fromEnvironment()) {
            new ProcessBench(Cuda.device(0), host, sizes).run();
        }
    }

    private void run() {
        long largest = Arrays.stream(sizes).max().orElse(0);
        try (CudaWorld world = CudaWorld.open(device, host);
                CudaBuffer in = world.communicator().allocate(DataType.FLOAT32, largest / 4);
                CudaBuffer out = world.communicator().allocate(DataType.FLOAT32, largest / 4)) {
            CudaCommunicator comm = world.communicator();
            in.fill(0, comm.stream());
            out.fill(0, comm.stream());
            comm.stream().synchronise();
            warm(world, in, out);
            print(
                    "%d processes, path %s (%s), µs: back to back / each synchronised%n",
                    ranks, world.path(), world.pathReason());
            parts(world);
            print("| collective | bytes | processes | fused, one process | ratio |%n|---|---:|---:|---:|---:|%n");
            for (CudaBench.Kind kind : CudaBench.Kind.values()) {
                for (long size : sizes) {
                    row(world, kind, size, in, out);
                }
            }
        }
    }

    /** The first rows must not pay for compiling Java and kernels. */
    private void warm(CudaWorld world, CudaBuffer in, CudaBuffer out) {
        int calls = world.path() == CudaPath.DEVICE ? 20_000 : 50;
        for (CudaBench.Kind kind : CudaBench.Kind.values()) {
            CudaGroup group = world.group();
            group.add(world.communicator(), kind.call(in.as(kind.type), out.as(kind.type), 1024, ranks));
            for (int i = 0; i < calls / CudaBench.Kind.values().length; i++) {
                group.enqueue();
            }
            world.communicator().stream().synchronise();
        }
    }

    /** What a call is made of: telling each other on the host, and meeting on the device. */
    private void parts(CudaWorld world) {
        int calls = world.path() == CudaPath.DEVICE ? 2000 : 20;
        long[] mine = new long[34];
        long[] all = new long[34 * ranks];
        CudaGroup barrier = world.group();
        barrier.add(world.communicator(), CudaCall.barrier());
        double[] times = new double[3];
        for (int round = 0; round < 2; round++) {
            times[0] = time(() -> host.allGather(mine, all), world.communicator().stream(), calls, false);
            times[1] = time(barrier::enqueue, world.communicator().stream(), calls, false);
            times[2] = time(barrier::enqueue, world.communicator().stream(), calls, true);
        }
        print("exchange on the host %.1f, barrier %.1f / %.1f%n", times[0], times[1], times[2]);
    }

    private void row(CudaWorld world, CudaBench.Kind kind, long size, CudaBuffer in, CudaBuffer out) {
        CudaCommunicator comm = world.communicator();
        boolean slow = world.path() != CudaPath.DEVICE;
        int iterations = slow ? 5 : size >= 64 << 20 ? 50 : size >= 4 << 20 ? 200 : 500;
        double[] together = new double[ROUNDS];
        double[] apart = new double[ROUNDS];
        try (CudaGroup group = world.group();
                Fused fused = host.rank() == 0 ? new Fused(kind, size) : null) {
            group.add(comm, kind.call(in.as(kind.type), out.as(kind.type), size, ranks));
            double[] fusedTogether = new double[ROUNDS];
            double[] fusedApart = new double[ROUNDS];
            for (int round = -1; round < ROUNDS; round++) {
                int slot = Math.max(0, round);
                together[slot] = time(group::enqueue, comm.stream(), iterations, false);
                apart[slot] = time(group::enqueue, comm.stream(), iterations, true);
                host.barrier();
                if (fused != null) {
                    fusedTogether[slot] = Fused.time(fused.group, fused.stream, iterations, false);
                    fusedApart[slot] = Fused.time(fused.group, fused.stream, iterations, true);
                }
                host.barrier();
            }
            double[] slowest = {CudaBench.median(together), CudaBench.median(apart)};
            host.allReduce(slowest, ReduceOp.MAX);
            double fusedB = CudaBench.median(fusedTogether);
            double fusedS = CudaBench.median(fusedApart);
            print(
                    "| %s | %s | %.1f / %.1f | %.1f / %.1f | %.2f / %.2f |%n",
                    kind.label,
                    CudaBench.text(size),
                    slowest[0],
                    slowest[1],
                    fusedB,
                    fusedS,
                    slowest[0] / fusedB,
                    slowest[1] / fusedS);
        }
    }

    private double time(Runnable body, CudaStream stream, int iterations, boolean synchronised) {
        stream.synchronise();
        host.barrier();
        return CudaBench.time(body, stream, iterations, synchronised);
    }

    /** The same in one process. */
    private final class Fused implements AutoCloseable {
        private final CudaStream stream = device.stream();
        private final CudaWorld world = CudaWorld.open(device, ranks);
        private final CudaGroup group = world.group();
        private final List<CudaBuffer> buffers = new ArrayList<>();

        Fused(CudaBench.Kind kind, long size) {
            for (int rank = 0; rank < ranks; rank++) {
                CudaBuffer in = device.allocate(kind.type, size / kind.type.bytes());
                CudaBuffer out = device.allocate(kind.type, size / kind.type.bytes());
                in.fill(0, stream);
                out.fill(0, stream);
                buffers.add(in);
                buffers.add(out);
                group.add(world.communicator(rank).useStream(stream), kind.call(in, out, size, ranks));
            }
        }

        static double time(CudaGroup group, CudaStream stream, int iterations, boolean synchronised) {
            return CudaBench.time(group::enqueue, stream, iterations, synchronised);
        }

        @Override
        public void close() {
            stream.synchronise();
            group.close();
            buffers.forEach(CudaBuffer::close);
            world.close();
            stream.close();
        }
    }

    private void print(String format, Object... values) {
        if (host.rank() == 0) {
            System.out.printf(Locale.ROOT, format, values);
        }
    }
}
