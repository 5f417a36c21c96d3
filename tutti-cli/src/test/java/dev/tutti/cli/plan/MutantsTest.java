package dev.tutti.cli.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A few mutants, each under fewer schedules than {@code .ci/mutants} takes: whatever the executor shows to be wrong is refused. */
@Timeout(120)
class MutantsTest {
    private static final long SEED = Long.getLong("tutti.seed", 20);

    @Test
    void shouldRefuseEveryMutantThatGoesWrong() throws IOException {
        Path folder = Mutants.folder();
        Assumptions.assumeTrue(
                Files.isDirectory(folder),
                "no plan files at " + folder.toAbsolutePath().normalize());
        System.out.println("tutti.seed=" + SEED);
        Mutants mutants = new Mutants(folder, 50, SEED);

        mutants.run(100);

        mutants.print(System.out);
        assertThat(mutants.missed).as("seed %d", SEED).isEmpty();
        assertThat(mutants.rows.values().stream().mapToInt(row -> row.accepted).sum())
                .isPositive();
    }
}
