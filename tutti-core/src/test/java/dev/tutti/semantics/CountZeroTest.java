package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.MismatchException;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Count 0 is an operation like any other, and no barrier; a barrier is one. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class CountZeroTest {
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void shouldCompareCountZeroLikeAnyOther(int ranks) {
        Outcomes.of(ranks, comm -> {
                    comm.allReduce(new int[comm.rank() == 1 ? 1 : 0], ReduceOp.SUM);
                    comm.barrier();
                    comm.barrier();
                })
                .assertAll(
                        MismatchException.class,
                        "rank 1 called allReduce of 1 int32 sum",
                        "called allReduce of 0 int32 sum");
        Outcomes.of(ranks, comm -> {
                    comm.broadcast(new int[0], 0);
                    if (comm.rank() == 1) {
                        comm.broadcast(new int[0], 0);
                    }
                    comm.barrier();
                    comm.barrier();
                })
                .assertAll(
                        MismatchException.class,
                        "operation #2",
                        "rank 1 called broadcast of 0 int32 root 0",
                        "called barrier");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5})
    void shouldNotLetARootWaitForItsReceivers(int count) {
        CountDownLatch through = new CountDownLatch(1);
        World.local(3).run(comm -> {
            if (comm.rank() != 0) {
                through.await();
            }
            comm.broadcast(new int[count], 0);
            comm.scatter(comm.rank() == 0 ? Buffer.of(new int[3 * count]) : null, Buffer.of(new int[count]), 0);
            through.countDown();
        });
    }

    @Test
    void shouldLetNobodyLeaveABarrierBeforeEverybodyCame() {
        AtomicInteger arrived = new AtomicInteger();
        World.local(5).run(comm -> {
            for (int round = 1; round <= 500; round++) {
                arrived.incrementAndGet();
                if (round % 2 == 0) {
                    comm.barrier();
                } else {
                    comm.barrierAsync().await();
                }
                assertThat(arrived.get()).isGreaterThanOrEqualTo(5 * round);
            }
        });
    }
}
