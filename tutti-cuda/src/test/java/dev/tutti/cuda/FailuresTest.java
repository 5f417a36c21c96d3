package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class FailuresTest {
    @Test
    void shouldNameTheRankThatNeverComes() throws Exception {
        CudaDevice device = Gpu.device();
        try (CudaWorld world = CudaWorld.open(device, 4, Duration.ofMillis(300))) {
            List<Throwable> thrown = Ranks.outcomes(world, comm -> {
                try (CudaBuffer x = device.allocate(DataType.FLOAT32, 100)) {
                    if (comm.rank() != 2) {
                        comm.allReduce(x, ReduceOp.SUM).await();
                    }
                }
            });
            System.out.println(thrown.get(0).getMessage());
            for (int rank : new int[] {0, 1, 3}) {
                assertThat(thrown.get(rank))
                        .isInstanceOf(CollectiveTimeoutException.class)
                        .hasMessageContaining("allReduce of 100 float32 sum #1")
                        .hasMessageContaining("ranks [0, 1, 3] have come, ranks [2] have not");
            }
        }
        // The device works on.
        try (CudaWorld world = CudaWorld.open(device, 2)) {
            Ranks.run(world, comm -> comm.barrier().await());
        }
    }

    @Test
    void shouldSayWhoSaidWhatWhenRanksDisagree() throws Exception {
        CudaDevice device = Gpu.device();
        try (CudaWorld world = CudaWorld.open(device, 2, Duration.ofSeconds(20))) {
            List<Throwable> thrown = Ranks.outcomes(world, comm -> {
                try (CudaBuffer x = device.allocate(DataType.FLOAT32, 100 + comm.rank())) {
                    comm.allReduce(x, ReduceOp.SUM).await();
                }
            });
            assertThat(thrown)
                    .allSatisfy(each -> assertThat(each)
                            .isInstanceOf(MismatchException.class)
                            .hasMessageContaining("rank 0: allReduce of 100 float32 sum")
                            .hasMessageContaining("rank 1: allReduce of 101 float32 sum"));
        }
    }

    @Test
    void shouldRefuseWrongArgumentsAndStayUsable() throws Exception {
        CudaDevice device = Gpu.device();
        try (CudaWorld world = CudaWorld.open(device, 2);
                CudaBuffer x = device.allocate(DataType.FLOAT32, 10);
                CudaBuffer y = device.allocate(DataType.INT32, 10)) {
            CudaCommunicator comm = world.communicator(0);
            assertThatThrownBy(() -> comm.allReduce(x, y, ReduceOp.SUM)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> comm.allReduce(x, ReduceOp.XOR)).hasMessageContaining("xor");
            assertThatThrownBy(() -> comm.broadcast(x, 2)).hasMessageContaining("root must be in 0..1");
            assertThatThrownBy(() -> comm.allGather(x, x)).hasMessageContaining("20 elements");
            assertThatThrownBy(() -> comm.allReduce(
                            x, ReduceOp.of(new ReduceFunction("mine", DataType.FLOAT32, true, (a, b, n) -> {}))))
                    .hasMessageContaining("'mine' has no form for the device");
            Ranks.run(world, each -> each.barrier().await());
        }
    }

    @Test
    void shouldEndWaitingRanksWhenTheWorldIsAbortedOrClosed() throws Exception {
        CudaDevice device = Gpu.device();
        CudaWorld world = CudaWorld.open(device, 2);
        Thread closer = Thread.ofPlatform().unstarted(() -> world.abort("enough"));
        List<Throwable> thrown = Ranks.outcomes(world, comm -> {
            if (comm.rank() == 0) {
                closer.start();
                comm.barrier().await();
            }
        });
        closer.join();
        assertThat(thrown.get(0)).hasMessageContaining("enough");
        world.close();
        assertThatThrownBy(() -> world.communicator(1).barrier()).hasMessageContaining("enough");
    }

    @Test
    void shouldLeakNothingOverTenThousandBuffersAndWorlds() {
        CudaDevice device = Gpu.device();
        for (int warm = 0; warm < 50; warm++) {
            makeAndClose(device);
        }
        device.synchronise();
        long before = device.freeBytes();
        for (int i = 0; i < 10_000; i++) {
            makeAndClose(device);
        }
        device.synchronise();
        long lost = before - device.freeBytes();
        System.out.println("device memory lost over 10,000 worlds, buffers and streams: " + lost + " bytes");
        assertThat(lost).isLessThanOrEqualTo(32L << 20);
    }

    private static void makeAndClose(CudaDevice device) {
        try (CudaWorld world = CudaWorld.open(device, 2);
                CudaStream stream = device.stream();
                CudaBuffer a = device.allocate(DataType.FLOAT32, 1000);
                CudaBuffer b = CudaBuffer.allocateAsync(stream, DataType.FLOAT32, 1000)) {
            try (CudaGroup group = world.group()) {
                group.add(world.communicator(0).useStream(stream), CudaCall.allReduce(a, a, ReduceOp.SUM));
                group.add(world.communicator(1).useStream(stream), CudaCall.allReduce(b, b, ReduceOp.SUM));
            }
        }
    }
}
