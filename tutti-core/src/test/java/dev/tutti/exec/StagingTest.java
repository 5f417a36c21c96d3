package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory that windows of heap arrays go through on their way into packets. */
@Timeout(30)
class StagingTest {
    private static Plan oneShot(Call call) {
        return Algorithms.find(call.collective(), "one-shot", Protocol.PACKET)
                .orElseThrow()
                .plan(2, 0, 1);
    }

    private static Call call(float[] x) {
        Call call = new Call().of(Collective.ALL_REDUCE, DataType.FLOAT32, ReduceOp.SUM, 0, x.length);
        call.input().setArray(x, 0, 4L * x.length);
        call.output().setArray(x, 0, 4L * x.length);
        call.uniform(2);
        call.timeoutNanos(Ranks.TIMEOUT_NANOS);
        call.makeRepeatable();
        return call;
    }

    @Test
    void shouldLeaveOldStagingMemoryAloneWhenALongerCallHasReplacedIt() throws InterruptedException {
        new Ranks(2, 1 << 20, 1 << 16, 0, StagingTest::oneShot).run(rank -> {
            float[] x = {1};
            Call small = call(x);
            rank.execution.run(small);
            long before = small.againInput;
            assertThat(small.again).isNotNull();
            rank.execution.run(call(new float[100_000]));
            rank.execution.run(small);
            assertThat(x).containsExactly(4);
            // Nobody holds the old memory any more: the collector may have freed it.
            assertThat(small.againInput).isNotEqualTo(before);
        });
    }
}
