package dev.tutti.plan.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is written loads again to an equal plan. */
@Timeout(300)
final class RoundTripTest {
    @Test
    void shouldLoadEveryBuiltInAlgorithmAgain() {
        int plans = 0;
        for (Collective collective : Collective.values()) {
            for (Algorithm algorithm : Algorithms.of(collective)) {
                for (int ranks : new int[] {1, 2, 3, 4, 5, 8}) {
                    for (int lanes : new int[] {1, 3}) {
                        int root = collective.isRooted() ? ranks - 1 : 0;
                        Plan plan;
                        try {
                            plan = algorithm.plan(ranks, root, lanes);
                            plan.all();
                        } catch (IllegalArgumentException notForThisManyRanks) {
                            continue;
                        }
                        Plan again = PlanFile.parse(PlanFile.write(plan));
                        assertThat(again.all()).as(plan.toString()).isEqualTo(plan.all());
                        assertThat(again).as(plan.toString()).isEqualTo(plan);
                        plans++;
                    }
                }
            }
        }
        System.out.println("plans written and loaded again: " + plans);
        assertThat(plans).isGreaterThan(300);
    }

    @Test
    void shouldLoadEveryFileAgain() throws IOException {
        for (Path file : CorpusTest.files()) {
            Plan plan = PlanFile.load(file);
            Plan again = PlanFile.parse(PlanFile.write(plan));
            assertThat(again.header()).as(file.toString()).isEqualTo(plan.header());
            for (int rank = 0; rank < plan.ranks(); rank++) {
                assertThat(again.rank(rank)).as(file + " rank " + rank).isEqualTo(plan.rank(rank));
            }
            assertThat(again).isEqualTo(plan);
        }
    }
}
