package dev.tutti.exec;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import dev.tutti.transport.local.LocalTransport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** What was written before a post, into it or elsewhere, is there when the post is. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing yet")
@Outcome(id = "7, 8", expect = ACCEPTABLE, desc = "the post and what it shows")
@Outcome(expect = FORBIDDEN, desc = "a post without what it shows")
@State
public class PostStress {
    private static final Slots SLOTS = new Slots(256);
    private static final Endpoint READER;

    static {
        LocalTransport transport = new LocalTransport(2);
        RegionLayout layout = new RegionLayout(2, 1, 4096, 4096);
        READER = new Endpoint(transport.join(1, 1, new int[] {0, 1}, layout), "stress", 1, 2, 0, 1_000_000_000);
        READER.signature = 42;
        // A post of memory that is still 0 is one of no launch; this launch's is the first of its rank.
        READER.launch = RegionLayout.POSTS;
    }

    private final long post = SLOTS.take();
    private final long ring = post + 128;
    private final long[] fetch = {Records.header(Records.FETCH, 1, 0, 0, 3), post, 0};

    @Actor
    public void show() {
        Memory.putLong(post + 8, 7);
        Memory.putLong(ring, 8);
        Posts.show(post, READER.signed(42));
    }

    @Actor
    public void read(II_Result result) {
        if (READER.posts.arrived(fetch, 0, 0) == 1) {
            result.r1 = (int) Memory.getLong(post + 8);
            result.r2 = (int) Memory.getLong(ring);
        }
    }
}
