package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Asleep;
import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.MismatchException;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations that are started end by themselves, in order, once. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class StartedTest {
    private static void spinUntilDone(Work work) {
        while (!work.isDone()) {
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void shouldEndWithoutAnybodyWaiting(int ranks) {
        TestWorld.of(ranks).run(comm -> {
            List<Work> works = new ArrayList<>();
            List<int[]> values = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                values.add(new int[] {i, comm.rank()});
                works.add(comm.allReduceAsync(Buffer.of(values.getLast()), ReduceOp.MAX));
            }
            works.forEach(StartedTest::spinUntilDone);
            for (int i = 0; i < 100; i++) {
                assertThat(values.get(i)).containsExactly(i, ranks - 1);
                assertThat(works.get(i).error()).isNull();
            }
        });
    }

    @Test
    void shouldRunInCallOrderWithBlockingCallsBetween() {
        TestWorld.of(3).run(comm -> {
            int[] running = {1};
            for (int i = 0; i < 500; i++) {
                Work first = comm.allReduceAsync(Buffer.of(running), ReduceOp.SUM);
                Work second = comm.broadcastAsync(Buffer.of(running), i % 3);
                comm.allReduce(running, ReduceOp.MAX);
                assertThat(first.isDone()).isTrue();
                assertThat(second.isDone()).isTrue();
                assertThat(running).containsExactly(3);
                running[0] = 1;
            }
        });
    }

    @Test
    void shouldInterleaveCommunicatorsInAnyOrder() {
        TestWorld.of(2).run(comm -> {
            try (Communicator copy = comm.dup()) {
                for (int i = 0; i < 100; i++) {
                    int[] a = {comm.rank()};
                    int[] b = {comm.rank() + 10};
                    Communicator first = comm.rank() == 0 ? comm : copy;
                    Communicator second = comm.rank() == 0 ? copy : comm;
                    Work one = first.allReduceAsync(Buffer.of(first == comm ? a : b), ReduceOp.SUM);
                    Work two = second.allReduceAsync(Buffer.of(second == comm ? a : b), ReduceOp.SUM);
                    one.await();
                    two.await();
                    assertThat(a).containsExactly(1);
                    assertThat(b).containsExactly(21);
                }
            }
        });
    }

    @Test
    void shouldCallBackOnceWhenDoneOrAtOnceWhenOver() {
        TestWorld.of(2).run(comm -> {
            AtomicInteger calls = new AtomicInteger();
            CountDownLatch both = new CountDownLatch(2);
            Work work = comm.barrierAsync();
            work.onComplete(error -> {
                assertThat(error).isNull();
                calls.incrementAndGet();
                both.countDown();
            });
            work.onComplete(_ -> both.countDown());
            CompletableFuture<Void> future = work.toCompletableFuture();
            both.await();
            future.join();
            work.await();
            work.onComplete(_ -> calls.incrementAndGet());
            assertThat(calls).hasValue(2);
        });
    }

    @Test
    void shouldGoOnWhenACallbackThrows() {
        Logger logger = Logger.getLogger("dev.tutti");
        logger.setLevel(Level.OFF);
        TestWorld.of(2).run(comm -> {
            for (int i = 0; i < 3; i++) {
                CountDownLatch second = new CountDownLatch(1);
                Work work = comm.barrierAsync();
                work.onComplete(_ -> {
                    throw new IllegalStateException("callback");
                });
                work.onComplete(_ -> second.countDown());
                second.await();
                spinUntilDone(comm.barrierAsync());
                work.await();
            }
        });
        logger.setLevel(null);
    }

    @Test
    void shouldStartTheNextOperationFromACallback() {
        TestWorld.of(2).run(comm -> {
            int[] values = {1};
            CompletableFuture<Void> end = new CompletableFuture<>();
            chain(comm, values, 20, end);
            end.get(20, TimeUnit.SECONDS);
            assertThat(values).containsExactly(1 << 20);
        });
    }

    private static void chain(Communicator comm, int[] values, int left, CompletableFuture<Void> end) {
        if (left == 0) {
            end.complete(null);
            return;
        }
        comm.allReduceAsync(Buffer.of(values), ReduceOp.SUM).onComplete(error -> {
            if (error != null) {
                end.completeExceptionally(error);
            } else {
                chain(comm, values, left - 1, end);
            }
        });
    }

    @Test
    void shouldTellTheErrorEverywhere() {
        Outcomes outcomes = Outcomes.of(2, comm -> {
            Work work = comm.allReduceAsync(Buffer.of(new int[3 + comm.rank()]), ReduceOp.SUM);
            CompletableFuture<Void> future = work.toCompletableFuture();
            spinUntilDone(work);
            assertThat(work.error()).isInstanceOf(MismatchException.class);
            assertThat(thrownBy(future::join))
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(MismatchException.class);
            for (int i = 0; i < 2; i++) {
                assertThat(thrownBy(() -> {
                            work.await();
                            return null;
                        }))
                        .isInstanceOf(MismatchException.class)
                        .hasCauseInstanceOf(MismatchException.class);
            }
            work.await();
        });
        outcomes.assertAll(MismatchException.class, "rank 1 called allReduce of 4 int32 sum");
    }

    @Test
    void shouldRefuseToStartAPreparedOperationTwice() throws Exception {
        try (World world = World.local(2).open()) {
            Communicator comm = world.communicator(0);
            Prepared prepared = comm.prepareBarrier();
            Work work = prepared.start();
            for (int i = 0; i < 2; i++) {
                Throwable thrown = i == 0
                        ? thrownBy(prepared::start)
                        : thrownBy(() -> {
                            prepared.run();
                            return null;
                        });
                assertThat(thrown).isInstanceOf(TuttiException.class).hasMessageContaining("still running");
                assertThat(((TuttiException) thrown).category()).isEqualTo(TuttiException.Category.USAGE);
            }
            world.communicator(1).barrier();
            work.await();
            Work again = prepared.start();
            assertThat(again).isNotSameAs(work);
        }
    }

    @Test
    void shouldRunAPreparedOperationManyTimes() {
        TestWorld.of(3).run(comm -> {
            int[] in = new int[4];
            int[] out = new int[4];
            Prepared prepared = comm.prepareAllReduce(Buffer.of(in), Buffer.of(out), ReduceOp.SUM);
            for (int i = 0; i < 300; i++) {
                in[2] = i;
                if (i % 3 == 0) {
                    prepared.start().await();
                } else {
                    prepared.run();
                }
                assertThat(out[2]).isEqualTo(3 * i);
            }
        });
    }

    /** Virtual threads park until they are woken: each must be, or it sleeps for a second. */
    @Test
    void shouldWakeEveryVirtualThreadThatAwaitsTheSameWork() throws Exception {
        try (World world = World.local(2).open()) {
            Communicator[] comms = {world.communicator(0), world.communicator(1)};
            for (int i = 0; i < 60; i++) {
                Work work = comms[0].barrierAsync();
                List<Thread> waiters = new ArrayList<>();
                for (int k = 0; k < 3; k++) {
                    Thread waiter = Thread.ofVirtual().start(work::await);
                    waiters.add(waiter);
                    while (!Asleep.is(waiter)) {
                        Thread.onSpinWait();
                    }
                }
                comms[1].barrier();
                for (Thread waiter : waiters) {
                    waiter.join();
                }
            }
        }
    }

    @Test
    void shouldWakeEveryThreadThatAwaitsTheSameWork() throws Exception {
        try (World world = World.local(2).open()) {
            Work work = world.communicator(0).barrierAsync();
            List<Blocked> waiters = List.of(Blocked.in(work::await), Blocked.in(work::await), Blocked.in(work::await));
            world.communicator(1).barrier();
            for (Blocked waiter : waiters) {
                assertThat(waiter.thrown()).isNull();
            }
        }
    }
}
