package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.config;
import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Config;
import dev.tutti.MismatchException;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.Work;
import dev.tutti.World;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Roots that return before anybody has read what they sent. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RunningAheadTest {
    /** Fewer than any root may be ahead. */
    private static final int AHEAD = 8;

    @ParameterizedTest
    @CsvSource({"2, 1", "2, 60", "3, 1", "5, 60"})
    void shouldFindEverythingWhenReadersComeAfterTheRootHasLeft(int ranks, int count) {
        CountDownLatch sent = new CountDownLatch(1);
        World.local(ranks).run(comm -> {
            if (comm.rank() != 0) {
                sent.await();
            }
            for (int i = 0; i < AHEAD / 2; i++) {
                int[] values = new int[count];
                java.util.Arrays.fill(values, comm.rank() == 0 ? i + 1 : -1);
                comm.broadcast(values, 0);
                assertThat(values).containsOnly(i + 1);
            }
            sent.countDown();
            comm.barrier();
        });
    }

    @Test
    void shouldNameTheReaderThatNeverComes() {
        CountDownLatch over = new CountDownLatch(1);
        Outcomes outcomes = Outcomes.of(2, config(Config.Key.TIMEOUT, "500ms"), comm -> {
            for (int i = 0; i < 3; i++) {
                comm.broadcast(new int[2], 0);
            }
            if (comm.rank() == 1) {
                over.await();
                comm.broadcast(new int[2], 0);
            }
            Throwable thrown = thrownBy(() -> {
                while (true) {
                    comm.broadcast(new int[2], 0);
                }
            });
            over.countDown();
            throw (TuttiException) thrown;
        });
        outcomes.assertAll(
                CollectiveTimeoutException.class,
                "broadcast of 2 int32 root 0",
                "arrived: 0",
                "missing: 1 (last called #3 broadcast of 2 int32 root 0)");
    }

    @Test
    void shouldNameBothWhenAReaderDisagreesLongAfterwards() {
        CountDownLatch sent = new CountDownLatch(1);
        Outcomes outcomes = Outcomes.of(2, comm -> {
            if (comm.rank() == 1) {
                sent.await();
                comm.broadcast(new int[2], 0);
                comm.broadcast(new int[3], 0);
            }
            for (int i = 0; i < AHEAD / 2; i++) {
                comm.broadcast(new int[2], 0);
            }
            sent.countDown();
            comm.barrier();
        });
        outcomes.assertAll(
                MismatchException.class,
                "operation #2",
                "rank 0 called broadcast of 2 int32 root 0",
                "rank 1 called broadcast of 3 int32 root 0");
    }

    @ParameterizedTest
    @CsvSource({"2, false", "4, false", "3, true"})
    void shouldKeepTheOrderOfStartedAndBlockingCalls(int ranks, boolean virtual) {
        World.Local world = World.local(ranks);
        (virtual ? world.virtualThreads() : world).run(comm -> {
            for (int round = 0; round < 20; round++) {
                List<int[]> values = new ArrayList<>();
                List<Work> works = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    int[] each = new int[1 + i * 7 % 60];
                    each[0] = comm.rank() == i % ranks ? round + i : -1;
                    values.add(each);
                    works.add(comm.broadcastAsync(Buffer.of(each), i % ranks));
                }
                int[] sum = {1};
                comm.reduce(sum, ReduceOp.SUM, round % ranks);
                assertThat(sum[0]).isEqualTo(comm.rank() == round % ranks ? ranks : 1);
                works.forEach(Work::await);
                for (int i = 0; i < values.size(); i++) {
                    assertThat(values.get(i)[0]).isEqualTo(round + i);
                }
            }
        });
    }
}
