package dev.tutti.cuda;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.PeerFailedException;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.posix.Pidfd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One rank of a world of processes on one device, started by {@link ProcessesTest} or by hand with {@code TUTTI_RANK},
 * {@code TUTTI_SIZE} and {@code TUTTI_JOB}: {@code ProcessRank all|brief|late|stuck|kill|leak|graph|mismatch|cross|again}.
 */
public final class ProcessRank {
    private static final int[] COUNTS = {0, 1, 5, 1024, 33_333};

    private ProcessRank() {}

    public static void main(String[] arguments) throws Exception {
        String cause = Cuda.unavailabilityCause();
        if (cause != null) {
            System.out.println("skipped, no GPU: " + cause);
            return;
        }
        CudaDevice device = Cuda.device(0);
        try (Communicator host = Communicator.fromEnvironment()) {
            for (String mode : arguments) {
                long start = System.nanoTime();
                run(mode, device, host);
                System.out.printf(
                        "PASS %s: rank %d of %d, %.1f s%n",
                        mode, host.rank(), host.size(), (System.nanoTime() - start) / 1e9);
            }
        } catch (Throwable thrown) {
            System.out.println("FAIL " + List.of(arguments) + ": " + thrown);
            thrown.printStackTrace(System.out);
            System.exit(1);
        }
        System.exit(0);
    }

    private static void run(String mode, CudaDevice device, Communicator host) throws Exception {
        switch (mode) {
            case "all" -> all(device, host);
            case "late" -> late(device, host);
            case "stuck" -> stuck(device, host);
            case "kill" -> kill(device, host);
            case "leak" -> leak(device, host);
            case "graph" -> graph(device, host);
            case "mismatch" -> mismatch(device, host);
            case "cross" -> cross(device, host);
            case "again" -> again(device, host);
            case "brief" -> brief(device, host);
            default -> throw new IllegalArgumentException("no mode " + mode);
        }
    }

    private static CudaWorld open(CudaDevice device, Communicator host) {
        return CudaWorld.open(device, host, Duration.ofSeconds(20), null);
    }

    /** The path that is best. */
    static void all(CudaDevice device, Communicator host) {
        all(device, host, null);
    }

    /** Every collective, on memory of every kind, plain, prepared, in groups and with delays on the device. */
    static void all(CudaDevice device, Communicator host, @Nullable CudaPath path) {
        try (CudaWorld world = CudaWorld.open(device, host, Duration.ofSeconds(20), path)) {
            CudaCommunicator comm = world.communicator();
            Map<String, Cases.Allocator> allocators = Map.of(
                    "communicator",
                    comm::allocate,
                    "device",
                    device::allocate,
                    "pool",
                    (type, count) -> ready(comm, CudaBuffer.allocateAsync(comm.stream(), type, count)),
                    "pinned",
                    (type, count) -> CudaBuffer.allocatePinned(device, type, count));
            long checked = 0;
            for (String kind : List.of("communicator", "device", "pool", "pinned")) {
                for (int count : COUNTS) {
                    comm.stream().synchronise();
                    try (Cases cases = new Cases(
                            device,
                            java.util.Objects.requireNonNull(allocators.get(kind)),
                            comm.size(),
                            count,
                            42 + count)) {
                        for (Cases.Case each : cases.all()) {
                            comm.start(each.call(comm.rank())).await();
                            each.check(kind + ", " + count, comm.rank());
                            checked++;
                        }
                    }
                }
            }
            messages(comm, 1000);
            apart(comm);
            repeated(comm, 0);
            Distant distant = java.util.Objects.requireNonNull(world.distant());
            for (int seed = 1; seed <= 5; seed++) {
                distant.delay(seed);
                repeated(comm, seed);
                try (Cases cases = new Cases(device, comm::allocate, comm.size(), 3000, seed)) {
                    for (Cases.Case each : cases.all()) {
                        comm.start(each.call(comm.rank())).await();
                        each.check("delays " + seed, comm.rank());
                        checked++;
                    }
                }
                messages(comm, seed);
            }
            distant.delay(0);
            scaled(comm);
            System.out.println(
                    "rank " + comm.rank() + ": path " + world.path() + ", " + checked + " collectives right");
        }
    }

    private static CudaBuffer ready(CudaCommunicator comm, CudaBuffer buffer) {
        comm.stream().synchronise();
        return buffer;
    }

