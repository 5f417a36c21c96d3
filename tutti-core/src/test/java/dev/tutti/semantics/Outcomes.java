package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Config;
import dev.tutti.RankBody;
import dev.tutti.TuttiException;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.List;
import java.util.concurrent.Callable;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Assumptions;

/** What each rank's part ended with: an exception, or null. */
final class Outcomes {
    private final List<Throwable> thrown;

    private Outcomes(List<Throwable> thrown) {
        this.thrown = thrown;
    }

    static Outcomes of(int ranks, RankBody body) {
        return of(ranks, Config.fromEnvironment(), body);
    }

    /** None, where there are other processes than the world needs: a test may go through several numbers of ranks. */
    static Outcomes of(int ranks, Config config, RankBody body) {
        return new Outcomes(
                TestWorld.isPossible(ranks)
                        ? TestWorld.of(ranks)
                                .config(config)
                                .call(comm -> thrownBy(() -> {
                                    body.run(comm);
                                    return null;
                                }))
                        : List.of());
    }

    static Outcomes of(World.Local world, RankBody body) {
        return new Outcomes(world.call(comm -> thrownBy(() -> {
            body.run(comm);
            return null;
        })));
    }

    static Throwable thrownBy(Callable<?> action) {
        try {
            action.call();
            return null;
        } catch (Throwable thrown) {
            return thrown;
        }
    }

    static Config config(Config.Key key, String value) {
        return Config.fromEnvironment().with(key, value);
    }

    List<Throwable> all() {
        return thrown;
    }

    AbstractThrowableAssert<?, ? extends Throwable> rank(int rank) {
        Assumptions.assumeFalse(thrown.isEmpty(), "needs another number of processes");
        return assertThat(thrown.get(rank)).as("outcome of rank %d", rank);
    }

    /** Every rank ended with the same kind and the same text. */
    void assertAll(Class<? extends TuttiException> type, String... parts) {
        for (int rank = 0; rank < thrown.size(); rank++) {
            rank(rank).isInstanceOf(type).hasMessageContainingAll(parts);
            assertThat(thrown.get(rank)).hasMessage(thrown.getFirst().getMessage());
        }
    }

    void assertNone() {
        for (int rank = 0; rank < thrown.size(); rank++) {
            rank(rank).isNull();
        }
    }
}
