package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.World;
import dev.tutti.processes.FreshJvm;
import dev.tutti.processes.ProcessWorld;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Virtual threads leave the work to the worker and park: however few carriers there are, nobody keeps one from
 * another.
 */
@Timeout(value = 90, unit = TimeUnit.SECONDS)
class VirtualThreadsTest {
    @Test
    void shouldNotRunOutOfCarriers() throws IOException, InterruptedException {
        List<String> options = List.of(
                FreshJvm.VECTORS,
                ProcessWorld.QUICKLY,
                "-Djdk.virtualThreadScheduler.parallelism=2",
                "-Djdk.virtualThreadScheduler.maxPoolSize=2");
        assertThat(FreshJvm.run(options, VirtualRanks.class, "1", "2", "8", "32"))
                .contains("carriers never ran out");
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 16})
    void shouldRunEveryCollective(int ranks) {
        World.local(ranks).virtualThreads().run(comm -> {
            assertThat(Thread.currentThread().isVirtual()).isTrue();
            for (int i = 0; i < 12; i++) {
                Exchange.all(comm, 1 + 40 * i, i);
            }
        });
    }
}
