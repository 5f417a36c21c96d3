package dev.tutti.cli.kills;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.posix.Pidfd;
import dev.tutti.posix.SharedMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A few kills of every kind; {@code .ci/kills} does many. */
@Timeout(600)
class KillsTest {
    private static final int KILLS = 10;
    private static final int KILLS_WHILE_JOINING = 4;

    @Test
    void shouldTellEverySurvivorWithinASecondWhenARankIsKilled() throws Exception {
        assertAllWell(KILLS, Kill.Phase.values());
    }

    /** Those who give up because of the victim end too, and must not be named instead. */
    @Test
    void shouldNameTheVictimWhenItIsKilledWhileRanksJoin() throws Exception {
        assertAllWell(KILLS_WHILE_JOINING, Kill.Phase.BOOTSTRAP);
    }

    private static void assertAllWell(int kills, Kill.Phase... phases) throws Exception {
        if (!SharedMemory.isAvailable() || !Pidfd.isAvailable()) {
            System.out.println("KillsTest skipped: no shared memory or no descriptors of processes here");
            return;
        }
        assertThat(Kills.run(kills, Long.getLong("tutti.seed", System.nanoTime()), phases))
                .allSatisfy(outcome -> assertThat(outcome.problems()).isEmpty());
    }
}
