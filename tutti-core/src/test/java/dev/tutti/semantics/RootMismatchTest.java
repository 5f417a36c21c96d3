package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.MismatchException;
import dev.tutti.ReduceOp;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ranks that name different roots, even if none of them has to wait for another. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RootMismatchTest {
    /** Packets, slots, several windows. */
    private static final int[] COUNTS = {3, 2_000, 100_000};

    private static Buffer ints(int count) {
        return Buffer.of(new int[count]);
    }

    @ParameterizedTest
    @MethodSource("roots")
    void shouldTellEveryRankWhenRootsDiffer(RankBodyWithRoot body, String name) {
        for (int count : COUNTS) {
            for (int ranks : new int[] {2, 3, 5}) {
                int odd = ranks - 1;
                Outcomes outcomes = Outcomes.of(ranks, comm -> {
                    body.run(comm, count, comm.rank() == odd ? 1 : 0);
                    comm.barrier();
                    comm.barrier();
                    comm.barrier();
                });
                outcomes.assertAll(
                        MismatchException.class,
                        "rank " + odd + " called " + name + " of " + count,
                        "root 0",
                        "root 1");
            }
        }
    }

    /** A call with a root. */
    @FunctionalInterface
    interface RankBodyWithRoot {
        void run(Communicator comm, int count, int root);
    }

    static List<Object[]> roots() {
        return List.of(
                new Object[] {(RankBodyWithRoot) (c, n, root) -> c.broadcast(ints(n), root), "broadcast"},
                new Object[] {(RankBodyWithRoot) (c, n, root) -> c.reduce(ints(n), ReduceOp.SUM, root), "reduce"},
                new Object[] {
                    (RankBodyWithRoot)
                            (c, n, root) -> c.gather(ints(n), c.rank() == root ? ints(n * c.size()) : null, root),
                    "gather"
                },
                new Object[] {
                    (RankBodyWithRoot)
                            (c, n, root) -> c.scatter(c.rank() == root ? ints(n * c.size()) : null, ints(n), root),
                    "scatter"
                });
    }

    @Test
    void shouldFindOutLaterWhenNobodyHadToWait() {
        // Two roots send, nobody receives: each is through at once, and the next call tells.
        Outcomes outcomes = Outcomes.of(2, comm -> {
            int[] mine = {comm.rank()};
            comm.broadcast(mine, comm.rank());
            assertThat(mine).containsExactly(comm.rank());
            assertThat(Outcomes.thrownBy(() -> {
                        comm.allReduce(new int[1], ReduceOp.SUM);
                        return null;
                    }))
                    .isInstanceOf(MismatchException.class);
            comm.barrier();
        });
        outcomes.assertAll(
                MismatchException.class,
                "rank 0 called broadcast of 1 int32 root 0",
                "rank 1 called broadcast of 1 int32 root 1");
    }
}
