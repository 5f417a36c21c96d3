package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class MonitorTest {
    @Test
    void shouldWriteJsonThatCanBeRead() {
        assertThat(Json.of(java.util.Map.of("a \"b\"\n", List.of(1, true, "c\\"))))
                .isEqualTo("{\"a \\\"b\\\" \": [1, true, \"c\\\\\"]}");
    }

    @Test
    void shouldSayWhatAnErrorOfTheDriverMeans() {
        CudaDevice device = Gpu.device();
        assertThat(new CudaMonitor.Event(device, CudaMonitor.Kind.XID, 79).toString())
                .startsWith("device 0")
                .endsWith("Xid 79 (the device has fallen off the bus)");
        assertThat(new CudaMonitor.Event(device, CudaMonitor.Kind.UNCORRECTED_ERROR, 0).toString())
                .endsWith("uncorrected error");
    }

    @Test
    void shouldReadHealthAndTopology() {
        CudaDevice device = Gpu.device();
        CudaHealth health = CudaHealth.of(device);
        System.out.println(health.json());
        assertThat(health.totalBytes()).isPositive();
        assertThat(health.celsius()).isBetween(1L, 120L);
        assertThat(health.milliwatts()).isPositive();
        CudaTopology topology = CudaTopology.read();
        System.out.print(topology.text());
        System.out.println(topology.json());
        assertThat(topology.devices()).hasSize(Cuda.devices().size());
        assertThat(topology.devices().getFirst().pciBusId()).isEqualTo(device.pciBusId());
        int devices = topology.devices().size();
        assertThat(topology.ways()).hasSize(devices * (devices - 1) / 2);
    }

    @Test
    void shouldSampleUntilItIsClosed() throws Exception {
        CudaDevice device = Gpu.device();
        CountDownLatch samples = new CountDownLatch(5);
        CudaMonitor monitor = CudaMonitor.open(List.of(device), Duration.ofMillis(20), new CudaMonitor.Listener() {
            @Override
            public void sampled(CudaDevice which, CudaHealth health) {
                assertThat(which).isSameAs(device);
                assertThat(health.totalBytes()).isPositive();
                samples.countDown();
                throw new IllegalStateException("a listener that fails does not end the monitor");
            }
        });
        assertThat(samples.await(30, TimeUnit.SECONDS)).isTrue();
        monitor.close();
        monitor.close();
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(each -> each.getName().equals("tutti-cuda-monitor"));
    }

    /** A kernel in another process fails: that one is told what it lost, this one hears of it and works on. */
    @Test
    void shouldTellOfAKernelThatFailsInAnotherProcessAndWorkOn() throws Exception {
        CudaDevice device = Gpu.device();
        LinkedBlockingQueue<CudaMonitor.Event> events = new LinkedBlockingQueue<>();
        try (CudaMonitor monitor = CudaMonitor.open(List.of(device), Duration.ofSeconds(1), new CudaMonitor.Listener() {
            @Override
            public void happened(CudaMonitor.Event event) {
                events.add(event);
            }
        })) {
            String output = runContextLoss();
            System.out.print(output);
            assertThat(output)
                    .contains("the operation: cuEventQuery")
                    .contains("this buffer of 1000 float32 is stale")
                    .contains("has lost its context")
                    .contains("end this process and start another");
            try (CudaBuffer x = device.allocate(DataType.INT32, 1)) {
                int[] data = {42};
                x.copyFrom(data);
                data[0] = 0;
                x.copyTo(data);
                assertThat(data[0]).isEqualTo(42);
            }
            String cause = monitor.eventsUnavailabilityCause();
            System.out.println(cause == null ? "events are told" : "no events: " + cause);
            Assumptions.assumeTrue(cause == null, cause);
            CudaMonitor.Event event = events.poll(20, TimeUnit.SECONDS);
            System.out.println("event: " + event);
            Assumptions.assumeTrue(event != null, "the driver told of no error: not every machine lets users hear");
            assertThat(event.kind()).isEqualTo(CudaMonitor.Kind.XID);
        }
    }

    private static String runContextLoss() throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ContextLoss.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(output).isZero();
        return output;
    }
}
