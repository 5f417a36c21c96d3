package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a core is kept that nobody who is waited for seems to need. */
@Timeout(20)
class PaceTest {
    private static final long MICRO = 1_000;
    private final Pace pace = new Pace(true, new Neighbours(0, new long[1], 1, 0, () -> 0, full -> false));
    private final long start = System.nanoTime() + 1_000_000;

    @Test
    void shouldKeepTheCoreForAMomentWhenNobodyNeedsIt() {
        assertThat(pace.keeps(start, start)).isTrue();
        assertThat(pace.keeps(start, start + 4 * MICRO)).isTrue();
        assertThat(pace.keeps(start, start + 6 * MICRO)).isFalse();
    }

    @Test
    void shouldGiveTheCoreAwayForAWhileWhenItWasKeptInVain() {
        pace.keeps(start, start);
        assertThat(pace.keeps(start, start + 6 * MICRO)).isFalse();
        long next = start + 100 * MICRO;
        assertThat(pace.keeps(next, next)).isFalse();
        next = start + 300 * MICRO;
        assertThat(pace.keeps(next, next)).isTrue();
    }

    @Test
    void shouldBeginAnewWhenAnotherWaitBegins() {
        for (int wait = 0; wait < 100; wait++) {
            long since = start + wait * 10 * MICRO;
            assertThat(pace.keeps(since, since)).isTrue();
            assertThat(pace.keeps(since, since + 4 * MICRO)).isTrue();
        }
    }

    @Test
    void shouldBeginAnewWhenTheCoreWasGivenAwayInBetween() {
        pace.keeps(start, start);
        assertThat(pace.pass(start, start + 4 * MICRO, true)).isTrue();
        assertThat(pace.keeps(start, start + 8 * MICRO)).isTrue();
        assertThat(pace.keeps(start, start + 12 * MICRO)).isTrue();
    }

    @Test
    void shouldAskForSleepWhenAWaitHasTakenLong() {
        assertThat(pace.pass(start, start + 199 * MICRO, false)).isTrue();
        assertThat(pace.pass(start, start + 201 * MICRO, false)).isFalse();
        assertThat(pace.pass(start, start + 201 * MICRO, true)).isFalse();
    }
}
