package dev.tutti.cli.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every plan file that lies beside the repository behaves as its verdict says. The command sees copies with names that say nothing, and no
 * manifest.
 */
@Timeout(600)
final class PlanCorpusTest {
    private static final Path PLANS = Path.of("../../shared/plans");

    @TempDir
    Path folder = Path.of("");

    @Test
    void shouldBehaveAsTheVerdictSays() throws IOException {
        Path manifest = PLANS.resolve("MANIFEST.tsv");
        Assumptions.assumeTrue(
                Files.exists(manifest),
                "no plan files at " + PLANS.toAbsolutePath().normalize());
        List<String> lines = Files.readAllLines(manifest);
        int verdict = List.of(lines.getFirst().split("\t")).indexOf("verdict");
        Map<PlanStatus, Integer> counts = new EnumMap<>(PlanStatus.class);
        int number = 0;
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split("\t");
            Path copy = Files.copy(PLANS.resolve(fields[0]), folder.resolve("p" + number++ + ".json"));
            PlanRunCommand command = new PlanRunCommand(System.out, new PrintStream(System.err, true));
            command.schedules = 4;
            command.timeoutSeconds = 4;
            PlanResult result = command.run(copy);
            assertThat(result.status())
                    .as(fields[0] + ": " + fields[verdict] + "; " + result.line())
                    .isIn(expected(fields[0], fields[verdict]));
            counts.merge(result.status(), 1, Integer::sum);
        }
        System.out.println("plan files: " + number + " " + counts);
        assertThat(number).isGreaterThanOrEqualTo(182);
    }

    private static List<PlanStatus> expected(String file, String verdict) {
        if (file.endsWith("switch_reduce_test.json") || verdict.startsWith("runs")) {
            return List.of(PlanStatus.RUNS);
        }
        if (verdict.startsWith("PASS")) {
            return List.of(PlanStatus.PASS);
        }
        if (verdict.startsWith("NOT EXECUTABLE")) {
            return List.of(PlanStatus.NOT_EXECUTABLE);
        }
        // A deadlock is seen by running; a race by some schedules only, and then by proof.
        return verdict.startsWith("FAIL deadlock")
                ? List.of(PlanStatus.FAIL)
                : List.of(PlanStatus.FAIL, PlanStatus.REFUSED);
    }
}
