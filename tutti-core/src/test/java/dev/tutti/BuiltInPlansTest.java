package dev.tutti;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BuiltInPlansTest {
    @Test
    void shouldShareAPlanOnlyWhenEverythingIsTheSame() {
        Set<Plan> different = Collections.newSetFromMap(new IdentityHashMap<>());
        int asked = 0;
        for (Algorithm algorithm : Algorithms.of(Collective.BROADCAST)) {
            for (int ranks = 2; ranks <= 3; ranks++) {
                for (int root = 0; root < ranks; root++) {
                    for (int lanes = 1; lanes <= 2; lanes++) {
                        Plan plan = BuiltInPlans.of(algorithm, ranks, root, lanes);
                        different.add(plan);
                        asked++;
                        assertSame(plan, BuiltInPlans.of(algorithm, ranks, root, lanes));
                        assertEquals(algorithm.plan(ranks, root, lanes), plan);
                    }
                }
            }
        }
        assertEquals(asked, different.size());
    }
}
