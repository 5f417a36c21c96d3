package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.memory.Memory;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** After 2³² launches flags come round: packets of the first time must not be taken for new ones. */
@Timeout(30)
class WrapTest {
    private static Plan packets(Call call, int size) {
        return Algorithms.find(call.collective(), "one-shot", Protocol.PACKET)
                .orElseThrow()
                .plan(size, call.root(), 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void shouldNotTakeOldPacketsForNewWhenFlagsComeRound(int size) throws InterruptedException {
        CyclicBarrier allHere = new CyclicBarrier(size);
        new Ranks(size, 16 << 10, 16 << 10, 0, call -> packets(call, size)).run(rank -> {
            // Flag 2 is the first after the wrap, too.
            allReduces(rank, size, 0, 2);
            allHere.await();
            // As if all launches in between had been made with other plans.
            long before = (1L << 32) - 1 - rank.endpoint.size % 2;
            rank.endpoint.launch = before;
            rank.endpoint.heardFromAll = before;
            rank.endpoint.board.publishFinished(before);
            allHere.await();
            allReduces(rank, size, 1000, 12);
        });
    }

    private static void allReduces(Ranks.Rank rank, int size, long start, int launches) {
        MemorySegment memory = Arena.ofAuto().allocate(16, 8);
        for (int i = 0; i < launches; i++) {
            Memory.putLong(memory.address(), start + 10 * i + rank.rank);
            Call call = new Call().of(Collective.ALL_REDUCE, DataType.INT64, ReduceOp.SUM, 0, 1);
            call.input().setAddress(memory.address(), 8);
            call.output().setAddress(memory.address() + 8, 8);
            call.uniform(size);
            call.timeoutNanos(Ranks.TIMEOUT_NANOS);
            if (rank.rank == size - 1) {
                // Late, so that the others look at its packets before it has written them.
                for (int spin = 0; spin < 20_000; spin++) {
                    Thread.onSpinWait();
                }
            }
            rank.execution.run(call);
            assertThat(Memory.getLong(memory.address() + 8))
                    .as("launch " + i + " after " + start)
                    .isEqualTo(size * (start + 10L * i) + size * (size - 1) / 2);
        }
    }
}
