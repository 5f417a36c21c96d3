package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.spi.RegionLayout;
import dev.tutti.transport.local.LocalTransport;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long messages are cut. */
class ShapeTest {
    private static final long SCRATCH_BYTES = 2 << 20;

    /** A fourth of the scratch for a launch, in chunks that are neither too long nor too short; where ranks share cores shorter ones do. */
    @ParameterizedTest
    @CsvSource({"2, 256, 256", "4, 128, 128", "8, 128, 64", "16, 128, 64"})
    void shouldCutMessagesShorterWhereManyRanksShareCores(int ranks, long kilobytes, long kilobytesOnSharedCores) {
        assertThat(window(ranks, false)).isEqualTo(kilobytes << 10);
        assertThat(window(ranks, true)).isEqualTo(kilobytesOnSharedCores << 10);
    }

    /** Bytes of a block that one launch of an all-to-all covers. */
    private static long window(int ranks, boolean sharesCores) {
        Plan plan = Algorithms.find(Collective.ALL_TO_ALL, "one-shot", Protocol.SIMPLE)
                .orElseThrow()
                .plan(ranks, 0, 1);
        Call call = new Call().of(Collective.ALL_TO_ALL, DataType.FLOAT32, null, 0, 1 << 20);
        call.uniform(ranks);
        return new Shape(call, plan, endpoint(ranks, sharesCores)).window;
    }

    private static Endpoint endpoint(int ranks, boolean sharesCores) {
        int[] everybody = IntStream.range(0, ranks).toArray();
        RegionLayout layout = new RegionLayout(ranks, 8, 1 << 16, SCRATCH_BYTES);
        return new Endpoint(
                new LocalTransport(ranks).join(1, 0, everybody, layout),
                "test",
                0,
                ranks,
                0,
                TimeUnit.MINUTES.toNanos(1),
                sharesCores);
    }
}
