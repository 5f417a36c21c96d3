package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FirstLookTest {
    private static final long SEED = Long.getLong("tutti.seed", System.nanoTime());
    private static final int LOOKS = 500_000;

    private final Random random = new Random(SEED);
    private long now;

    FirstLookTest() {
        System.out.println("first look: -Dtutti.seed=" + SEED);
    }

    /** Whatever came too soon or in time before, and however long it waits, it looks where it was told to. */
    @Test
    void shouldFindWhatIsThereAndNothingElse() {
        try (Arena arena = Arena.ofConfined()) {
            long words = arena.allocate(64 * Long.BYTES, Long.BYTES).address();
            FirstLook look = new FirstLook(() -> now += random.nextInt(1_000));
            for (int i = 0; i < LOOKS; i++) {
                boolean there = random.nextInt(1 + i / 1_000 % 20) == 0;
                long word = random.nextLong();
                long address = words + Long.BYTES * random.nextInt(64);
                Memory.putLong(address, there ? word : ~word);
                assertThat(look.finds(word, address)).isEqualTo(there);
                int count = (int) word;
                boolean reached = (int) Memory.getLong(address) - count >= 0;
                assertThat(look.reaches(count, address)).isEqualTo(reached);
            }
        }
    }

    /** Here looks take longer the further their limit is from the best, and now and then much longer, as something interrupts them. */
    @ParameterizedTest
    @ValueSource(ints = {15, 30, 60, 160})
    void shouldHaveTheBestLimitWhenThatChanges(int best) {
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(Long.BYTES, Long.BYTES).address();
            FirstLook look = new FirstLook(() -> now);
            limits(look, address, 175 - best);
            Map<Integer, Integer> limits = limits(look, address, best);
            assertThat(limits).hasSize(4);
            assertThat(limits.get(best)).isGreaterThan(LOOKS / 10 * 7);
        }
    }

    /** How many looks were made with each limit. */
    private Map<Integer, Integer> limits(FirstLook look, long address, int best) {
        Map<Integer, Integer> limits = new TreeMap<>();
        for (int i = 0; i < LOOKS; i++) {
            look.finds(0, address);
            int limit = look.limit();
            limits.merge(limit, 1, Integer::sum);
            now += 50 + Math.abs(limit - best);
            now += random.nextInt(10_000) == 0 ? 5_000 : 0;
        }
        return limits;
    }
}
