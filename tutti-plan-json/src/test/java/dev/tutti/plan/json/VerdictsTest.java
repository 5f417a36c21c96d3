package dev.tutti.plan.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.plan.Plan;
import dev.tutti.plan.verify.Finding;
import dev.tutti.plan.verify.Replay;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verdict.Status;
import dev.tutti.plan.verify.Verifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The verifier agrees with what is known of every plan file that lies beside the repository. */
@Timeout(120)
final class VerdictsTest {
    private static final Path FOLDER = Path.of("../../shared/plans");

    /** A file and what a careful interpreter found under many schedules. */
    private record Known(Path file, String verdict) {
        Status status() {
            // Tutti runs the one operation that the original refuses.
            if (verdict.contains("glre")) {
                return Status.RUNS;
            }
            return verdict.startsWith("PASS")
                    ? Status.PASS
                    : verdict.startsWith("FAIL")
                            ? Status.FAIL
                            : verdict.equals("runs") ? Status.RUNS : Status.NOT_EXECUTABLE;
        }
    }

    private static List<Known> known() throws IOException {
        Path manifest = FOLDER.resolve("MANIFEST.tsv");
        Assumptions.assumeTrue(
                Files.exists(manifest),
                "no plan files at " + FOLDER.toAbsolutePath().normalize());
        List<Known> known = new ArrayList<>();
        List<String> lines = Files.readAllLines(manifest);
        int column = List.of(lines.getFirst().split("\t")).indexOf("verdict");
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split("\t");
            known.add(new Known(FOLDER.resolve(fields[0]), fields[column]));
        }
        return known;
    }

    @Test
    void shouldAgreeWithWhatIsKnownOfEveryFile() throws IOException {
        List<String> different = new ArrayList<>();
        int agreed = 0;
        for (Known each : known()) {
            Verdict verdict = Verifier.check(PlanFile.load(each.file()));
            if (verdict.status() == each.status()) {
                agreed++;
            } else {
                different.add(each.file() + ": " + verdict.reason() + ", known: " + each.verdict());
            }
        }
        System.out.println("plan files judged: " + agreed);
        assertThat(different).isEmpty();
        assertThat(agreed).isGreaterThanOrEqualTo(182);
    }

    @Test
    void shouldShowTheDefectWhenItsScheduleIsReplayed() throws IOException {
        for (Known each : known()) {
            if (each.status() != Status.FAIL) {
                continue;
            }
            Plan plan = PlanFile.load(each.file());
            for (Finding finding : Verifier.check(plan).findings()) {
                assertThat(Replay.run(plan, finding.sizes(), finding.schedule()))
                        .as("%s: %s under %s", each.file(), finding, finding.schedule())
                        .isNotEmpty();
            }
        }
    }
}
