package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.tutti.Collective;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Protocol;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What lanes that cannot go on do. */
@Timeout(20)
class LaneMachineTest {
    private static final int SIZE = 4;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTimeOutWhenOneOfSeveralPeersIsMissing(boolean stepped) throws InterruptedException {
        Ranks ranks = new Ranks(
                SIZE,
                64 << 10,
                64 << 10,
                0,
                call -> Algorithms.find(call.collective(), "one-shot", Protocol.SIMPLE)
                        .orElseThrow()
                        .plan(SIZE, 0, 2));
        ranks.run(rank -> {
            if (rank.rank == SIZE - 1) {
                return;
            }
            MemorySegment memory = Arena.ofAuto().allocate(800, 8);
            Call call = new Call().of(Collective.ALL_REDUCE, DataType.INT64, ReduceOp.SUM, 0, 100);
            call.input().setAddress(memory.address(), 800);
            call.output().setAddress(memory.address(), 800);
            call.uniform(SIZE);
            call.timeoutNanos(TimeUnit.SECONDS.toNanos(1));
            Throwable thrown = catchThrowable(() -> {
                if (stepped) {
                    rank.step(call);
                } else {
                    rank.execution.run(call);
                }
            });
            assertThat(thrown).isInstanceOf(CollectiveTimeoutException.class);
        });
    }
}
