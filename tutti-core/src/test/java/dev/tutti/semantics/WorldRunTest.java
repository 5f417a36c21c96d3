package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tutti.AbortedException;
import dev.tutti.Communicator;
import dev.tutti.PeerFailedException;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A world runs its ranks, gives back what they return, and throws what the first one threw. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class WorldRunTest {
    private static Object run(Runnable action) {
        action.run();
        return null;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 32})
    void shouldReturnResultsInRankOrder(int ranks) {
        assertThat(World.local(ranks).call(Communicator::rank))
                .containsExactlyElementsOf(IntStream.range(0, ranks).boxed().toList());
        assertThat(World.local(ranks).virtualThreads().call(comm -> comm.size() * 100 + comm.rank()))
                .containsExactlyElementsOf(IntStream.range(0, ranks)
                        .map(i -> ranks * 100 + i)
                        .boxed()
                        .toList());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndTheOthersWithTheCauseWhenARankThrows(boolean virtual) {
        RuntimeException original = new IllegalStateException("out of coffee");
        AtomicReferenceArray<Throwable> seen = new AtomicReferenceArray<>(3);
        World.Local world = virtual ? World.local(3).virtualThreads() : World.local(3);
        Throwable thrown = thrownBy(() -> run(() -> world.run(comm -> {
            comm.barrier();
            if (comm.rank() == 1) {
                throw original;
            }
            Throwable mine = thrownBy(() -> run(comm::barrier));
            seen.set(comm.rank(), mine);
            throw (RuntimeException) mine;
        })));
        assertThat(thrown).isSameAs(original);
        for (int rank : new int[] {0, 2}) {
            assertThat(seen.get(rank))
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContainingAll("rank 1 failed", "out of coffee")
                    .hasRootCause(original);
        }
    }

    @Test
    void shouldEndTheOthersWhenARankThrowsBeforeAnyOperation() {
        RuntimeException original = new RuntimeException("early");
        Throwable thrown = thrownBy(() -> run(() -> World.local(4).run(comm -> {
            if (comm.rank() == 3) {
                throw original;
            }
            comm.allReduce(new float[100_000], ReduceOp.SUM);
        })));
        assertThat(thrown).isSameAs(original);
    }

    @Test
    void shouldEndTheOthersOnEveryCommunicatorWhenARankThrows() {
        RuntimeException original = new RuntimeException("deep");
        CountDownLatch made = new CountDownLatch(4);
        AtomicReferenceArray<Throwable> seen = new AtomicReferenceArray<>(4);
        Throwable thrown = thrownBy(() -> run(() -> World.local(4).run(comm -> {
            Communicator half = comm.split(comm.rank() % 2, comm.rank());
            Communicator copy = half.dup();
            made.countDown();
            if (comm.rank() == 2) {
                // Whoever has not made its communicators yet would fail at that.
                made.await();
                throw original;
            }
            Throwable mine = thrownBy(() -> run(comm.rank() == 0 ? copy::barrier : comm::barrier));
            seen.set(comm.rank(), mine);
        })));
        assertThat(thrown).isSameAs(original);
        for (int rank : new int[] {0, 1, 3}) {
            assertThat(seen.get(rank))
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContaining(rank == 0 ? "rank 1 (rank 2 of the world) failed" : "rank 2 failed");
        }
    }

    @Test
    void shouldEndTheOthersWhenARankThrowsBeforeItHasJoinedASplit() {
        RuntimeException original = new RuntimeException("on the way");
        CountDownLatch made = new CountDownLatch(1);
        AtomicReferenceArray<Throwable> seen = new AtomicReferenceArray<>(1);
        Throwable thrown = thrownBy(() -> run(() -> World.local(2).run(comm -> {
            if (comm.rank() == 1) {
                // What a split exchanges; then this rank is gone before it has made the new communicator.
                comm.allGather(new long[] {0, 1}, new long[4]);
                made.await();
                throw original;
            }
            Communicator child = comm.split(0, 0);
            made.countDown();
            seen.set(0, thrownBy(() -> run(child::barrier)));
        })));
        assertThat(thrown).isSameAs(original);
        assertThat(seen.get(0))
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("rank 1 failed: " + original);
    }

    @Test
    void shouldThrowAnErrorAsItIs() {
        StackOverflowError original = new StackOverflowError();
        assertThat(thrownBy(() -> run(() -> World.local(2).run(comm -> {
                    if (comm.rank() == 0) {
                        throw original;
                    }
                    comm.barrier();
                }))))
                .isSameAs(original);
    }

    @Test
    void shouldWrapACheckedExceptionAndNotInterruptTheCaller() {
        for (Exception original : new Exception[] {new IOException("disk"), new InterruptedException("theirs")}) {
            Throwable thrown = thrownBy(() -> run(() -> World.local(2).run(comm -> {
                if (comm.rank() == 1) {
                    throw original;
                }
                comm.barrier();
            })));
            assertThat(thrown)
                    .isInstanceOf(AbortedException.class)
                    .hasMessage("rank 1 of 'world' failed: " + original)
                    .hasCause(original);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    @Test
    void shouldEndTheRanksWhenTheCallerIsInterrupted() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        Blocked caller = Blocked.in(() -> World.local(2).run(comm -> {
            if (comm.rank() == 0) {
                inside.countDown();
                comm.barrier();
            } else {
                new CountDownLatch(1).await();
            }
        }));
        inside.await();
        caller.interrupt();
        assertThat(caller.thrown())
                .isInstanceOf(AbortedException.class)
                .hasMessage("interrupted while the ranks of 'world' ran");
        assertThat(caller.wasInterruptedAtItsEnd()).isTrue();
    }

    @Test
    void shouldRefuseAnImpossibleNumberOfRanks() {
        assertThatIllegalArgumentException().isThrownBy(() -> World.local(0));
        assertThatIllegalArgumentException().isThrownBy(() -> World.local(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> World.local(70_000));
        try (World world = World.local(2).open()) {
            assertThatIllegalArgumentException().isThrownBy(() -> world.communicator(-1));
            assertThatIllegalArgumentException().isThrownBy(() -> world.communicator(2));
        }
    }

    @Test
    void shouldCloseEveryCommunicatorWithTheWorld() throws Exception {
        World world = World.local(2).open();
        Communicator comm = world.communicator(0);
        Blocked inside = Blocked.in(comm::barrier);
        world.close();
        world.close();
        assertThat(inside.thrown()).hasMessageContaining("closed");
    }

    @Test
    void shouldKeepNothingOpenWhenWorldsComeAndGo() {
        for (int i = 0; i < 200; i++) {
            World.local(3).run(comm -> {
                try (Communicator copy = comm.dup()) {
                    copy.barrier();
                }
                comm.dup().barrier();
            });
        }
    }
}
