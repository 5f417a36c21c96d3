package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.config;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.AbortedException;
import dev.tutti.Buffer;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.PeerFailedException;
import dev.tutti.RankBody;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a program learns from an exception without reading its text; on every rank the same. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class FactsTest {
    private static final Config SHORT = config(Config.Key.TIMEOUT, "300ms");

    /** What a world does to fail, and what is known then; the last of its ranks is the one to blame. */
    record Case(String name, Class<? extends TuttiException> type, String operation, RankBody usual, RankBody odd) {
        @Override
        public String toString() {
            return name;
        }
    }

    static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        cases.add(new Case(
                "mismatch",
                MismatchException.class,
                null,
                comm -> comm.allReduce(new int[5], ReduceOp.SUM),
                Communicator::barrier));
        cases.add(new Case(
                "mismatch of what was started",
                MismatchException.class,
                null,
                comm -> comm.allReduceAsync(Buffer.of(new int[5]), ReduceOp.SUM).await(),
                comm -> comm.barrierAsync().await()));
        cases.add(new Case(
                "function that throws",
                AbortedException.class,
                "allReduce of 5 int32 user function",
                comm -> comm.allReduce(new int[5], function(() -> {})),
                comm -> comm.allReduce(new int[5], function(() -> {
                    throw new ArithmeticException("no");
                }))));
        cases.add(
                new Case("abort", AbortedException.class, null, Communicator::barrier, comm -> comm.abort("no more")));
        cases.add(new Case("interrupt", AbortedException.class, "barrier (#1)", FactsTest::recvFromLast, comm -> {
            Thread.currentThread().interrupt();
            comm.barrier();
        }));
        cases.add(new Case(
                "closed early",
                PeerFailedException.class,
                "allReduce of 5 int32 sum (#1)",
                comm -> comm.allReduce(new int[5], ReduceOp.SUM),
                Communicator::close));
        return cases;
    }

    private static void recvFromLast(Communicator comm) {
        comm.recv(Buffer.of(new int[1]), comm.size() - 1, 0);
    }

    private static ReduceOp function(Runnable body) {
        return ReduceOp.of(new ReduceFunction("f", DataType.INT32, true, (_, _, _) -> body.run()));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldKnowWhoWhatAndWhereWhenARankIsToBlame(Case each) {
        for (int ranks = 2; ranks <= 3; ranks++) {
            int last = ranks - 1;
            Outcomes outcomes = Outcomes.of(ranks, comm -> {
                if (comm.rank() == last) {
                    each.odd.run(comm);
                } else {
                    each.usual.run(comm);
                }
                // Whoever got through, or did nothing but harm, is told at its next call.
                Thread.interrupted();
                comm.barrier();
            });
            for (int rank = 0; rank < outcomes.all().size(); rank++) {
                boolean closedItself = each.type == PeerFailedException.class && rank == last;
                if (!closedItself) {
                    outcomes.rank(rank).isInstanceOf(each.type);
                    TuttiException thrown = (TuttiException) outcomes.all().get(rank);
                    assertThat(thrown.ranks()).as(thrown.getMessage()).containsExactly(last);
                    assertThat(thrown.communicator()).isEqualTo("world");
                    if (each.operation != null) {
                        assertThat(thrown.operation()).startsWith(each.operation);
                        assertThat(thrown).hasMessageContaining(thrown.operation());
                    }
                }
            }
        }
    }

    @Test
    void shouldKnowTheMissingWhenTimeIsUp() {
        Outcomes outcomes = lateBy(comm -> comm.allReduce(new int[5], ReduceOp.SUM));
        assertMissing(outcomes, "allReduce of 5 int32 sum (#1)");
    }

    @Test
    void shouldKnowTheMissingWhenNobodyAwaitsAnyLonger() {
        Outcomes outcomes = lateBy(
                comm -> comm.allReduceAsync(Buffer.of(new int[5]), ReduceOp.SUM).await(Duration.ofMillis(300)));
        assertMissing(outcomes, "allReduce of 5 int32 sum (#1)");
    }

    @Test
    void shouldKnowTheSenderWhenAMessageDoesNotCome() {
        Outcomes outcomes = lateBy(comm -> comm.recv(Buffer.of(new int[5]), comm.size() - 1, 7));
        assertMissing(outcomes, "recv of tag 7 from rank " + (outcomes.all().size() - 1));
    }

    @Test
    void shouldKnowNobodyWhenAMessageMayComeFromAnyone() {
        Outcomes outcomes = lateBy(comm -> comm.recv(Buffer.of(new int[5]), Communicator.ANY_SOURCE, 7));
        for (Throwable thrown : outcomes.all()) {
            assertThat(((TuttiException) thrown).ranks()).isEmpty();
        }
    }

    /** All but the last rank do something for which they need it; it comes when they have failed. */
    private static Outcomes lateBy(RankBody usual) {
        int ranks = TestWorld.isPossible(2) ? 2 : 3;
        TestWorld.Latch over = TestWorld.latch(ranks - 1);
        return Outcomes.of(ranks, SHORT, comm -> {
            if (comm.rank() == ranks - 1) {
                over.await();
                comm.barrier();
                return;
            }
            try {
                usual.run(comm);
            } finally {
                over.countDown();
            }
        });
    }

    private static void assertMissing(Outcomes outcomes, String operation) {
        outcomes.assertAll(CollectiveTimeoutException.class, operation);
        for (Throwable thrown : outcomes.all()) {
            CollectiveTimeoutException late = (CollectiveTimeoutException) thrown;
            assertThat(late.ranks()).containsExactly(outcomes.all().size() - 1);
            assertThat(late.operation()).isEqualTo(operation);
            assertThat(late.communicator()).isEqualTo("world");
        }
    }

    @Test
    void shouldCountAsTheCommunicatorDoesWhenItIsASplit() {
        Outcomes outcomes = Outcomes.of(3, comm -> {
            // In reverse order: the last rank of the world is the first here.
            Communicator split = comm.split(0, -comm.rank());
            if (comm.rank() == 2) {
                split.close();
            } else {
                split.barrier();
            }
        });
        for (int rank = 0; rank < Math.min(2, outcomes.all().size()); rank++) {
            outcomes.rank(rank).isInstanceOf(PeerFailedException.class);
            TuttiException failed = (TuttiException) outcomes.all().get(rank);
            assertThat(failed.ranks()).containsExactly(0);
            assertThat(failed.communicator()).isEqualTo("world/0.0");
        }
    }

    @Test
    void shouldKnowTheRankThatThrewWhenItsBodyDoes() {
        List<Throwable> told = new java.util.concurrent.CopyOnWriteArrayList<>();
        Throwable thrown = Outcomes.thrownBy(() -> World.local(3).call(comm -> {
            if (comm.rank() == 1) {
                throw new IllegalStateException("enough");
            }
            try {
                comm.barrier();
            } catch (TuttiException failed) {
                told.add(failed);
                throw failed;
            }
            return 0;
        }));
        assertThat(thrown).isInstanceOf(IllegalStateException.class);
        assertThat(told).hasSize(2);
        assertThat(told)
                .allSatisfy(
                        each -> assertThat(((PeerFailedException) each).ranks()).containsExactly(1));
    }
}
