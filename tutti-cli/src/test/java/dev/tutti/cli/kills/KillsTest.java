package dev.tutti.cli.kills;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.posix.Pidfd;
import dev.tutti.posix.SharedMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A few kills of every kind; {@code .ci/kills} does many. */
@Timeout(600)
class KillsTest {
    private static final int KILLS = 15;

    @Test
    void shouldTellEverySurvivorWithinASecondWhenARankIsKilled() throws Exception {
        if (!SharedMemory.isAvailable() || !Pidfd.isAvailable()) {
            System.out.println("KillsTest skipped: no shared memory or no descriptors of processes here");
            return;
        }
        assertThat(Kills.run(KILLS, Long.getLong("tutti.seed", System.nanoTime())))
                .allSatisfy(outcome -> assertThat(outcome.problems()).isEmpty());
    }
}
