package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.processes.FreshJvm;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class WithoutVectorModuleTest {
    @Test
    void shouldReduceWithScalarCodeAndSayHowToChangeThatWhenTheModuleIsAbsent()
            throws IOException, InterruptedException {
        String output = FreshJvm.run(List.of(), ScalarOnly.class);
        assertThat(output).contains("idle: true");
        assertThat(output.lines().filter(line -> line.contains("Tutti reduces with scalar code")))
                .as(output)
                .singleElement()
                .asString()
                .contains("--add-modules jdk.incubator.vector");
    }
}
