package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import dev.tutti.transport.local.LocalTransport;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PostsTest {
    /** Ranks that wait in the background look again and again; if each look woke the others, they would keep each other awake. */
    @Test
    void shouldWakeSleepersOnceForALaunch() {
        LocalTransport transport = new LocalTransport(2);
        RegionLayout layout = new RegionLayout(2, 1, 4096, 4096);
        int[] everybody = {0, 1};
        Endpoint waiting = endpoint(transport, layout, 0, everybody);
        Endpoint sleeping = endpoint(transport, layout, 1, everybody);
        long bell = sleeping.bell.address();

        waiting.nextLaunch();
        waiting.posts.post(new long[] {Records.header(Records.POST, 0, 0, 0, 1)}, 0);
        assertThat(rings(waiting, bell, 3)).isOne();
        waiting.nextLaunch();
        assertThat(rings(waiting, bell, 3)).isOne();
    }

    /** Two ranks write to their next post while the peer reads this one, or, if it is late, the last one. */
    @Test
    void shouldTakeBackNoPostThatMayStillBeRead() {
        for (long launch = 1; launch < 2 * RegionLayout.MEETINGS; launch++) {
            long next = Posts.meetingOffset(launch + 1);
            for (long read = launch - 1; read <= launch; read++) {
                assertThat(Math.abs(next - Posts.meetingOffset(read)))
                        .isGreaterThanOrEqualTo(RegionLayout.MEETING_POST_BYTES);
            }
        }
    }

    private static int rings(Endpoint waiting, long bell, int looks) {
        int before = Memory.getIntAcquire(bell);
        for (int i = 0; i < looks; i++) {
            Memory.putIntVolatile(bell + RegionLayout.SLEEPING, 1);
            waiting.posts.ringOnce();
        }
        return Memory.getIntAcquire(bell) - before;
    }

    private static Endpoint endpoint(LocalTransport transport, RegionLayout layout, int rank, int[] everybody) {
        return new Endpoint(
                transport.join(1, rank, everybody, layout), "test", rank, 2, 0, TimeUnit.MINUTES.toNanos(1));
    }
}
