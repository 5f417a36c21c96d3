package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Protocol;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A fold that takes long: whoever announces its result before it is there is found out. */
@Timeout(30)
class SlowFoldTest {
    private static final int SIZE = 4;
    private static final int COUNT = 40;

    /** Adds, from the last element on, with a pause before each. */
    private static final ReduceOp SLOW_SUM =
            ReduceOp.of(new ReduceFunction("slow sum", DataType.INT64, true, (accumulator, input, count) -> {
                for (long i = count - 1; i >= 0; i--) {
                    for (int spin = 0; spin < 200; spin++) {
                        Thread.onSpinWait();
                    }
                    accumulator.setAtIndex(
                            ValueLayout.JAVA_LONG,
                            i,
                            accumulator.getAtIndex(ValueLayout.JAVA_LONG, i)
                                    + input.getAtIndex(ValueLayout.JAVA_LONG, i));
                }
            }));

    static Stream<Algorithm> algorithms() {
        return Stream.of(Collective.ALL_REDUCE, Collective.SCAN)
                .flatMap(collective -> Algorithms.of(collective).stream())
                .filter(algorithm -> algorithm.protocol() == Protocol.SIMPLE);
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldSignalAfterTheResultIsThereWhenAFoldIsSlow(Algorithm algorithm) throws InterruptedException {
        for (boolean interprets : List.of(true, false)) {
            Ranks ranks = new Ranks(SIZE, 64 << 10, 64 << 10, 0, call -> algorithm.plan(SIZE, 0, 1));
            ranks.run(rank -> {
                rank.endpoint.usesInterpreter = interprets;
                for (int launch = 1; launch <= 5; launch++) {
                    check(rank, algorithm.collective(), launch);
                }
            });
        }
    }

    private static void check(Ranks.Rank rank, Collective collective, int launch) {
        MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, COUNT);
        for (int i = 0; i < COUNT; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG, i, (long) launch * (i + 1));
        }
        Call call = new Call().of(collective, DataType.INT64, SLOW_SUM, 0, COUNT);
        call.input().setAddress(memory.address(), memory.byteSize());
        call.output().setAddress(memory.address(), memory.byteSize());
        call.uniform(SIZE);
        call.timeoutNanos(Ranks.TIMEOUT_NANOS);
        rank.execution.run(call);
        int ranks = collective == Collective.SCAN ? rank.rank + 1 : SIZE;
        for (int i = 0; i < COUNT; i++) {
            assertThat(memory.getAtIndex(ValueLayout.JAVA_LONG, i))
                    .as("element %d of launch %d on rank %d", i, launch, rank.rank)
                    .isEqualTo((long) ranks * launch * (i + 1));
        }
    }
}
