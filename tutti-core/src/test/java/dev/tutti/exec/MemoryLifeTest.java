package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.AbortedException;
import dev.tutti.Asleep;
import dev.tutti.Buffer;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.World;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory that goes away while operations are under way. */
@Timeout(20)
class MemoryLifeTest {
    private static World.Local world(int ranks) {
        return World.local(ranks).config(Config.fromEnvironment().with(Config.Key.TIMEOUT, "10s"));
    }

    @Test
    void shouldCloseABufferWhenAnotherRankWaitsForTheOneThatCloses() {
        AtomicReference<Thread> waiting = new AtomicReference<>();
        world(2).run(comm -> {
            Buffer buffer = comm.allocate(DataType.FLOAT32, 100);
            comm.allReduce(buffer, ReduceOp.SUM);
            if (comm.rank() == 1) {
                waiting.set(Thread.currentThread());
                comm.barrier();
                buffer.close();
            } else {
                while (waiting.get() == null || !Asleep.is(waiting.get())) {
                    Thread.yield();
                }
                buffer.close();
                comm.barrier();
            }
        });
    }

    @Test
    void shouldRefuseABufferWhenItHasBeenClosed() {
        world(1).run(comm -> {
            Buffer buffer = comm.allocate(DataType.FLOAT32, 100);
            Buffer part = buffer.slice(10, 20);
            buffer.close();
            assertThatThrownBy(() -> comm.allReduce(part, ReduceOp.SUM)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> comm.allReduce(List.of(part), ReduceOp.SUM))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> comm.allReduceAsync(part, ReduceOp.SUM)).isInstanceOf(IllegalStateException.class);
            comm.barrier();
        });
    }

    @Test
    void shouldWaitForTheEndWhenTheBufferIsStillInUse() {
        CountDownLatch closed = new CountDownLatch(1);
        CountDownLatch peerMayGoOn = new CountDownLatch(1);
        world(2).run(comm -> {
            if (comm.rank() == 1) {
                comm.barrier();
                peerMayGoOn.await();
                assertThat(closed.getCount()).isEqualTo(1);
                comm.allReduce(comm.allocate(DataType.FLOAT32, 100), ReduceOp.SUM);
                return;
            }
            Buffer buffer = comm.allocate(DataType.FLOAT32, 100);
            comm.barrier();
            Work work = comm.allReduceAsync(buffer, ReduceOp.SUM);
            Thread closer = Thread.ofPlatform().start(() -> {
                buffer.close();
                assertThat(work.isDone()).isTrue();
                closed.countDown();
            });
            peerMayGoOn.countDown();
            work.await();
            closed.await();
            closer.join();
        });
    }

    @Test
    void shouldFailEverywhereWhenAnArenaIsClosedInTheMiddle() {
        CountDownLatch isClosed = new CountDownLatch(1);
        AtomicReference<Throwable> owner = new AtomicReference<>();
        AtomicReference<Throwable> peer = new AtomicReference<>();
        long bytes = 64L << 20;
        try {
            world(2).run(comm -> {
                if (comm.rank() == 1) {
                    isClosed.await();
                    try {
                        comm.allReduce(Buffer.of(new byte[(int) bytes], DataType.INT8), ReduceOp.SUM);
                    } catch (RuntimeException thrown) {
                        peer.set(thrown);
                    }
                    return;
                }
                Arena arena = Arena.ofShared();
                Work work = comm.allReduceAsync(Buffer.of(arena.allocate(bytes), DataType.INT8), ReduceOp.SUM);
                while (!tryClose(arena)) {
                    Thread.onSpinWait();
                }
                isClosed.countDown();
                try {
                    work.await();
                } catch (RuntimeException thrown) {
                    owner.set(thrown);
                }
            });
        } catch (RuntimeException aborted) {
            // closing after an abort may say so again
        }
        assertThat(owner.get()).isNotNull();
        assertThat(peer.get()).isInstanceOf(AbortedException.class).hasMessageContaining("failed on rank 0");
    }

    private static boolean tryClose(Arena arena) {
        try {
            arena.close();
            return true;
        } catch (IllegalStateException copying) {
            return false;
        }
    }

    @Test
    void shouldTakeHeapSegmentsWhenTheyAreEmpty() {
        world(2).run(comm -> {
            Buffer none = Buffer.of(MemorySegment.ofArray(new byte[8]).asSlice(8), DataType.INT32);
            Buffer nothing = Buffer.of(MemorySegment.ofArray(new byte[0]), DataType.INT32);
            comm.allReduce(none, nothing, ReduceOp.SUM);
            comm.allReduceAsync(nothing, Buffer.of(new int[0]), ReduceOp.SUM).await();
        });
    }

    @Test
    void shouldReachConfinedMemoryWhenAVirtualThreadCalls() {
        world(3).virtualThreads().run(comm -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment own = arena.allocate(ValueLayout.JAVA_INT, 6);
                for (int i = 0; i < 6; i++) {
                    own.setAtIndex(ValueLayout.JAVA_INT, i, 10 * comm.rank() + i);
                }
                Buffer all = Buffer.of(own, DataType.INT32);
                comm.allToAll(all, all);
                assertThat(own.getAtIndex(ValueLayout.JAVA_INT, 5)).isEqualTo(20 + 2 * comm.rank() + 1);
                comm.allReduce(List.of(all.slice(0, 2), all.slice(2, 4)), ReduceOp.MAX);
                assertThat(own.getAtIndex(ValueLayout.JAVA_INT, 5)).isEqualTo(25);
            }
        });
    }
}
