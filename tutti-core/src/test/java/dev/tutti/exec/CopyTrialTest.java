package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CopyTrialTest {
    private static final long COPY = 8 << 10;
    /** No copy of a few kilobytes takes a second in the median. */
    private static final long HOPELESS = 1_000_000_000;

    private final Stores stores = new Ranks(1, 1 << 16, 1 << 16, 0, call -> {
                throw new IllegalStateException("no call is made");
            })
            .all.getFirst().endpoint.stores;

    private static void copy(CopyTrial trial, MemorySegment memory, long bytes) {
        assertThat(trial.isDue(bytes)).isTrue();
        trial.run(memory.address(), memory.address() + memory.byteSize() / 2, bytes);
    }

    @Test
    void shouldTakeTheWayThatIsLeft() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(1 << 20, 64);
            for (CopyTrial.Way way : CopyTrial.Way.values()) {
                long[] handicaps = {HOPELESS, HOPELESS, HOPELESS};
                handicaps[way.ordinal()] = 0;
                CopyTrial trial = new CopyTrial(stores, handicaps);
                copy(trial, memory, 32 * COPY);
                assertThat(trial.best()).isEqualTo(way);
                assertThat(trial.isDue(COPY)).isFalse();
            }
        }
    }

    /** Long copies that began a trial must not keep short ones from ending it, nor count with them. */
    @Test
    void shouldBeginAgainWithShorterPiecesWhenCopiesBecomeShorter() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(1 << 20, 64);
            CopyTrial trial = new CopyTrial(stores, HOPELESS, 0, HOPELESS);
            copy(trial, memory, 16 * COPY);
            for (int i = 0; i < 23; i++) {
                copy(trial, memory, 1 << 10);
            }
            assertThat(trial.best()).isEqualTo(CopyTrial.Way.ORDINARY);
            copy(trial, memory, 1 << 10);
            assertThat(trial.best()).isEqualTo(CopyTrial.Way.STRING);
        }
    }
}
