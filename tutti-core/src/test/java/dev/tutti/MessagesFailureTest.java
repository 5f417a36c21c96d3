package dev.tutti;

import static dev.tutti.MessagesTest.bytes;
import static dev.tutti.MessagesTest.one;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.tutti.processes.TestWorld;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What messages do when something goes wrong: nobody hangs, and everybody learns who and what. */
@Timeout(60)
public class MessagesFailureTest {
    private static TestWorld world(int ranks, String timeout) {
        return TestWorld.of(ranks).config(Config.fromEnvironment().with(Config.Key.TIMEOUT, timeout));
    }

    @Test
    void shouldTimeOutWithNamesWhenAllSendInACircle() {
        List<Throwable> thrown = world(3, "300ms").call(comm -> {
            int next = (comm.rank() + 1) % 3;
            return catchThrowable(() -> comm.send(bytes(1_000_000), next, 5));
        });
        assertThat(thrown)
                .allSatisfy(each -> assertThat(each)
                        .isInstanceOf(CollectiveTimeoutException.class)
                        .hasMessageMatching(
                                "send of 1000000 bytes with tag 5 to rank (\\d) on 'world' timed out after 300 ms on rank "
                                        + "\\d; rank \\1 has not posted a receive for it"));
    }

    @Test
    void shouldSayWhatIsMissingWhenReceiveTimesOut() {
        List<Throwable> thrown = world(2, "200ms").call(comm -> {
            comm.barrier();
            return catchThrowable(() -> comm.recv(one(0), 1 - comm.rank(), 5));
        });
        assertThat(thrown)
                .allSatisfy(
                        each -> assertThat(each)
                                .isInstanceOf(CollectiveTimeoutException.class)
                                .hasMessageMatching(
                                        "recv of tag 5 from rank (\\d) on 'world' timed out after 200 ms on rank \\d; rank \\1 has not sent it"));
    }

    @Test
    void shouldSayWhatCameInsteadWhenAnotherTagWasSent() {
        List<Throwable> thrown = world(2, "200ms").call(comm -> {
            if (comm.rank() == 1) {
                comm.send(one(0), 0, 6);
                comm.send(one(0), 0, 7);
            }
            return catchThrowable(() -> comm.recv(one(0), Communicator.ANY_SOURCE, comm.rank() == 0 ? 5 : 4));
        });
        assertThat(thrown)
                .allSatisfy(each -> assertThat(each)
                        .isInstanceOf(CollectiveTimeoutException.class)
                        .hasMessageContaining("from any rank on 'world' timed out")
                        .hasMessageContaining("nobody has sent it"));
        if (thrown.getFirst().getMessage().contains("tag 5 from any rank")) {
            assertThat(thrown.getFirst()).hasMessageContaining("(tag 6 with 8 bytes from rank 1 has come");
        }
    }

    @Test
    void shouldTimeOutWhenPeerTakesNothing() {
        TestWorld.Latch over = TestWorld.latch(1);
        TestWorld world = world(2, "300ms");
        assertThatThrownBy(() -> world.run(comm -> {
                    if (comm.rank() == 1) {
                        over.await();
                        return;
                    }
                    try {
                        for (int i = 0; i < 100_000; i++) {
                            comm.send(bytes(100), 1, 0);
                        }
                    } finally {
                        over.countDown();
                    }
                }))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("send of 100 bytes with tag 0 to rank 1")
                .hasMessageContaining("rank 1 takes no messages and the ring to it is full");
    }

