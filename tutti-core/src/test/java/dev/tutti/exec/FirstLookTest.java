package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FirstLookTest {
    private static final long SEED = Long.getLong("tutti.seed", System.nanoTime());

    /** Whatever came too soon or in time before, it looks where it was told to. */
    @Test
    void shouldFindWhatIsThereAndNothingElse() {
        System.out.println("first look: -Dtutti.seed=" + SEED);
        Random random = new Random(SEED);
        try (Arena arena = Arena.ofConfined()) {
            long words = arena.allocate(64 * Long.BYTES, Long.BYTES).address();
            FirstLook look = new FirstLook();
            int inTime = 0;
            for (long launch = 0; launch < 100_000; launch++) {
                boolean there = random.nextInt(1 + (int) (launch / 1_000 % 20)) == 0;
                long word = random.nextLong();
                long address = words + Long.BYTES * random.nextInt(64);
                Memory.putLong(address, there ? word : ~word);
                assertThat(look.finds(word, address, launch)).isEqualTo(there);
                inTime += there ? 1 : 0;
            }
            assertThat(inTime).isBetween(1_000, 99_000);
        }
    }
}
