package dev.tutti.plan.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tutti.plan.Plan;
import dev.tutti.plan.simulate.Simulation;
import dev.tutti.plan.simulate.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every plan file that can run also runs in the simulator, twice in a row. */
@Timeout(120)
class SimulateCorpusTest {
    @Test
    void shouldEndWhenThePlanDoes() throws IOException {
        Path folder = Path.of("../../shared/plans");
        assumeTrue(
                Files.isRegularFile(folder.resolve("MANIFEST.tsv")),
                "no plan files at " + folder.toAbsolutePath().normalize());
        Topology topology = Topology.preset("dgx-h100-128");
        List<String> wrong = new ArrayList<>();
        int simulated = 0;
        for (String line : Files.readAllLines(folder.resolve("MANIFEST.tsv"))) {
            String[] fields = line.split("\t");
            boolean runs = fields.length > 14 && (fields[14].startsWith("PASS") || fields[14].equals("runs"));
            if (!runs) {
                continue;
            }
            Plan plan = PlanFile.load(folder.resolve(fields[0]));
            try {
                double nanos = Simulation.of(plan, topology)
                        .bytes(1 << 16)
                        .calls(2)
                        .run()
                        .nanos();
                assertThat(nanos).as(fields[0]).isFinite().isNotNegative();
                simulated++;
            } catch (IllegalStateException | IllegalArgumentException failure) {
                wrong.add(fields[0] + ": " + failure.getMessage());
            }
        }
        System.out.println(simulated + " plan files simulated");
        assertThat(wrong).isEmpty();
    }
}
