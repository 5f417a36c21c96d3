package dev.tutti.semantics;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.World;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Launches are counted in 32 bits where packets carry them; nothing is lost or taken twice when they come round. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LaunchWrapTest {
    private static World.Local world(int ranks, long firstLaunch) {
        return World.local(ranks).config(Outcomes.config(Config.Key.FIRST_LAUNCH, Long.toString(firstLaunch)));
    }

    @ParameterizedTest
    @CsvSource({
        "1, 4294967293", "2, 4294967293", "3, 4294967293", "4, 4294967293", "5, 4294967293", "3, 4294967290",
        "3, 4294967291", "3, 4294967292", "3, 4294967294", "3, 4294967295", "3, 4294967296", "3, 8589934590"
    })
    void shouldComputeTheSameBeforeAndAfterTheWrap(int ranks, long firstLaunch) {
        for (int first = 0; first < 4; first++) {
            int from = first;
            world(ranks, firstLaunch).run(comm -> {
                for (int round = from; round < from + 6; round++) {
                    // Packets, slots and several windows, in place and not, blocking, started, prepared.
                    Exchange.all(comm, new int[] {1, 13, 3_000, 0}[round % 4], round);
                }
                Exchange.all(comm, 10_000, from);
            });
        }
    }

    /** A root that waits for nobody, others that are late: the slowest reader decides when memory is cleared. */
    @ParameterizedTest
    @CsvSource({"2, 4294967293", "5, 4294967293", "5, 4294967295"})
    void shouldNotRunAheadOverTheWrap(int ranks, long firstLaunch) {
        world(ranks, firstLaunch).run(comm -> {
            for (int round = 0; round < 200; round++) {
                int[] values = {comm.rank() == 0 ? round : -1, 0, 0};
                comm.broadcast(values, 0);
                check(values[0], round);
                values[1] = comm.rank();
                comm.reduce(values, ReduceOp.MAX, ranks - 1);
                check(values[0], round);
            }
        });
    }

    private static void check(int actual, int expected) {
        if (actual != expected) {
            throw new AssertionError("expected " + expected + ", got " + actual);
        }
    }

    @ParameterizedTest
    @CsvSource({"2, false", "3, false", "5, false", "3, true"})
    void shouldKeepStartedOperationsInOrderOverTheWrap(int ranks, boolean virtual) {
        World.Local world = world(ranks, 4294967293L - 20);
        (virtual ? world.virtualThreads() : world).run(comm -> {
            List<int[]> values = new ArrayList<>();
            List<Work> works = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                int[] each = new int[i % 7 == 0 ? 2_000 : 1 + i % 5];
                each[0] = comm.rank() + i;
                values.add(each);
                works.add(comm.allReduceAsync(Buffer.of(each), ReduceOp.SUM));
            }
            works.forEach(Work::await);
            for (int i = 0; i < values.size(); i++) {
                check(values.get(i)[0], ranks * (ranks - 1) / 2 + ranks * i);
            }
            split(comm);
        });
    }

    /** Children begin anew, near their own wrap. */
    private static void split(Communicator comm) {
        try (Communicator half = comm.split(comm.rank() % 2, -comm.rank())) {
            for (int i = 0; i < 50; i++) {
                Exchange.all(half, 2, i);
            }
        }
    }
}
