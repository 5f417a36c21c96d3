package dev.tutti.plan.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.plan.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every plan file that lies beside the repository loads. */
@Timeout(120)
final class CorpusTest {
    static List<Path> files() throws IOException {
        Path folder = Path.of("../../shared/plans");
        Assumptions.assumeTrue(
                Files.isDirectory(folder),
                "no plan files at " + folder.toAbsolutePath().normalize());
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void shouldLoadEveryFile() throws IOException {
        int loaded = 0;
        for (Path file : files()) {
            Plan plan = PlanFile.load(file);
            assertThat(plan.ranks()).as(file.toString()).isPositive();
            assertThat(plan.all()).hasSize(plan.ranks());
            loaded++;
        }
        System.out.println("plan files loaded: " + loaded);
        assertThat(loaded).isGreaterThanOrEqualTo(182);
    }
}
