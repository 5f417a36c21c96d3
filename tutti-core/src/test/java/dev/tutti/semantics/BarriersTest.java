package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.config;
import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.MismatchException;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Barriers in a row take a short cut; whatever comes between or after them must not notice. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BarriersTest {
    private static final int MANY = 10;

    private static void barriers(Communicator comm) {
        for (int i = 0; i < MANY; i++) {
            comm.barrier();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldLetNobodyThroughBeforeEverybodyHasCome(int ranks) {
        int[] rounds = new int[ranks * 64];
        World.local(ranks).run(comm -> {
            for (int round = 1; round <= 20_000; round++) {
                rounds[comm.rank() * 64] = round;
                comm.barrier();
                for (int peer = 0; peer < ranks; peer++) {
                    assertThat(rounds[peer * 64]).isBetween(round, round + 1);
                }
            }
        });
    }

    /** Launches come round among barriers in a row, before them and after them. */
    @ParameterizedTest
    @ValueSource(longs = {4294967280L, 4294967291L, 4294967292L, 4294967293L, 4294967294L, 4294967295L})
    void shouldGoOnWhenLaunchesComeRound(long firstLaunch) {
        World.local(2)
                .config(config(Config.Key.FIRST_LAUNCH, Long.toString(firstLaunch)))
                .run(comm -> {
                    for (int round = 0; round < 5; round++) {
                        barriers(comm);
                        int[] sum = {comm.rank() + round, 1};
                        comm.allReduce(sum, ReduceOp.SUM);
                        assertThat(sum).containsExactly(2 * round + 1, 2);
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldSayWhoCalledSomethingElse(int ranks) {
        Outcomes outcomes = Outcomes.of(ranks, comm -> {
            barriers(comm);
            if (comm.rank() == 1) {
                comm.allReduce(new int[5], ReduceOp.SUM);
            } else {
                comm.barrier();
            }
            comm.barrier();
        });
        outcomes.assertAll(MismatchException.class, "barrier", "allReduce of 5 int32 sum", "#" + (MANY + 1));
    }

    @Test
    void shouldKeepTheTimeOfWhoeverWaits() {
        missing(comm -> {
                    barriers(comm);
                    return comm.withTimeout(Duration.ofMillis(300));
                })
                .assertAll(
                        CollectiveTimeoutException.class,
                        "barrier (#" + (MANY + 1) + ")",
                        "0.3s",
                        "missing: 1 (last called #" + MANY + " barrier)");
    }

    @Test
    void shouldKeepItsOwnTimeInARow() {
        missing(comm -> {
                    Communicator hasty = comm.withTimeout(Duration.ofMillis(2300));
                    barriers(hasty);
                    return hasty;
                })
                .assertAll(CollectiveTimeoutException.class, "barrier (#" + (MANY + 1) + ")", "2.3s", "missing: 1");
    }

    /** Barriers in a row, and then one to which rank 1 comes when rank 0 has given up. */
    private static Outcomes missing(UnaryOperator<Communicator> row) {
        TestWorld.Latch over = TestWorld.latch(1);
        return Outcomes.of(2, comm -> {
            Communicator last = row.apply(comm);
            if (comm.rank() == 1) {
                over.await();
            }
            try {
                last.barrier();
            } finally {
                over.countDown();
            }
        });
    }

    @Test
    void shouldNotMindACallThatWasRefused() {
        Outcomes.of(2, comm -> {
                    barriers(comm);
                    for (int i = 0; i < MANY; i++) {
                        if (comm.rank() == 0) {
                            assertThat(thrownBy(() -> {
                                        comm.reduceScatter(new int[4], new int[3], ReduceOp.SUM);
                                        return null;
                                    }))
                                    .isInstanceOf(RuntimeException.class);
                        }
                        barriers(comm);
                    }
                })
                .assertNone();
    }

    @Test
    void shouldComeInOrderWithStartedOnes() {
        Outcomes.of(2, comm -> {
                    for (int i = 0; i < 100; i++) {
                        barriers(comm);
                        var started = comm.barrierAsync();
                        comm.barrier();
                        started.await();
                    }
                })
                .assertNone();
    }
}