    /** The same call again and again with data that changes, nothing waited for in between. */
    private static void repeated(CudaCommunicator comm, int seed) {
        int length = 5000;
        int rounds = 20;
        try (CudaBuffer x = comm.allocate(DataType.INT32, length);
                CudaBuffer sums = comm.allocate(DataType.INT32, (long) rounds * length)) {
            int[] start = new int[length];
            java.util.Arrays.setAll(start, i -> i + comm.rank());
            x.copyFrom(start, comm.stream());
            CudaPrepared step = comm.prepare(CudaCall.allReduce(x, x, ReduceOp.SUM));
            for (int round = 0; round < rounds; round++) {
                step.start();
                sums.slice((long) round * length, length).copyFrom(x, comm.stream());
            }
            int[] got = new int[rounds * length];
            sums.copyTo(got, comm.stream());
            int size = comm.size();
            for (int i = 0; i < length; i++) {
                int expected = size * i + size * (size - 1) / 2;
                for (int round = 0; round < rounds; round++) {
                    if (got[round * length + i] != expected) {
                        throw new AssertionError("seed " + seed + ", round " + round + ", element " + i + ": "
                                + got[round * length + i] + ", wanted " + expected);
                    }
                    expected *= size;
                }
            }
        }
    }

    /** Around a ring, one by one and in groups; to every other rank at once; to itself. */
    private static void messages(CudaCommunicator comm, int seed) {
        int rank = comm.rank();
        int size = comm.size();
        int length = 10_000 + seed;
        try (CudaBuffer mine = comm.allocate(DataType.INT32, length);
                CudaBuffer all = comm.allocate(DataType.INT32, (long) length * size)) {
            mine.copyFrom(new Random(seed + rank).ints(length).toArray(), comm.stream());
            try (CudaGroup group = comm.world().group()) {
                for (int other = 0; other < size; other++) {
                    group.add(comm, CudaCall.send(mine, other));
                    group.add(comm, CudaCall.receive(all.slice((long) other * length, length), other));
                }
            }
            check(all, comm, size, length, seed, 0);
            if (size > 1) {
                all.fill(0, comm.stream());
                int next = (rank + 1) % size;
                int before = (rank + size - 1) % size;
                CudaBuffer slot = all.slice((long) before * length, length);
                if (rank == 0) {
                    comm.send(mine, next).await();
                    comm.receive(slot, before).await();
                } else {
                    comm.receive(slot, before).await();
                    comm.send(mine, next).await();
                }
                check(slot, comm, 1, length, seed, before);
            }
        }
    }

    /** What one end makes together the other makes one by one. */
    private static void apart(CudaCommunicator comm) {
        int length = 3000;
        try (CudaBuffer x = comm.allocate(DataType.INT32, 3 * length)) {
            if (comm.rank() == 0 && comm.size() > 1) {
                x.copyFrom(new Random(1).ints(3 * length).toArray(), comm.stream());
                try (CudaGroup group = comm.world().group()) {
                    for (int i = 0; i < 3; i++) {
                        group.add(comm, CudaCall.send(x.slice((long) i * length, length), 1));
                    }
                }
            } else if (comm.rank() == 1) {
                for (int i = 0; i < 3; i++) {
                    comm.receive(x.slice((long) i * length, length), 0).await();
                }
                check(x, comm, 1, 3 * length, 1, 0);
            }
        }
    }

    private static void check(CudaBuffer all, CudaCommunicator comm, int blocks, int length, int seed, int first) {
        int[] got = new int[blocks * length];
        all.copyTo(got, comm.stream());
        for (int block = 0; block < blocks; block++) {
            int[] wanted = new Random(seed + first + block).ints(length).toArray();
            int at = java.util.Arrays.mismatch(
                    java.util.Arrays.copyOfRange(got, block * length, (block + 1) * length), wanted);
            if (at >= 0) {
                throw new AssertionError("message of rank " + (first + block) + ", element " + at);
            }
        }
    }

    /** Every rank has another scalar. */
    private static void scaled(CudaCommunicator comm) {
        try (CudaBuffer x = comm.allocate(DataType.FLOAT32, 1000)) {
            float[] data = new float[1000];
            java.util.Arrays.fill(data, 2);
            x.copyFrom(data, comm.stream());
            comm.allReduce(x, ReduceOp.preMulSum(comm.rank() + 1)).await();
            x.copyTo(data, comm.stream());
            float expected = comm.size() * (comm.size() + 1);
            if (data[0] != expected || data[999] != expected) {
                throw new AssertionError("preMulSum: " + data[0] + ", wanted " + expected);
            }
        }
    }

