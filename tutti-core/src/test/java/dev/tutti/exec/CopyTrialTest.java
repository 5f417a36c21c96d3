package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.memory.Operand;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CopyTrialTest {
    private static final long COPY = 8 << 10;
    /** No copy of a few kilobytes takes a second in the median. */
    private static final long HOPELESS = 1_000_000_000;

    private final Endpoint endpoint = new Ranks(1, 1 << 16, 1 << 16, 0, call -> {
                throw new IllegalStateException("no call is made");
            })
            .all.getFirst().endpoint;
    private final Stores stores = endpoint.stores;

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

    /** Elements of the longest type must not be cut in two by a piece as long as an odd copy. */
    @Test
    void shouldCopyWholeElementsOfArraysWhenAnOddCopyWasShorter() {
        long[] elements = new Random(7).longs(4 * COPY / 8).toArray();
        endpoint.input = new Operand();
        endpoint.input.setArray(elements, 0, 4 * COPY);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(1 << 20, 64);
            CopyTrial trial = new CopyTrial(stores, 0, 0, 0);
            copy(trial, memory, 1025);
            trial.run(Places.INPUT, memory.address(), 4 * COPY);
            assertThat(memory.asSlice(0, 4 * COPY).toArray(ValueLayout.JAVA_LONG))
                    .isEqualTo(elements);
        }
    }
}
