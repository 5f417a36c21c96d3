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

/** Posts: one rank shows, another reads and says when it has finished. */
public final class PostStress {
    private static final RegionLayout LAYOUT = new RegionLayout(2, 1, 4096, 4096);

    private PostStress() {}

    /** Two ranks whose first launch is under way. */
    private static final class Pair {
        final Endpoint shows;
        final Endpoint reads;
        final long post;
        final long[] fetch;

        Pair() {
            LocalTransport transport = new LocalTransport(2);
            shows = new Endpoint(transport.join(1, 0, new int[] {0, 1}, LAYOUT), "stress", 0, 2, 0, 1_000_000_000);
            reads = new Endpoint(transport.join(1, 1, new int[] {0, 1}, LAYOUT), "stress", 1, 2, 0, 1_000_000_000);
            shows.signature = 42;
            reads.signature = 42;
            post = reads.posts.first(0);
            fetch = new long[] {Records.header(Records.FETCH, 1, 0, 0, 2), post};
        }
    }

    /** What was written before a post is there when the post is. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing yet")
    @Outcome(id = "1, 7", expect = ACCEPTABLE, desc = "the post and what it shows")
    @Outcome(expect = FORBIDDEN, desc = "a post without what it shows")
    @State
    public static class Shown {
        private final Pair pair = new Pair();

        @Actor
        public void show() {
            Memory.putLong(pair.post + 8, 7);
            pair.shows.posts.post();
        }

        @Actor
        public void read(II_Result result) {
            result.r1 = pair.reads.posts.arrived(pair.fetch, 0, 0);
            result.r2 = result.r1 == 0 ? 0 : (int) Memory.getLong(pair.post + 8);
        }
    }

    /** Whoever sees that a launch is finished may write its post anew: the reader has what it showed. */
    @JCStressTest
    @Outcome(id = "0, 7", expect = ACCEPTABLE, desc = "not finished yet: left alone")
    @Outcome(id = "1, 7", expect = ACCEPTABLE, desc = "finished, then written anew")
    @Outcome(expect = FORBIDDEN, desc = "written anew while it was read")
    @State
    public static class WrittenAnew {
        private final Pair pair = new Pair();

        public WrittenAnew() {
            Memory.putLong(pair.post + 8, 7);
            pair.shows.posts.post();
            pair.reads.nextLaunch();
            pair.shows.nextLaunch();
        }

        @Actor
        public void show(II_Result result) {
            if (pair.shows.finishedByAll() >= 1) {
                Memory.putLong(pair.post + 8, 8);
                result.r1 = 1;
            }
        }

        @Actor
        public void read(II_Result result) {
            result.r2 = (int) Memory.getLong(pair.post + 8);
            pair.reads.board().publishFinished(pair.reads.launch);
        }
    }
}
