package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class CompilerTimeTest {
    @Test
    void shouldKnowMoreThanHasEnded() {
        CompilerTime time = new CompilerTime();
        long ended = ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
        time.refresh();
        // Compilers that have ended took some of that with them; those that are left have worked, too.
        assertThat(time.millis()).isPositive();
        assertThat(ended).isPositive();
    }

    @Test
    void shouldFallBackWhenNoThreadIsKnown() {
        CompilerTime time = new CompilerTime();
        long before = ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
        assertThat(time.millis()).isGreaterThanOrEqualTo(before);
    }
}
