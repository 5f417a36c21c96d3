package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Plan;
import dev.tutti.plan.json.PlanFile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class PlanTest {
    /** Two ranks, one lane each: signal, wait, read and reduce the peer's input, and keep it until the peer has read too. */
    private static final String EXCHANGE = """
            {"name": "exchange", "collective": "allreduce", "protocol": "Simple", "inplace": false, "gpus": [%s, %s]}
            """;

    private static final String RANK = """
            {"id": %d, "input_chunks": 1, "output_chunks": 1, "scratch_chunks": 0,
             "threadblocks": [{"id": 0, "ops": [
               {"name": "signal", "channel_ids": [0], "channel_type": "memory"},
               %s
               {"name": "rre", "src_buff": [{"type": "i", "index": 0, "size": 1}, {"buffer_id": 0, "index": 0, "size": 1}],
                "dst_buff": [{"type": "o", "index": 0, "size": 1}], "channel_type": "memory", "reduce_op": "sum"},
               {"name": "nop"},
               {"name": "signal", "channel_ids": [0], "channel_type": "memory"},
               {"name": "wait", "channel_ids": [0], "channel_type": "memory"}],
              "channels": [{"channel_type": "memory", "channel_ids": [0]}],
              "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]}],
             "channels": [{"channel_type": "memory", "connected_to": [%d]}],
             "remote_buffers": [{"rank": %d, "type": "i", "access_channel_types": ["memory"]}], "semaphores": []}
            """;

    private static final String WAIT = "{\"name\": \"wait\", \"channel_ids\": [0], \"channel_type\": \"memory\"},";

    private static Plan plan(String extra) {
        return PlanFile.parse(EXCHANGE.formatted(RANK.formatted(0, WAIT + extra, 1, 1), RANK.formatted(1, WAIT, 0, 0)));
    }

    @Test
    void shouldRunAPlanAgainAndAgain() {
        CudaDevice device = Gpu.device();
        int count = 100_003;
        try (CudaPlan run = CudaPlan.open(device, plan(""));
                CudaStream stream = device.stream()) {
            List<CudaBuffer> in = new ArrayList<>();
            List<CudaBuffer> out = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                in.add(device.allocate(DataType.INT32, count));
                out.add(device.allocate(DataType.INT32, count));
            }
            for (int turn = 1; turn <= 30; turn++) {
                run.delays(turn % 3 == 0 ? turn : 0);
                for (int rank = 0; rank < 2; rank++) {
                    int[] data = new int[count];
                    java.util.Arrays.fill(data, turn * 10 + rank);
                    in.get(rank).copyFrom(data, stream);
                    out.get(rank).fill(0x5A, stream);
                }
                ReduceOp operator = turn % 2 == 0 ? ReduceOp.AVG : null;
                run.launch(stream, DataType.INT32, count, operator, in, out);
                run.await(Duration.ofSeconds(20));
                for (int rank = 0; rank < 2; rank++) {
                    int[] got = new int[count];
                    out.get(rank).copyTo(got, stream);
                    int expected = turn * 20 + 1;
                    assertThat(got).containsOnly(operator == null ? expected : expected / 2);
                }
            }
            in.forEach(CudaBuffer::close);
            out.forEach(CudaBuffer::close);
        }
    }

    @Test
    void shouldSayWhereLanesStandWhenAPlanCannotEndAndLeaveTheDeviceUsable() {
        CudaDevice device = Gpu.device();
        try (CudaPlan run = CudaPlan.open(device, plan(WAIT));
                CudaStream stream = device.stream();
                CudaBuffer x = device.allocate(DataType.INT32, 100)) {
            x.fill(0, stream);
            List<CudaBuffer> all = List.of(x, x);
            run.launch(stream, DataType.INT32, 100, null, all, all);
            run.launch(stream, DataType.INT32, 100, null, all, all);
            assertThatThrownBy(() -> run.await(Duration.ofMillis(500)))
                    .isInstanceOf(CollectiveTimeoutException.class)
                    .satisfies(thrown -> System.out.println(thrown.getMessage()))
                    .hasMessageContaining("plan 'exchange'")
                    .hasMessageContaining("launch 1")
                    .hasMessageContaining("rank 0 lane 0 op 6 (wait)");
            assertThatThrownBy(() -> run.launch(stream, DataType.INT32, 100, null, all, all))
                    .isInstanceOf(CollectiveTimeoutException.class);
        }
        shouldRunAPlanAgainAndAgain();
    }
}