    /** The clock of every message starts when somebody waits, not when those before it have ended. */
    @Test
    void shouldTimeOutInTimeWhenEarlierMessagesEndLate() {
        long start = System.nanoTime();
        TestWorld.Latch over = TestWorld.latch(1);
        TestWorld world = world(2, "400ms");
        assertThatThrownBy(() -> world.run(comm -> {
                    if (comm.rank() == 0) {
                        Work soon = comm.recvAsync(one(0), 1, 1);
                        Work never = comm.recvAsync(one(0), 1, 2);
                        Work alsoNever = comm.recvAsync(one(0), 1, 2);
                        try {
                            soon.await();
                            never.await();
                        } finally {
                            assertThat(catchThrowable(alsoNever::await)).isInstanceOf(CollectiveTimeoutException.class);
                            over.countDown();
                        }
                    } else {
                        comm.send(one(1), 0, 1);
                        over.await();
                    }
                }))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("recv of tag 2 from rank 1");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void shouldNameMessageWhenAwaitTimesOut() {
        List<Throwable> thrown = TestWorld.of(2).call(comm -> {
            Work work = comm.recvAsync(one(0), 1 - comm.rank(), 3);
            return catchThrowable(() -> work.await(Duration.ofMillis(100)));
        });
        assertThat(thrown)
                .allSatisfy(each -> assertThat(each)
                        .isInstanceOf(CollectiveTimeoutException.class)
                        .hasMessageMatching(
                                "rank (\\d) gave up a recv of tag 3 from rank \\d on 'world': not done within 100 ms"));
    }

    @Test
    void shouldEndAtOnceWithCauseWhenPeerThrowsWhileOthersWait() {
        TestWorld world = TestWorld.of(4);
        assertThatThrownBy(() -> world.run(comm -> {
                    switch (comm.rank()) {
                        case 0 -> comm.recv(one(0), 1, 0);
                        case 2 -> comm.recv(one(0), Communicator.ANY_SOURCE, 0);
                        case 3 -> comm.send(bytes(100_000), 0, 0);
                        default -> throw new ArithmeticException("the loss is NaN");
                    }
                }))
                .isInstanceOf(ArithmeticException.class)
                .hasMessage("the loss is NaN")
                .satisfies(first -> assertThat(first.getSuppressed())
                        .hasSize(3)
                        .allSatisfy(each -> assertThat(each)
                                .isInstanceOf(PeerFailedException.class)
                                .hasMessageContaining("rank 1 failed")));
    }

    @Test
    void shouldFailWhenPeerClosedBeforeSending() {
        List<Throwable> thrown = TestWorld.of(3).call(comm -> switch (comm.rank()) {
            case 0 -> catchThrowable(() -> comm.recv(one(0), 2, 8));
            case 1 -> catchThrowable(() -> comm.send(bytes(50_000), 2, 8));
            default -> null;
        });
        assertThat(thrown.subList(0, 2))
                .allSatisfy(each -> assertThat(each)
                        .isInstanceOf(PeerFailedException.class)
                        .hasMessageMatching("rank 2 closed 'world' before the end of a .*, for which rank [01] waits"));
    }

    @Test
    void shouldFailWhenAllOthersClosedAndSourceIsAny() {
        List<Throwable> thrown = TestWorld.of(3)
                .call(comm -> comm.rank() > 0
                        ? null
                        : catchThrowable(() -> comm.recv(one(0), Communicator.ANY_SOURCE, Communicator.ANY_TAG)));
        assertThat(thrown.getFirst())
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining(
                        "all other ranks closed 'world' before the end of a recv of any tag from any rank");
    }

    @Test
    void shouldStillReceiveWhenPeerClosedAfterSending() throws Exception {
        try (World world = World.local(2).open()) {
            Communicator receiver = world.communicator(0);
            Communicator sender = world.communicator(1);
            for (int i = 0; i < 500; i++) {
                sender.send(one(i), 0, i % 5);
            }
            sender.close();
            long[] value = new long[1];
            for (int tag = 4; tag >= 0; tag--) {
                for (int i = tag; i < 500; i += 5) {
                    receiver.recv(Buffer.of(value), tag % 2 == 0 ? 1 : Communicator.ANY_SOURCE, tag);
                    assertThat(value[0]).isEqualTo(i);
                }
            }
            assertThatThrownBy(() -> receiver.recv(Buffer.of(value), 1, 0)).isInstanceOf(PeerFailedException.class);
        }
    }

    @Test
    void shouldFailPendingWhenClosed() {
        try (World world = World.local(2).open()) {
            Communicator comm = world.communicator(0);
            world.communicator(1);
            Work received = comm.recvAsync(one(0), 1, 0);
            Work sent = comm.sendAsync(bytes(100_000), 1, 0);
            comm.close();
            for (Work work : List.of(received, sent)) {
                assertThatThrownBy(work::await)
                        .isInstanceOf(AbortedException.class)
                        .hasMessageContaining("'world' was closed on rank 0");
            }
            assertThatThrownBy(() -> comm.send(one(0), 1, 0))
                    .isInstanceOf(TuttiException.class)
                    .hasMessageContaining("has been closed");
            comm.close();
        }
    }

    @Test
    void shouldEndEverywhereWhenSomebodyAborts() {
        List<Throwable> thrown = TestWorld.of(3).call(comm -> {
            if (comm.rank() == 0) {
                comm.recv(one(0), 1, 0);
                comm.recv(one(0), 2, 0);
                comm.abort("enough");
                return catchThrowable(() -> comm.send(one(0), 1, 0));
            }
            Work pending = comm.recvAsync(one(0), 0, 1);
            comm.send(one(0), 0, 0);
            return catchThrowable(pending::await);
        });
        assertThat(thrown)
                .allSatisfy(each ->
                        assertThat(each).isInstanceOf(AbortedException.class).hasMessageContaining("enough"));
    }

    @Test
    void shouldEndEverywhereWhenWaitingThreadIsInterrupted() {
        List<Throwable> thrown = TestWorld.of(2).call(comm -> {
            if (comm.rank() == 0) {
                Thread.currentThread().interrupt();
                Throwable error = catchThrowable(() -> comm.recv(one(0), 1, 4));
                assertThat(Thread.interrupted()).isTrue();
                return error;
            }
            return catchThrowable(() -> comm.recv(one(0), 0, 4));
        });
        assertThat(thrown)
                .allSatisfy(each -> assertThat(each)
                        .isInstanceOf(AbortedException.class)
                        .hasMessage("rank 0 gave up a recv of tag 4 from rank 1 on 'world': interrupted"));
    }

    @Test
    void shouldFailOnlyThatReceiveWhenItsArenaIsClosed() {
        TestWorld.of(2).run(comm -> {
            for (int size : new int[] {100, 100_000}) {
                if (comm.rank() == 0) {
                    comm.recv(one(0), 1, 0);
                    comm.send(bytes(size), 1, 1);
                } else {
                    Work received;
                    try (Arena arena = Arena.ofShared()) {
                        received = comm.recvAsync(Buffer.of(arena.allocate(size), DataType.INT8), 0, 1);
                    }
                    comm.send(one(0), 0, 0);
                    assertThatThrownBy(received::await).isInstanceOf(IllegalStateException.class);
                }
                comm.sendRecv(one(0), 1 - comm.rank(), 2, one(0), 1 - comm.rank(), 2);
            }
        });
    }

    @Test
    void shouldAbortWhenArenaOfGrantedSendIsClosed() {
        List<Throwable> thrown = TestWorld.of(2).call(comm -> {
            if (comm.rank() == 0) {
                Work sent;
                try (Arena arena = Arena.ofShared()) {
                    sent = comm.sendAsync(Buffer.of(arena.allocate(100_000), DataType.INT8), 1, 1);
                }
                return catchThrowable(() -> {
                    comm.send(one(0), 1, 0);
                    sent.await();
                });
            }
            return catchThrowable(() -> {
                comm.recv(one(0), 0, 0);
                comm.recv(bytes(100_000), 0, 1);
            });
        });
        assertThat(thrown)
                .allSatisfy(each -> assertThat(each)
                        .isInstanceOf(AbortedException.class)
                        .hasMessageContaining(
                                "memory of a send of 100000 bytes with tag 1 to rank 1 cannot be read any more"));
    }

    @Test
    void shouldGoOnWhenActionAtTheEndThrows() {
        TestWorld.of(2).run(comm -> {
            int peer = 1 - comm.rank();
            long[] value = new long[1];
            for (int i = 0; i < 5; i++) {
                Work received = comm.recvAsync(Buffer.of(value), peer, 1);
                // If it is over already, the action runs, and throws, right here.
                catchThrowable(() -> received.onComplete(error -> {
                    throw new UnsupportedOperationException("thrown on purpose");
                }));
                comm.send(one(i), peer, 1);
                received.await();
                assertThat(value[0]).isEqualTo(i);
            }
        });
    }

    /** A message that is started from the end of another, on whichever thread that is. */
    @Test
    void shouldPostWhenActionAtTheEndPosts() {
        TestWorld.of(2).run(comm -> {
            int peer = 1 - comm.rank();
            CompletableFuture<Long> last = new CompletableFuture<>();
            long[] value = new long[1];
            AtomicReference<Work> next = new AtomicReference<>();
            class Chain {
                void receive(int left) {
                    next.set(comm.recvAsync(Buffer.of(value), peer, left));
                    next.get().onComplete(error -> {
                        if (error != null) {
                            last.completeExceptionally(error);
                        } else if (left == 0) {
                            last.complete(value[0]);
                        } else {
                            receive(left - 1);
                        }
                    });
                }
            }
            new Chain().receive(20);
            for (int left = 20; left >= 0; left--) {
                comm.send(one(100 + left), peer, left);
            }
            assertThat(last.get()).isEqualTo(100);
        });
    }

    @Test
    void shouldWarnWhenMessageTakesLong() {
        List<String> logged = new CopyOnWriteArrayList<>();
        CountDownLatch warned = new CountDownLatch(1);
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord line) {
                logged.add(new SimpleFormatter().formatMessage(line));
                warned.countDown();
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.tutti");
        logger.addHandler(handler);
        try {
            Config config = Config.fromEnvironment().with(Config.Key.WARN_AFTER, "50ms");
            World.local(2).named("slow").config(config).run(comm -> {
                if (comm.rank() == 0) {
                    comm.recv(one(0), 1, 2);
                } else {
                    warned.await();
                    comm.send(one(0), 0, 2);
                }
            });
        } finally {
            logger.removeHandler(handler);
        }
        assertThat(logged)
                .first()
                .asString()
                .matches("recv of tag 2 from rank 1 on 'slow': rank 0 has waited \\d+ ms; rank 1 has not sent it");
    }
}
