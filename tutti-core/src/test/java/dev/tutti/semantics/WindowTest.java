package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.config;
import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.Window;
import dev.tutti.Work;
import dev.tutti.processes.TestWorld;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One-sided reads and writes of memory that all ranks opened together. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WindowTest {
    private static final long SEED = Long.getLong("tutti.seed", System.nanoTime());

    private static long[] read(Buffer buffer) {
        return buffer.segment().toArray(ValueLayout.JAVA_LONG);
    }

    @Test
    void shouldSeeWhatWasPutWhenSignalled() {
        TestWorld.of(3).run(comm -> {
            try (Buffer inbox = comm.allocate(DataType.INT64, 6)) {
                try (Window window = comm.window(inbox)) {
                    for (int peer = 0; peer < 3; peer++) {
                        window.put(Buffer.of(new long[] {10L * comm.rank(), peer}), peer, 2L * comm.rank());
                        window.signal(peer);
                    }
                    for (int peer = 0; peer < 3; peer++) {
                        window.await(peer);
                    }
                    assertThat(read(inbox)).containsExactly(0, comm.rank(), 10, comm.rank(), 20, comm.rank());
                }
            }
        });
    }

    @Test
    void shouldReadAnyMemoryWhenLengthsDiffer() {
        TestWorld.of(4).run(comm -> {
            Buffer own = comm.allocate(DataType.INT64, 100L * comm.rank());
            for (long i = 0; i < own.count(); i++) {
                own.segment().setAtIndex(ValueLayout.JAVA_LONG, i, 1000L * comm.rank() + i);
            }
            try (Window window = comm.window(own)) {
                for (int peer = 0; peer < 4; peer++) {
                    assertThat(window.count(peer)).isEqualTo(100L * peer);
                }
                long[] got = new long[7];
                window.get(Buffer.of(got), 3, 293);
                assertThat(got).containsExactly(3293, 3294, 3295, 3296, 3297, 3298, 3299);
                Work started = window.getAsync(Buffer.of(got), 2, 0);
                started.await();
                assertThat(got[6]).isEqualTo(2006);
                window.get(Buffer.of(new long[0]), 0, 0);
            }
            own.close();
        });
    }

    /** Every rank is a cell of a ring; what goes round is checked by everybody, over and over, with random pauses. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void shouldKeepEverySignalAndItsDataWhenRanksRunAheadAtRandom(int ranks) {
        System.out.println("tutti.seed=" + SEED);
        int slots = 4;
        int length = 3000;
        int rounds = 400;
        TestWorld.of(ranks).run(comm -> {
            long[] seed = {SEED};
            comm.broadcast(seed, 0);
            SplittableRandom random = new SplittableRandom(seed[0] + comm.rank());
            int next = (comm.rank() + 1) % ranks;
            int previous = (comm.rank() + ranks - 1) % ranks;
            Buffer inbox = comm.allocate(DataType.INT64, (long) slots * length);
            // A credit for every slot: whoever has read one tells its writer, on a window of its own, as signals have
            // no names.
            try (Window window = comm.window(inbox);
                    Window credits = comm.window(inbox)) {
                for (int round = 0; round < rounds; round++) {
                    int count = 1 + new SplittableRandom(seed[0] * 31 + round).nextInt(length);
                    if (round >= slots) {
                        credits.await(next);
                    }
                    long[] data = new long[count];
                    java.util.Arrays.fill(data, 1_000_000L * comm.rank() + round);
                    if (random.nextBoolean()) {
                        window.put(Buffer.of(data), next, (long) (round % slots) * length);
                    } else {
                        window.putAsync(Buffer.of(data), next, (long) (round % slots) * length)
                                .await();
                    }
                    window.signal(next);
                    if (random.nextInt(5) == 0) {
                        Thread.yield();
                    }
                    if (random.nextBoolean()) {
                        window.await(previous);
                    } else {
                        while (!window.tryAwait(previous)) {
                            Thread.onSpinWait();
                        }
                    }
                    Buffer slot = inbox.slice((long) (round % slots) * length, count);
                    for (long each : read(slot)) {
                        if (each != 1_000_000L * previous + round) {
                            throw new AssertionError("round " + round + ": " + each + ", -Dtutti.seed=" + seed[0]);
                        }
                    }
                    slot.segment().fill((byte) -1);
                    credits.signal(previous);
                }
                for (int i = 0; i < slots; i++) {
                    credits.await(next);
                }
                window.flush();
            }
            inbox.close();
        });
    }

    @Test
    void shouldRefuseWhatDoesNotFitBeforeAnythingIsWritten() {
        TestWorld.of(2).run(comm -> {
            Buffer own = comm.allocate(DataType.INT64, 10);
            try (Window window = comm.window(own)) {
                Buffer three = Buffer.of(new long[] {1, 2, 3});
                List<Throwable> refused = List.of(
                        thrownBy(() -> put(window, three, 1, 8)),
                        thrownBy(() -> put(window, three, 1, -1)),
                        thrownBy(() -> put(window, three, 2, 0)),
                        thrownBy(() -> put(window, Buffer.of(new int[3]), 1, 0)));
                assertThat(refused).allMatch(IllegalArgumentException.class::isInstance);
                assertThat(refused.getFirst())
                        .hasMessageContaining("put of 3 elements from 8 on does not fit the 10 elements of rank 1");
                assertThat(thrownBy(() -> {
                            own.close();
                            return null;
                        }))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("a window is open on this buffer of rank " + comm.rank());
                comm.barrier();
                assertThat(read(own)).containsOnly(0);
            }
            assertThat(thrownBy(() -> comm.window(Buffer.of(new long[3]))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("comm.allocate");
        });
    }

    private static Object put(Window window, Buffer source, int rank, long offset) {
        window.put(source, rank, offset);
        return null;
    }

    @Test
    void shouldRefuseEverythingWhenClosed() {
        TestWorld.of(2).run(comm -> {
            Window window = comm.window(comm.allocate(DataType.INT64, 10));
            window.close();
            window.close();
            for (Throwable thrown : List.of(
                    thrownBy(() -> put(window, Buffer.of(new long[1]), 0, 0)),
                    thrownBy(() -> window.tryAwait(0)),
                    thrownBy(() -> {
                        window.signal(1);
                        return null;
                    }))) {
                assertThat(thrown)
                        .isInstanceOf(TuttiException.class)
                        .hasMessageContaining("window of rank " + comm.rank() + " on 'world' has been closed");
            }
            window.buffer().close();
        });
    }

    @Test
    void shouldNameTheTypesWhenRanksDisagree() {
        Outcomes.of(3, comm -> comm.window(comm.allocate(comm.rank() == 2 ? DataType.INT32 : DataType.INT64, 4)))
                .assertAll(MismatchException.class, "rank 0 has int64", "rank 2 has int32");
    }

    @Test
    void shouldTimeOutWhenASignalDoesNotCome() {
        TestWorld.Latch over = TestWorld.latch(1);
        Outcomes outcomes = Outcomes.of(2, config(Config.Key.TIMEOUT, "20s"), comm -> {
            Window window = comm.withTimeout(Duration.ofMillis(300)).window(comm.allocate(DataType.INT64, 4));
            try {
                if (comm.rank() == 0) {
                    window.await(1);
                } else {
                    over.await();
                    window.signal(0);
                }
            } finally {
                over.countDown();
                window.close();
            }
        });
        outcomes.assertAll(CollectiveTimeoutException.class, "await of signal 1 of rank 1", "timed out after 300 ms");
    }

    @Test
    void shouldFailWhenThePeerFails() {
        Outcomes outcomes = Outcomes.of(2, comm -> {
            Window window = comm.window(comm.allocate(DataType.INT64, 4));
            if (comm.rank() == 1) {
                comm.close();
                return;
            }
            window.await(1);
        });
        outcomes.rank(0).isInstanceOf(PeerFailedException.class).hasMessageContaining("rank 1 closed");
        outcomes.rank(1).isNull();
    }

    @Test
    void shouldEndStartedCopiesWhenClosedBeforeTheyAreAwaited() {
        TestWorld.of(2).run(comm -> {
            Buffer own = comm.allocate(DataType.INT64, 1 << 20);
            List<Work> works = new ArrayList<>();
            Buffer ones = comm.allocate(DataType.INT64, 1 << 20);
            ones.segment().fill((byte) 1);
            try (Window window = comm.window(own)) {
                works.add(window.putAsync(ones, 1 - comm.rank(), 0));
            }
            assertThat(works).allMatch(Work::isDone);
            assertThat(own.segment().mismatch(ones.segment())).isEqualTo(-1);
        });
    }

    @Test
    void shouldWorkOnPartsOfACommunicatorWhenSplit() {
        TestWorld.of(4).run(comm -> {
            Buffer own = comm.allocate(DataType.INT64, 4);
            Communicator pair = comm.split(comm.rank() / 2, -comm.rank());
            try (Window window = pair.window(own.slice(1, 2))) {
                window.put(Buffer.of(new long[] {comm.rank(), 7}), 1 - pair.rank(), 0);
                window.signal(1 - pair.rank());
                window.await(1 - pair.rank());
                assertThat(read(own)).containsExactly(0, comm.rank() ^ 1, 7, 0);
            }
        });
    }
}
