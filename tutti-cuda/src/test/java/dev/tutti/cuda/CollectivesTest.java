package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every collective of ranks on one device: ranks as threads with streams of their own, and as a group of one thread. */
@Timeout(300)
class CollectivesTest {
    private static final int[] COUNTS = {0, 1, 5, 1024, 33_333};

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 8, 13})
    void shouldGiveEachRankItsResultFromThreads(int ranks) throws Exception {
        CudaDevice device = Gpu.device();
        for (int count : COUNTS) {
            try (CudaWorld world = CudaWorld.open(device, ranks, Duration.ofSeconds(60))) {
                Cases cases = new Cases(device, ranks, count, 42 + count);
                Ranks.run(world, comm -> {
                    for (Cases.Case each : cases.all()) {
                        comm.start(each.call(comm.rank())).await();
                    }
                });
                cases.check("threads, " + ranks + " ranks, " + count);
                cases.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 8, 13})
    void shouldGiveEachRankItsResultFromAGroup(int ranks) {
        CudaDevice device = Gpu.device();
        for (boolean oneStream : new boolean[] {true, false}) {
            for (int count : COUNTS) {
                try (CudaWorld world = CudaWorld.open(device, ranks);
                        CudaStream stream = device.stream()) {
                    Cases cases = new Cases(device, ranks, count, 7 + count);
                    for (Cases.Case each : cases.all()) {
                        try (CudaGroup group = world.group()) {
                            for (int rank = 0; rank < ranks; rank++) {
                                CudaCommunicator comm = world.communicator(rank);
                                if (oneStream) {
                                    comm.useStream(stream);
                                }
                                group.add(comm, each.call(rank));
                            }
                        }
                    }
                    cases.check("group, " + ranks + " ranks, " + count + ", one stream " + oneStream);
                    cases.close();
                }
            }
        }
    }

    @Test
    void shouldWorkWithMoreRanksThanALaunchHasRoomFor() {
        CudaDevice device = Gpu.device();
        int ranks = 100;
        try (CudaWorld world = CudaWorld.open(device, ranks)) {
            Cases cases = new Cases(device, ranks, 777, 3);
            for (Cases.Case each : cases.all()) {
                if (each.name().contains("in place") && each.name().contains("allToAll")) {
                    continue;
                }
                try (CudaGroup group = world.group()) {
                    for (int rank = 0; rank < ranks; rank++) {
                        group.add(world.communicator(rank), each.call(rank));
                    }
                }
                each.check("100 ranks");
            }
            cases.close();
        }
    }

    @Test
    void shouldReplayAGraphOnChangedData() {
        CudaDevice device = Gpu.device();
        int ranks = 4;
        int count = 10_000;
        try (CudaWorld world = CudaWorld.open(device, ranks)) {
            List<CudaBuffer> in = new ArrayList<>();
            List<CudaBuffer> out = new ArrayList<>();
            List<CudaStream> streams = new ArrayList<>();
            CudaGroup group = world.group();
            for (int rank = 0; rank < ranks; rank++) {
                in.add(device.allocate(DataType.INT32, count));
                out.add(device.allocate(DataType.INT32, count));
                streams.add(world.communicator(rank).stream());
                group.add(world.communicator(rank), CudaCall.allReduce(in.get(rank), out.get(rank), ReduceOp.SUM));
            }
            for (int rank = 0; rank < ranks; rank++) {
                group.add(world.communicator(rank), CudaCall.send(out.get(rank), (rank + 1) % ranks));
                group.add(world.communicator(rank), CudaCall.receive(in.get(rank), (rank + ranks - 1) % ranks));
            }
            // Code is loaded outside: a capture must not wait for the device.
            group.run().await();
            try (CudaGraph graph = CudaGraph.capture(streams, group::run)) {
                for (int turn = 1; turn <= 20; turn++) {
                    int expected = 0;
                    for (int rank = 0; rank < ranks; rank++) {
                        int[] data = new int[count];
                        java.util.Arrays.fill(data, turn * 100 + rank);
                        expected += turn * 100 + rank;
                        in.get(rank).copyFrom(data);
                    }
                    graph.launch(streams.getFirst());
                    streams.getFirst().synchronise();
                    for (int rank = 0; rank < ranks; rank++) {
                        int[] got = new int[count];
                        out.get(rank).copyTo(got);
                        assertThat(got).containsOnly(expected);
                        in.get(rank).copyTo(got);
                        assertThat(got).containsOnly(expected);
                    }
                }
            }
            in.forEach(CudaBuffer::close);
            out.forEach(CudaBuffer::close);
        }
    }

    @Test
    void shouldTellOfTheEndInEveryWay() throws Exception {
        CudaDevice device = Gpu.device();
        for (CudaWork.Notice notice : CudaWork.Notice.values()) {
            try (CudaWorld world = CudaWorld.open(device, 2);
                    CudaBuffer a = device.allocate(DataType.FLOAT32, 1 << 20);
                    CudaBuffer b = device.allocate(DataType.FLOAT32, 1 << 20)) {
                world.notice(notice);
                CudaGroup group = world.group();
                group.add(world.communicator(0), CudaCall.allReduce(a, a, ReduceOp.SUM));
                group.add(world.communicator(1), CudaCall.allReduce(b, b, ReduceOp.SUM));
                for (int i = 0; i < 200; i++) {
                    CudaWork work = group.run();
                    work.toCompletableFuture().get(30, java.util.concurrent.TimeUnit.SECONDS);
                    assertThat(work.isDone()).isTrue();
                    assertThat(work.error()).isNull();
                    work.await();
                }
            }
        }
    }

    @Test
    void shouldRunPreparedCallsAgainAndAgain() throws Exception {
        CudaDevice device = Gpu.device();
        int ranks = 4;
        try (CudaWorld world = CudaWorld.open(device, ranks)) {
            Ranks.run(world, comm -> {
                try (CudaBuffer x = device.allocate(DataType.INT64, 1000)) {
                    long[] data = new long[1000];
                    CudaPrepared step = comm.prepare(CudaCall.allReduce(x, x, ReduceOp.SUM));
                    for (int turn = 0; turn < 300; turn++) {
                        java.util.Arrays.fill(data, turn + comm.rank());
                        x.copyFrom(data, comm.stream());
                        step.run();
                        x.copyTo(data, comm.stream());
                        assertThat(data).containsOnly(turn * ranks + 6);
                    }
                }
            });
        }
    }

    @Test
    void shouldTakeAFunctionOfTheUsersWithDeviceSource() {
        CudaDevice device = Gpu.device();
        ReduceFunction function = new ReduceFunction("later", DataType.INT32, false, (a, b, n) -> {});
        try (CudaWorld world = CudaWorld.open(device, 3)) {
            world.define(function, "__device__ A user(A a, A x) { return a * 10 + x; }");
            List<CudaBuffer> buffers = new ArrayList<>();
            try (CudaGroup group = world.group()) {
                for (int rank = 0; rank < 3; rank++) {
                    CudaBuffer x = device.allocate(DataType.INT32, 100);
                    int[] data = new int[100];
                    java.util.Arrays.fill(data, rank + 1);
                    x.copyFrom(data);
                    buffers.add(x);
                    group.add(world.communicator(rank), CudaCall.allReduce(x, x, ReduceOp.of(function)));
                }
            }
            for (CudaBuffer each : buffers) {
                int[] got = new int[100];
                each.copyTo(got);
                assertThat(got).containsOnly(123);
                each.close();
            }
        }
    }

    @Test
    void shouldPassRandomMessagesInOrder() throws Exception {
        CudaDevice device = Gpu.device();
        int ranks = 4;
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        try (CudaWorld world = CudaWorld.open(device, ranks, Duration.ofSeconds(60))) {
            Ranks.run(world, comm -> {
                Random random = new Random(seed);
                try (CudaBuffer x = device.allocate(DataType.INT32, 5000)) {
                    for (int turn = 0; turn < 200; turn++) {
                        int from = random.nextInt(ranks);
                        int to = (from + 1 + random.nextInt(ranks - 1)) % ranks;
                        int count = random.nextInt(5000);
                        if (comm.rank() == from) {
                            int[] data = new int[count];
                            java.util.Arrays.fill(data, turn);
                            x.slice(0, count).copyFrom(data, comm.stream());
                            comm.send(x.slice(0, count), to).await();
                        } else if (comm.rank() == to) {
                            comm.receive(x.slice(0, count), from).await();
                            int[] got = new int[count];
                            x.slice(0, count).copyTo(got, comm.stream());
                            int expected = turn;
                            assertThat(got)
                                    .matches(all -> java.util.Arrays.stream(all).allMatch(each -> each == expected));
                        }
                    }
                }
            });
        }
    }
}