    /** The last rank never calls. */
    private static void late(CudaDevice device, Communicator host) {
        try (CudaWorld world = CudaWorld.open(device, host, Duration.ofSeconds(1), null)) {
            CudaCommunicator comm = world.communicator();
            try (CudaBuffer x = comm.allocate(DataType.FLOAT32, 1000)) {
                comm.allReduce(x, ReduceOp.SUM).await();
                if (comm.rank() != comm.size() - 1) {
                    expect(
                            CollectiveTimeoutException.class,
                            () -> comm.allReduce(x, ReduceOp.SUM).await());
                }
                host.barrier();
            }
        }
        works(device);
    }

    /** The last rank calls, but something before it in its stream takes too long. */
    private static void stuck(CudaDevice device, Communicator host) {
        try (CudaWorld world = CudaWorld.open(device, host, Duration.ofSeconds(1), null)) {
            CudaCommunicator comm = world.communicator();
            try (CudaBuffer x = comm.allocate(DataType.FLOAT32, 1000)) {
                comm.allReduce(x, ReduceOp.SUM).await();
                host.barrier();
                boolean last = comm.rank() == comm.size() - 1;
                if (last) {
                    occupy(comm, 4);
                }
                expect(
                        last ? TuttiException.class : CollectiveTimeoutException.class,
                        () -> comm.allReduce(x, ReduceOp.SUM).await());
                comm.stream().synchronise();
            }
        }
        host.barrier();
        works(device);
        // And so does a new world.
        try (CudaWorld world = open(device, host)) {
            repeated(world.communicator(), 0);
        }
    }

    /** The last rank is killed while the others' kernels wait for it. */
    private static void kill(CudaDevice device, Communicator host) {
        CudaWorld world = CudaWorld.open(device, host, Duration.ofSeconds(20), null);
        CudaCommunicator comm = world.communicator();
        CudaBuffer x = comm.allocate(DataType.FLOAT32, 1000);
        comm.allReduce(x, ReduceOp.SUM).await();
        host.barrier();
        if (comm.rank() == comm.size() - 1) {
            if (world.path() == CudaPath.DEVICE) {
                occupy(comm, 7);
                comm.allReduce(x, ReduceOp.SUM);
            }
            System.out.println("PASS kill: rank " + comm.rank() + " ends itself");
            System.out.flush();
            Pidfd.kill(ProcessHandle.current().pid(), 9);
        }
        long start = System.nanoTime();
        expect(PeerFailedException.class, () -> comm.allReduce(x, ReduceOp.SUM).await());
        System.out.printf("seen after %.3f s%n", (System.nanoTime() - start) / 1e9);
        x.close();
        world.close();
        works(device);
    }

    private static void occupy(CudaCommunicator comm, int seconds) {
        // Few and long: a stream takes about a thousand before it makes the host wait.
        CudaBuffer big = comm.world().device().allocate(DataType.UINT8, 32L << 30);
        for (int i = 0; i < seconds * 120; i++) {
            big.fill(i, comm.stream());
        }
    }

    private static void mismatch(CudaDevice device, Communicator host) {
        try (CudaWorld world = open(device, host)) {
            CudaCommunicator comm = world.communicator();
            try (CudaBuffer x = comm.allocate(DataType.FLOAT32, 1000)) {
                expect(
                        MismatchException.class,
                        () -> comm.allReduce(x.slice(0, 100 + comm.rank()), ReduceOp.SUM)
                                .await());
            }
        }
        works(device);
    }

    /** Ranks run different prepared calls: nobody tells on the host any more, the device finds it. */
    private static void cross(CudaDevice device, Communicator host) {
        try (CudaWorld world = open(device, host)) {
            CudaCommunicator comm = world.communicator();
            if (world.path() != CudaPath.DEVICE) {
                System.out.println("skipped: path " + world.path() + " tells with every call");
                return;
            }
            try (CudaBuffer x = comm.allocate(DataType.FLOAT32, 1000)) {
                List<CudaPrepared> calls = List.of(
                        comm.prepare(CudaCall.allReduce(x, x, ReduceOp.SUM)),
                        comm.prepare(CudaCall.allReduce(x.slice(0, 100), x.slice(0, 100), ReduceOp.SUM)));
                for (int i = 0; i < 10; i++) {
                    calls.forEach(CudaPrepared::run);
                }
                expect(TuttiException.class, () -> calls.get(comm.rank() % 2).run());
            }
        }
        works(device);
    }

