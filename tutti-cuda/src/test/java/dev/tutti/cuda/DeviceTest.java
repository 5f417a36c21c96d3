package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class DeviceTest {
    @Test
    void shouldDescribeItself() {
        CudaDevice device = Gpu.device();
        CudaCapabilities capabilities = device.capabilities();
        System.out.println(capabilities.text());
        System.out.println(capabilities.json());
        System.out.println(CudaHealth.of(device));
        assertThat(capabilities.multiprocessors()).isPositive();
        assertThat(capabilities.json()).startsWith("{\"device\": 0").endsWith("}");
        assertThat(Cuda.peerMatrix()[0][0]).isTrue();
        assertThat(device.freeBytes()).isPositive();
    }

    @Test
    void shouldKeepDataInEveryKindOfMemory() {
        CudaDevice device = Gpu.device();
        int count = 300_001;
        int[] data = new Random(1).ints(count).toArray();
        try (Arena arena = Arena.ofShared();
                CudaStream stream = device.stream()) {
            MemorySegment host = arena.allocate(4L * count, 4096);
            List<CudaBuffer> buffers = new ArrayList<>(List.of(
                    device.allocate(DataType.INT32, count),
                    CudaBuffer.allocateAsync(stream, DataType.INT32, count),
                    CudaBuffer.allocateVirtual(device, DataType.INT32, count),
                    CudaBuffer.allocatePinned(device, DataType.INT32, count),
                    CudaBuffer.register(device, host, DataType.INT32)));
            buffers.add(CudaBuffer.external(device, buffers.getFirst().pointer(), DataType.INT32, count));
            stream.synchronise();
            for (CudaBuffer buffer : buffers) {
                buffer.fill(0x5A, stream);
                stream.synchronise();
                buffer.copyFrom(data, stream);
                int[] back = new int[count];
                buffer.copyTo(back, stream);
                assertThat(back).as(buffer.kind().name()).isEqualTo(data);
                int[] part = new int[100];
                buffer.slice(777, 100).copyTo(part);
                assertThat(part).isEqualTo(java.util.Arrays.copyOfRange(data, 777, 877));
            }
            assertThat(buffers.get(3).hostSegment().getAtIndex(ValueLayout.JAVA_INT, 5))
                    .isEqualTo(data[5]);
            assertThat(host.getAtIndex(ValueLayout.JAVA_INT, 7)).isEqualTo(data[7]);
            for (CudaBuffer buffer : buffers) {
                buffer.close();
                buffer.close();
            }
            assertThatThrownBy(() -> buffers.getFirst().pointer()).hasMessageContaining("closed");
        }
    }

    @Test
    void shouldOrderStreamsByEvents() {
        CudaDevice device = Gpu.device();
        try (CudaStream a = device.stream();
                CudaStream b = device.stream();
                CudaEvent start = CudaEvent.openTimed(device);
                CudaEvent end = CudaEvent.openTimed(device);
                CudaBuffer x = device.allocate(DataType.UINT8, 256 << 20);
                CudaBuffer y = device.allocate(DataType.UINT8, 256 << 20)) {
            for (int i = 0; i < 20; i++) {
                start.record(a);
                x.fill(i, a);
                end.record(a);
                b.await(end);
                y.copyFrom(x, b);
                b.synchronise();
                byte[] last = new byte[1];
                y.slice((256 << 20) - 1, 1).copyTo(last);
                assertThat(last[0]).isEqualTo((byte) i);
            }
            assertThat(end.isDone()).isTrue();
            assertThat(end.microsSince(start)).isPositive();
            assertThat(a.isEmpty()).isTrue();
        }
    }

    @Test
    void shouldSayWhatFailedWhenTheDriverRefuses() {
        CudaDevice device = Gpu.device();
        assertThatThrownBy(() -> device.allocate(DataType.INT8, 1L << 50))
                .isInstanceOf(CudaException.class)
                .hasMessageContaining("cuMemAlloc")
                .hasMessageContaining("CUDA_ERROR_OUT_OF_MEMORY")
                .hasMessageContaining(Long.toString(1L << 50))
                .hasMessageContaining("device 0");
    }

    @Test
    void shouldRefuseWhatIsOfAnEarlierContext() {
        CudaDevice device = Gpu.device();
        CudaBuffer old = device.allocate(DataType.FLOAT32, 10);
        CudaStream stream = device.stream();
        CudaWorld world = CudaWorld.open(device, 2);
        CudaEvent event = CudaEvent.open(device);
        Arena arena = Arena.ofShared();
        List<CudaBuffer> others = List.of(
                CudaBuffer.allocateAsync(stream, DataType.FLOAT32, 10),
                CudaBuffer.allocateVirtual(device, DataType.FLOAT32, 10),
                CudaBuffer.allocatePinned(device, DataType.FLOAT32, 10),
                CudaBuffer.register(device, arena.allocate(4096, 4096), DataType.FLOAT32),
                CudaBuffer.external(device, old.pointer(), DataType.FLOAT32, 10),
                old.slice(1, 2));
        int generation = device.generation();
        device.rebuild();
        assertThat(device.generation()).isEqualTo(generation + 1);
        assertThatThrownBy(old::pointer)
                .isInstanceOf(StaleException.class)
                .hasMessageContaining("generation " + generation)
                .hasMessageContaining("make it anew");
        for (CudaBuffer each : others) {
            assertThatThrownBy(() -> each.copyTo(new float[(int) each.count()]))
                    .as("%s", each.kind())
                    .isInstanceOf(StaleException.class);
            each.close();
        }
        arena.close();
        assertThatThrownBy(event::synchronise).isInstanceOf(StaleException.class);
        event.close();
        assertThatThrownBy(stream::synchronise).isInstanceOf(StaleException.class);
        assertThatThrownBy(() -> world.communicator(0).barrier()).isInstanceOf(StaleException.class);
        old.close();
        stream.close();
        world.close();
        try (CudaBuffer fresh = device.allocate(DataType.FLOAT32, 10)) {
            fresh.copyFrom(new float[10]);
        }
    }
}
