package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.AbortedException;
import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An interrupt ends the wait, keeps the flag, and takes the other ranks along. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class InterruptTest {
    private World world;
    private Communicator first;
    private Communicator second;
    private Communicator third;

    @BeforeEach
    void open() {
        world = World.local(3).open();
        first = world.communicator(0);
        second = world.communicator(1);
        third = world.communicator(2);
    }

    @AfterEach
    void close() {
        world.close();
    }

    private void assertAborted(Blocked interrupted, Blocked peer) throws Exception {
        assertThat(interrupted.thrown())
                .isInstanceOf(AbortedException.class)
                .hasMessageContainingAll("rank 0", "interrupted");
        assertThat(interrupted.wasInterruptedAtItsEnd()).isTrue();
        assertThat(peer.thrown()).isInstanceOf(AbortedException.class).hasMessageContainingAll("rank 0", "interrupted");
        assertThat(peer.wasInterruptedAtItsEnd()).isFalse();
        assertThat(thrownBy(() -> {
                    third.barrier();
                    return null;
                }))
                .isInstanceOf(AbortedException.class)
                .hasMessageContainingAll("rank 0", "interrupted");
    }

    @Test
    void shouldAbortWhenABlockingCallIsInterrupted() throws Exception {
        Blocked inside = Blocked.in(() -> first.allReduce(new int[5], ReduceOp.SUM));
        Blocked peer = Blocked.in(() -> second.allReduce(new int[5], ReduceOp.SUM));
        inside.interrupt();
        assertAborted(inside, peer);
        assertThat(inside.thrown()).hasMessageContaining("allReduce of 5 int32 sum (#1)");
    }

    @Test
    void shouldAbortWhenAnAwaitIsInterrupted() throws Exception {
        Blocked inside = Blocked.in(
                () -> first.allReduceAsync(Buffer.of(new int[5]), ReduceOp.SUM).await());
        Blocked peer = Blocked.in(
                () -> second.allReduceAsync(Buffer.of(new int[5]), ReduceOp.SUM).await());
        inside.interrupt();
        assertAborted(inside, peer);
    }

    @Test
    void shouldAbortWhenALargeOperationIsInterrupted() throws Exception {
        Blocked inside = Blocked.in(() -> first.broadcast(new int[1 << 20], 1));
        Blocked peer = Blocked.in(() -> third.broadcast(new int[1 << 20], 1));
        inside.interrupt();
        assertThat(inside.thrown()).isInstanceOf(AbortedException.class);
        assertThat(peer.thrown()).isInstanceOf(AbortedException.class).hasMessageContaining("interrupted");
    }

    @Test
    void shouldAbortWhenAThreadBehindAnotherIsInterrupted() throws Exception {
        Blocked inside = Blocked.in(first::barrier);
        Blocked behind = Blocked.in(first::barrier);
        behind.interrupt();
        assertThat(behind.thrown()).isInstanceOf(AbortedException.class).hasMessageContaining("interrupted");
        assertThat(behind.wasInterruptedAtItsEnd()).isTrue();
        assertThat(inside.thrown()).isInstanceOf(AbortedException.class).hasMessageContaining("interrupted");
        assertThat(thrownBy(() -> {
                    second.barrier();
                    return null;
                }))
                .hasMessageContaining("interrupted");
    }

    @Test
    void shouldAbortWhenAVirtualThreadIsInterrupted() throws Exception {
        Throwable[] thrown = new Throwable[1];
        boolean[] flag = new boolean[1];
        Thread virtual = Thread.ofVirtual().start(() -> {
            thrown[0] = thrownBy(() -> {
                first.barrier();
                return null;
            });
            flag[0] = Thread.currentThread().isInterrupted();
        });
        Blocked peer = Blocked.in(second::barrier);
        while (virtual.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        virtual.interrupt();
        virtual.join();
        assertThat(thrown[0]).isInstanceOf(AbortedException.class).hasMessageContaining("interrupted");
        assertThat(flag[0]).isTrue();
        assertThat(peer.thrown()).isInstanceOf(AbortedException.class).hasMessageContaining("interrupted");
    }

    @Test
    void shouldTellEveryRankWhoWasInterrupted() {
        TestWorld.Latch over = TestWorld.latch(1);
        Outcomes outcomes = Outcomes.of(3, comm -> {
            if (comm.rank() == 1) {
                Blocked inside = Blocked.in(() -> comm.allReduce(new int[5], ReduceOp.SUM));
                inside.interrupt();
                assertThat(inside.wasInterruptedAtItsEnd()).isTrue();
                over.countDown();
            } else if (comm.rank() == 2) {
                over.await();
            }
            comm.allReduce(new int[5], ReduceOp.SUM);
        });
        outcomes.assertAll(AbortedException.class, "rank 1", "interrupted");
    }

    @Test
    void shouldNotNoticeAnInterruptWhenNothingHasToWait() {
        TestWorld.of(1).run(comm -> {
            Thread.currentThread().interrupt();
            int[] values = {3};
            comm.allReduce(values, ReduceOp.SUM);
            assertThat(values).containsExactly(3);
            assertThat(Thread.interrupted()).isTrue();
        });
    }
}