    /** Some run a prepared call again, the others make the same call anew: those wait on the host, these on the device. */
    private static void again(CudaDevice device, Communicator host) {
        for (boolean ahead : new boolean[] {false, true}) {
            try (CudaWorld world = open(device, host)) {
                CudaCommunicator comm = world.communicator();
                if (world.path() != CudaPath.DEVICE) {
                    System.out.println("skipped: path " + world.path() + " tells with every call");
                    return;
                }
                try (CudaBuffer x = comm.allocate(DataType.FLOAT32, 1000)) {
                    CudaCall call = CudaCall.allReduce(x, x, ReduceOp.SUM);
                    CudaPrepared prepared = comm.prepare(call);
                    for (int i = 0; i < 10; i++) {
                        prepared.run();
                    }
                    if (comm.rank() % 2 == 0) {
                        expect(MismatchException.class, () -> {
                            for (int i = 0; ahead && i < 20; i++) {
                                prepared.start();
                            }
                            prepared.run();
                        });
                    } else {
                        expect(MismatchException.class, () -> comm.start(call).await());
                    }
                }
            }
        }
        works(device);
    }

    /** Every kernel once, for tools that make everything slow. */
    private static void brief(CudaDevice device, Communicator host) {
        try (CudaWorld world = open(device, host);
                Cases cases = new Cases(device, world.communicator()::allocate, host.size(), 1003, 5)) {
            CudaCommunicator comm = world.communicator();
            for (Cases.Case each : cases.all()) {
                comm.start(each.call(comm.rank())).await();
                each.check("brief", comm.rank());
            }
            messages(comm, 3);
        }
    }

    private static void leak(CudaDevice device, Communicator host) throws IOException {
        for (int warm = 0; warm < 20; warm++) {
            openAndClose(device, host);
        }
        host.barrier();
        device.synchronise();
        long free = device.freeBytes();
        long descriptors = descriptors();
        int times = Integer.getInteger("tutti.cuda.leak", 1000);
        for (int i = 0; i < times; i++) {
            openAndClose(device, host);
        }
        host.barrier();
        device.synchronise();
        long lost = free - device.freeBytes();
        long opened = descriptors() - descriptors;
        System.out.println("rank " + host.rank() + ": over " + times + " worlds of processes: device memory lost "
                + lost + " bytes, descriptors " + opened);
        if (lost > 32L << 20 || opened > 5) {
            throw new AssertionError("leaked");
        }
    }

    private static void openAndClose(CudaDevice device, Communicator host) {
        try (CudaWorld world = open(device, host)) {
            CudaCommunicator comm = world.communicator();
            try (CudaBuffer a = comm.allocate(DataType.FLOAT32, 1000);
                    CudaBuffer b = device.allocate(DataType.FLOAT32, 1000)) {
                comm.allReduce(a, ReduceOp.SUM).await();
                comm.allReduce(a, b, ReduceOp.SUM).await();
            }
            // The others are told that both have gone.
            comm.barrier().await();
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    /** Captured once, replayed with data that changes. */
    private static void graph(CudaDevice device, Communicator host) {
        try (CudaWorld world = open(device, host)) {
            CudaCommunicator comm = world.communicator();
            if (world.path() != CudaPath.DEVICE) {
                System.out.println("skipped: path " + world.path() + " has no graphs");
                return;
            }
            try (CudaBuffer x = comm.allocate(DataType.INT32, 1000);
                    CudaBuffer y = comm.allocate(DataType.INT32, 1000);
                    CudaGroup group = world.group()) {
                group.add(comm, CudaCall.allReduce(x, y, ReduceOp.SUM));
                group.add(comm, CudaCall.broadcast(y, 0));
                group.run().await();
                host.barrier();
                try (CudaGraph graph = CudaGraph.capture(List.of(comm.stream()), group::run)) {
                    for (int round = 1; round <= 20; round++) {
                        int[] data = new int[1000];
                        java.util.Arrays.fill(data, comm.rank() + round);
                        x.copyFrom(data, comm.stream());
                        graph.launch(comm.stream());
                        y.copyTo(data, comm.stream());
                        int size = comm.size();
                        int wanted = size * round + size * (size - 1) / 2;
                        if (data[0] != wanted || data[999] != wanted) {
                            throw new AssertionError("round " + round + ": " + data[0] + ", wanted " + wanted);
                        }
                    }
                }
            }
        }
    }

    private static void works(CudaDevice device) {
        try (CudaBuffer x = device.allocate(DataType.INT32, 10)) {
            x.copyFrom(new int[10]);
        }
    }

    private static void expect(Class<? extends Throwable> kind, Runnable body) {
        try {
            body.run();
        } catch (RuntimeException thrown) {
            if (kind.isInstance(thrown)) {
                System.out.println("as it should be: " + thrown);
                return;
            }
            throw new AssertionError("wanted " + kind.getSimpleName() + ", got " + thrown, thrown);
        }
        throw new AssertionError("wanted " + kind.getSimpleName());
    }
}
