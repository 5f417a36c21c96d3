package dev.tutti;

import dev.tutti.algorithm.Algorithm;
import dev.tutti.plan.Plan;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The plans of Tutti's own algorithms that communicators of this process have asked for. They share them: before anything is compiled
 * it takes longer to write a plan than to run it, and each rank would write one, for each of its communicators.
 */
final class BuiltInPlans {
    /** Those that nobody uses go when memory is short. */
    private static final Map<Key, SoftReference<Plan>> KEPT = new ConcurrentHashMap<>();

    private BuiltInPlans() {}

    /** Algorithms are compared as objects: what records do by themselves takes a hundred times as long before it is compiled. */
    private record Key(Algorithm algorithm, int ranks, int root, int lanes) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key that
                    && algorithm == that.algorithm
                    && ranks == that.ranks
                    && root == that.root
                    && lanes == that.lanes;
        }

        @Override
        public int hashCode() {
            return 31 * (31 * (31 * System.identityHashCode(algorithm) + ranks) + root) + lanes;
        }
    }

    static Plan of(Algorithm algorithm, int ranks, int root, int lanes) {
        Key key = new Key(algorithm, ranks, root, lanes);
        SoftReference<Plan> kept = KEPT.get(key);
        Plan plan = kept == null ? null : kept.get();
        if (plan == null) {
            plan = algorithm.plan(ranks, root, lanes);
            KEPT.put(key, new SoftReference<>(plan));
        }
        return plan;
    }
}
