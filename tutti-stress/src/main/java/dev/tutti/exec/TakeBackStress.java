package dev.tutti.exec;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A post that was shown before, taken back and written anew: who sees its new signature sees all that it shows, in each of its lines. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the old post, or one that is taken back")
@Outcome(id = "7, 8", expect = ACCEPTABLE, desc = "the new post")
@Outcome(expect = FORBIDDEN, desc = "the new signature without what it shows")
@State
public class TakeBackStress {
    private static final Slots SLOTS = new Slots(256);
    private static final long OLD = 1L << 32;
    private static final long NEW = 2L << 32;
    private static final int SECOND = RegionLayout.POST_LINE;

    private final long post = SLOTS.take();

    public TakeBackStress() {
        write(1, 2);
        Posts.show(post, OLD);
    }

    private void write(long first, long second) {
        Memory.putLong(post + 8, first);
        Memory.putLong(post + SECOND, second);
    }

    @Actor
    public void show() {
        Posts.takeBack(post, SECOND + 8);
        write(7, 8);
        Posts.show(post, NEW);
    }

    @Actor
    public void read(II_Result result) {
        if (Memory.getLongAcquire(post) == NEW) {
            result.r1 = (int) Memory.getLong(post + 8);
            result.r2 = (int) Memory.getLong(post + SECOND);
        }
    }
}
