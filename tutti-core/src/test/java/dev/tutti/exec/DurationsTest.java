package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({
        "PT0S, 0 ns",
        "PT0.000000999S, 999 ns",
        "PT0.0000015S, 1.5 µs",
        "PT0.1S, 100 ms",
        "PT0.2505S, 250.5 ms",
        "PT0.999999999S, 1000 ms",
        "PT1S, 1 s",
        "PT2.5S, 2.5 s",
        "PT1M, 1 min",
        "PT1M30S, 90 s",
        "PT5M, 5 min",
        "PT100M, 100 min",
        "PT-0.1S, -100 ms"
    })
    void shouldWriteDurationsAsPeopleDo(Duration duration, String text) {
        assertThat(Durations.text(duration.toNanos())).isEqualTo(text);
    }
}
