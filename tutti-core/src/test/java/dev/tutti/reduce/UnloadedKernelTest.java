package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.processes.FreshJvm;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class UnloadedKernelTest {
    @Test
    void shouldUseTheScalarTwinUntilTrainedAgainWhenTheCollectorHasUnloadedAKernel()
            throws IOException, InterruptedException {
        // As if the code cache were nearly full: code is unloaded after a few collections without use.
        List<String> options = List.of(FreshJvm.VECTORS, "-XX:StartAggressiveSweepingAt=100");
        String output = FreshJvm.run(options, UnloadedKernel.class);
        assertThat(output).containsPattern("after [0-9]+ collections compiled: false");
        assertThat(output.lines()
                        .filter(line -> line.startsWith("allocated: "))
                        .map(line -> Long.parseLong(line.substring("allocated: ".length()))))
                .as(output)
                .singleElement()
                .satisfies(bytes -> assertThat(bytes).isLessThan(200_000));
        assertThat(output).contains("trained: true").contains("trained again: true");
    }
}
