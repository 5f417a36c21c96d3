package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.World;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class DeviceCommunicatorTest {
    private static Opening.Place place(Backend asked, String host, String process, String device) {
        return new Opening.Place(asked, host, process, device, true);
    }

    /** Places are host/process/device, with "-" behind where NCCL is missing. */
    private static Backend chosen(Backend asked, String... hostsProcessesAndDevices) {
        List<Opening.Place> places = java.util.Arrays.stream(hostsProcessesAndDevices)
                .map(each -> each.split("/"))
                .map(each -> new Opening.Place(asked, each[0], each[1], each[2], each.length == 3))
                .toList();
        return Opening.choose(
                places.stream().map(Opening.Place::bytes).map(Opening.Place::of).toList());
    }

    @Test
    void shouldChooseByWhereTheRanksAre() {
        assertThat(chosen(Backend.AUTO, "h/p/d", "h/p/d")).isEqualTo(Backend.FUSED);
        assertThat(chosen(Backend.AUTO, "h/p/d")).isEqualTo(Backend.FUSED);
        assertThat(chosen(Backend.AUTO, "h/p/d", "h/q/d")).isEqualTo(Backend.IPC);
        assertThat(chosen(Backend.AUTO, "h/p/d", "h/p/e")).isEqualTo(Backend.NCCL);
        assertThat(chosen(Backend.AUTO, "h/p/d", "i/q/d")).isEqualTo(Backend.NCCL);
        assertThat(chosen(Backend.AUTO, "h/p/d", "h/p/e/-")).isEqualTo(Backend.IPC);
        assertThat(chosen(Backend.AUTO, "h/p/d", "i/q/d/-")).isEqualTo(Backend.IPC);
        assertThat(chosen(Backend.AUTO, "h/p/d", "h/q/e", "h/r/e")).isEqualTo(Backend.IPC);
        assertThat(chosen(Backend.IPC, "h/p/d", "h/q/e")).isEqualTo(Backend.IPC);
        assertThat(chosen(Backend.NCCL, "h/p/d", "h/p/d")).isEqualTo(Backend.NCCL);
        assertThat(chosen(Backend.IPC, "h/p/d", "h/q/d")).isEqualTo(Backend.IPC);
    }

    @Test
    void shouldSayWhereRanksAreThatCannotBeJoined() {
        assertThatThrownBy(() -> chosen(Backend.FUSED, "h/p/d0", "h/q/d0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rank 0 is in process 0 on device d0, rank 1 is in process 1 on device d0");
    }

    @Test
    void shouldNameRanksThatAskForDifferentBackends() {
        List<Opening.Place> places = List.of(place(Backend.NCCL, "h", "p", "d"), place(Backend.AUTO, "h", "p", "d"));
        assertThatThrownBy(() -> Opening.choose(places)).hasMessageContaining("rank 0 asks for NCCL, rank 1 for AUTO");
    }

    @Test
    void shouldServeRanksOfOneProcessByOneLaunch() {
        CudaDevice device = Gpu.device();
        for (int ranks : new int[] {1, 2, 3, 8}) {
            World.local(ranks).run(comm -> {
                try (DeviceCommunicator gpu = DeviceCommunicator.open(comm, device)) {
                    assertThat(gpu.backend()).isEqualTo(Backend.FUSED);
                    DeviceChecks.all(gpu);
                    if (ranks > 1) {
                        DeviceChecks.splits(gpu);
                    }
                }
            });
        }
    }
}
