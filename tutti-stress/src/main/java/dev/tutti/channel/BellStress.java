package dev.tutti.channel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Going to sleep while a peer writes. First number: 1 if the sleeper, after saying that it will sleep, found what the peer has
 * written; second: 1 if the bell has changed, so that it would not sleep, or would be woken.
 */
public final class BellStress {
    private BellStress() {}

    /** The sleeper makes the writer's fence. */
    @JCStressTest
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "saw nothing and was woken")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "saw it and did not sleep")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "saw it and was woken, for nothing")
    @Outcome(expect = FORBIDDEN, desc = "sleeps and nobody wakes it")
    @State
    public static class SleeperFences {
        private final Regions regions = new Regions(false);
        private final Bell sleeper = new Bell(regions, 0, 2);
        private final Bell writer = new Bell(regions, 1, 2);
        private int shown;

        @Actor
        public void sleep(II_Result result) {
            shown = sleeper.announceSleep();
            result.r1 = (int) Memory.getLongAcquire(regions.region(0) + RegionLayout.HISTORY);
        }

        @Actor
        public void write() {
            Memory.putLongRelease(regions.region(0) + RegionLayout.HISTORY, 1);
            writer.ring(0);
        }

        @Arbiter
        public void afterwards(II_Result result) {
            result.r2 = Memory.getIntAcquire(sleeper.address()) == shown ? 0 : 1;
        }
    }

    /** The writer fences. */
    @JCStressTest
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "saw nothing and was woken")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "saw it and did not sleep")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "saw it and was woken, for nothing")
    @Outcome(expect = FORBIDDEN, desc = "sleeps and nobody wakes it")
    @State
    public static class WriterFences {
        private final Regions regions = new Regions(true);
        private final Bell sleeper = new Bell(regions, 0, 2);
        private final Bell writer = new Bell(regions, 1, 2);
        private int shown;

        @Actor
        public void sleep(II_Result result) {
            shown = sleeper.announceSleep();
            result.r1 = (int) Memory.getLongAcquire(regions.region(0) + RegionLayout.HISTORY);
        }

        @Actor
        public void write() {
            Memory.putLongRelease(regions.region(0) + RegionLayout.HISTORY, 1);
            writer.ring(0);
        }

        @Arbiter
        public void afterwards(II_Result result) {
            result.r2 = Memory.getIntAcquire(sleeper.address()) == shown ? 0 : 1;
        }
    }
}
