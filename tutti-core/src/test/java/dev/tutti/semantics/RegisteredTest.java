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
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.Work;
import dev.tutti.World;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory from {@code comm.allocate}, which peers read and write where it lies. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class RegisteredTest {
    /** Of what may be kept for the next call. */
    private static final int SHORT = 5_000;

    private static final int COUNT = 50_000;
    private static final int POISON = 0xDEADBEEF;

    private static Config direct(String timeout) {
        return forced("direct", timeout);
    }

    private static Config forced(String algorithm, String timeout) {
        return config(Config.Key.ALGO, algorithm).with(Config.Key.TIMEOUT, timeout);
    }

    private static void fill(Buffer buffer, int value) {
        MemorySegment memory = buffer.segment();
        for (long i = 0; i < buffer.count(); i++) {
            memory.setAtIndex(ValueLayout.JAVA_INT, i, value);
        }
    }

    private static void assertFilled(Buffer buffer, int value) {
        assertThat(Arrays.stream(buffer.segment().toArray(ValueLayout.JAVA_INT)))
                .allMatch(each -> each == value);
    }

    @Test
    void shouldSayWhatToDoWhenThereIsNotThatMuchMemory() {
        World.local(1).run(comm -> {
            assertThat(thrownBy(() -> comm.allocate(DataType.FLOAT64, 1L << 50)))
                    .isInstanceOf(TuttiException.class)
                    .hasMessageContainingAll("rank 0", "allocate less");
            assertThat(thrownBy(() -> comm.allocate(DataType.FLOAT64, 1L << 61)))
                    .isInstanceOf(IllegalArgumentException.class);
            comm.barrier();
        });
    }

    @Test
    void shouldBeRegisteredWhenAllocatedOrPartOfIt() {
        World.local(1).run(comm -> {
            Buffer buffer = comm.allocate(DataType.FLOAT64, 10);
            assertThat(buffer.isRegistered()).isTrue();
            assertThat(buffer.slice(2, 3).isRegistered()).isTrue();
            assertThat(Buffer.of(new float[3]).isRegistered()).isFalse();
            assertThat(Buffer.of(buffer.segment(), DataType.FLOAT64).isRegistered())
                    .isFalse();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, COUNT})
    void shouldSayWhoPassedWhatWhenOnlySomeAreRegistered(int count) {
        Outcomes outcomes = Outcomes.of(3, comm -> {
            Buffer buffer = comm.rank() == 1 ? Buffer.of(new int[count]) : comm.allocate(DataType.INT32, count);
            comm.allReduce(buffer, ReduceOp.SUM);
            comm.barrier();
        });
        outcomes.assertAll(
                MismatchException.class,
                "rank 1 called allReduce of " + count + " int32 sum",
                "called allReduce of " + count + " int32 sum on registered buffers",
                "either all ranks pass memory from comm.allocate or none does");
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "direct-write"})
    void shouldAgreeWhenARankWorksInPlaceAndOthersDoNot(String algorithm) {
        World.local(4).config(forced(algorithm, "10s")).run(comm -> {
            Buffer in = comm.allocate(DataType.INT32, COUNT);
            Buffer out = comm.rank() % 2 == 0 ? in : comm.allocate(DataType.INT32, COUNT);
            for (int round = 0; round < 20; round++) {
                fill(in, comm.rank() + round);
                comm.allReduce(in, out, ReduceOp.SUM);
                assertFilled(out, 6 + 4 * round);
                comm.allToAll(in, out);
                fill(out, POISON);
            }
        });
    }

    /** A rank in place has a copy of its input where peers reach it. */
    @Test
    void shouldExchangeBlocksWhenAllToAllIsInPlaceOnSomeRanks() {
        World.local(3).config(direct("10s")).run(comm -> {
            for (int block : new int[] {1, 7, 1000, 33}) {
                Buffer in = comm.allocate(DataType.INT32, 3L * block);
                Buffer out = comm.rank() == 1 ? in : comm.allocate(DataType.INT32, 3L * block);
                for (int peer = 0; peer < 3; peer++) {
                    fill(in.slice((long) peer * block, block), 10 * comm.rank() + peer);
                }
                comm.allToAll(in, out);
                for (int peer = 0; peer < 3; peer++) {
                    assertFilled(out.slice((long) peer * block, block), 10 * peer + comm.rank());
                }
            }
        });
    }

    /** Counts and offsets are known to pairs alone; some are 0, and one rank works in place. */
    @Test
    void shouldExchangeBlocksWhenOnlyPairsKnowTheirCounts() {
        World.local(3).config(config(Config.Key.ALGO, "direct-read")).run(comm -> {
            int me = comm.rank();
            for (int unit : new int[] {1, 77, 5000}) {
                long[] sent = new long[3];
                long[] received = new long[3];
                long[] sendOffsets = new long[3];
                for (int peer = 0; peer < 3; peer++) {
                    // Symmetric, as in place both must be the same.
                    sent[peer] = (long) unit * ((me + peer) % 3);
                    received[peer] = sent[peer];
                    sendOffsets[peer] = 2L * unit * ((peer + me) % 3) + 3;
                }
                Buffer in = comm.allocate(DataType.INT32, 6L * unit + 3);
                boolean inPlace = me == 1;
                Buffer out = inPlace ? in : comm.allocate(DataType.INT32, 6L * unit + 5);
                long[] receiveOffsets = inPlace ? sendOffsets : new long[] {5, 5 + 2L * unit, 5 + 4L * unit};
                for (int round = 0; round < 3; round++) {
                    fill(out, POISON);
                    for (int peer = 0; peer < 3; peer++) {
                        fill(in.slice(sendOffsets[peer], sent[peer]), 100 * round + 10 * me + peer);
                    }
                    comm.allToAllV(in, sent, sendOffsets, out, received, receiveOffsets);
                    for (int peer = 0; peer < 3; peer++) {
                        assertFilled(out.slice(receiveOffsets[peer], received[peer]), 100 * round + 10 * peer + me);
                    }
                }
            }
        });
    }

    @Test
    void shouldSayWhoDisagreesWhenCountsOfAPairDiffer() {
        Outcomes outcomes = Outcomes.of(2, comm -> {
            Buffer in = comm.allocate(DataType.INT32, 20);
            Buffer out = comm.allocate(DataType.INT32, 20);
            long[] sent = {5, 5};
            long[] received = comm.rank() == 0 ? new long[] {5, 4} : new long[] {5, 5};
            comm.allToAllV(in, sent, null, out, received, null);
            comm.barrier();
        });
        outcomes.assertAll(MismatchException.class, "5", "4");
    }

    /** Every rank has a scalar of its own, which may change from call to call. */
    @ParameterizedTest
    @ValueSource(ints = {1, 100, COUNT})
    void shouldMultiplyByEachRanksScalarWhenInputsAreReadInPlace(int count) {
        World.local(3).config(direct("10s")).run(comm -> {
            Buffer in = comm.allocate(DataType.INT32, 3L * count);
            Buffer out = comm.allocate(DataType.INT32, 3L * count);
            for (int round = 0; round < 5; round++) {
                ReduceOp op = ReduceOp.preMulSum(comm.rank() + round);
                int expected = 2 * round + 5 * (1 + round) + 7 * (2 + round);
                fill(in, new int[] {2, 5, 7}[comm.rank()]);
                comm.allReduce(in, out, op);
                assertFilled(out, expected);
                comm.reduceScatter(in, out.slice(0, count), op);
                assertFilled(out.slice(0, count), expected);
                comm.reduce(in, out, op, 1);
                assertFilled(out, expected);
                comm.allReduce(in, op);
                assertFilled(in, expected);
            }
        });
    }

    /** Results then go past the caches, if outputs lie alike in their lines. */
    @ParameterizedTest
    @CsvSource({"direct, 2", "direct, 3", "direct-write, 2", "direct-write, 3"})
    void shouldBeExactWhenMemoryIsLargerThanTheCaches(String algorithm, int ranks) {
        long count = (13L << 20) / Integer.BYTES / ranks * ranks;
        World.local(ranks).config(forced(algorithm, "20s")).run(comm -> {
            Buffer in = comm.allocate(DataType.INT32, count + 64);
            Buffer out = comm.allocate(DataType.INT32, count + 64);
            for (int shift : new int[] {0, 5, 5 + comm.rank()}) {
                fill(out, POISON);
                Buffer result = out.slice(shift, count);
                Buffer mine = in.slice(3, count);
                for (long i = 0; i < count; i++) {
                    mine.segment().setAtIndex(ValueLayout.JAVA_INT, i, (int) i * (comm.rank() + 1));
                }
                comm.allReduce(mine, result, ReduceOp.SUM);
                int factor = comm.size() * (comm.size() + 1) / 2;
                int[] found = result.segment().toArray(ValueLayout.JAVA_INT);
                assertThat(IntStream.range(0, found.length)).allMatch(i -> found[i] == i * factor);
                assertFilled(out.slice(0, shift), POISON);
                assertFilled(out.slice(shift + count, 64 - shift), POISON);
            }
        });
    }

    @Test
    void shouldWorkWithEveryCommunicatorOfTheWorldWhenAllocatedByOne() {
        World.local(4).config(direct("10s")).run(comm -> {
            Buffer buffer = comm.allocate(DataType.INT32, COUNT);
            Communicator pairs = comm.split(comm.rank() / 2, -comm.rank());
            fill(buffer, 1 + comm.rank());
            pairs.allReduce(buffer, ReduceOp.SUM);
            assertFilled(buffer, comm.rank() < 2 ? 3 : 7);
            pairs.close();
            comm.allReduce(buffer, ReduceOp.SUM);
            assertFilled(buffer, 20);
            buffer.close();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "direct-write"})
    void shouldLeaveMemoryAloneWhenACallHasFailed(String algorithm) {
        ReduceOp failing = ReduceOp.of(new ReduceFunction("failing", DataType.INT32, true, (_, _, _) -> {
            throw new IllegalStateException("no");
        }));
        List<Buffer> all = new CopyOnWriteArrayList<>();
        Outcomes outcomes = Outcomes.of(4, forced(algorithm, "10s"), comm -> {
            Buffer buffer = comm.allocate(DataType.INT32, COUNT);
            all.add(buffer);
            try {
                if (comm.rank() == 2) {
                    comm.allReduceAsync(buffer, failing).await();
                } else {
                    comm.allReduce(buffer, failing);
                }
            } finally {
                fill(buffer, POISON);
            }
        });
        outcomes.assertAll(TuttiException.class, "the reduce function threw");
        all.forEach(buffer -> {
            assertFilled(buffer, POISON);
            buffer.close();
            assertThat(buffer.segment().scope().isAlive()).isFalse();
        });
    }

    /** A peer that hangs in the middle of writing here: the call ends, and the memory stays for when it goes on. */
    @ParameterizedTest
    @CsvSource({"direct, false", "direct, true", "direct-write, false", "direct-write, true"})
    void shouldKeepMemoryWhenAPeerMayStillWriteIt(String algorithm, boolean started) {
        CountDownLatch over = new CountDownLatch(2);
        Outcomes outcomes = Outcomes.of(3, forced(algorithm, "500ms"), comm -> {
            ReduceOp hanging = ReduceOp.of(new ReduceFunction("hanging", DataType.INT32, true, (_, _, _) -> {
                if (comm.rank() == 2) {
                    awaitQuietly(over);
                }
            }));
            Buffer buffer = comm.allocate(DataType.INT32, COUNT);
            Throwable thrown = thrownBy(() -> {
                if (started && comm.rank() < 2) {
                    Work work = comm.allReduceAsync(buffer, hanging);
                    work.await();
                } else {
                    comm.allReduce(buffer, hanging);
                }
                return null;
            });
            buffer.close();
            assertThat(buffer.segment().scope().isAlive()).isEqualTo(comm.rank() < 2);
            over.countDown();
            throw (TuttiException) thrown;
        });
        outcomes.assertAll(CollectiveTimeoutException.class, "allReduce of 50000 int32");
    }

    /** Calls of two ranks in a row take a short cut: when one of them fails, nobody touches the other's memory afterwards. */
    @ParameterizedTest
    @ValueSource(strings = {"direct", "direct-write"})
    void shouldLeaveMemoryAloneWhenACallInARowHasFailed(String algorithm) {
        List<Buffer> all = new CopyOnWriteArrayList<>();
        Outcomes outcomes = Outcomes.of(2, forced(algorithm, "10s"), comm -> {
            boolean[] fails = {false};
            ReduceOp failing = ReduceOp.of(new ReduceFunction("failing", DataType.INT32, true, (_, _, _) -> {
                if (fails[0]) {
                    throw new IllegalStateException("no");
                }
            }));
            Buffer buffer = comm.allocate(DataType.INT32, SHORT);
            all.add(buffer);
            repeat(comm, buffer, failing);
            fails[0] = comm.rank() == 1;
            try {
                comm.allReduce(buffer, failing);
            } finally {
                fill(buffer, POISON);
            }
        });
        outcomes.assertAll(TuttiException.class, "the reduce function threw");
        all.forEach(buffer -> {
            assertFilled(buffer, POISON);
            buffer.close();
            assertThat(buffer.segment().scope().isAlive()).isFalse();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "direct-write"})
    void shouldKeepMemoryWhenAPeerMayStillWriteItInARow(String algorithm) {
        CountDownLatch over = new CountDownLatch(1);
        Outcomes outcomes = Outcomes.of(2, forced(algorithm, "500ms"), comm -> {
            boolean[] hangs = {false};
            ReduceOp hanging = ReduceOp.of(new ReduceFunction("hanging", DataType.INT32, true, (_, _, _) -> {
                if (hangs[0]) {
                    awaitQuietly(over);
                }
            }));
            Buffer buffer = comm.allocate(DataType.INT32, SHORT);
            repeat(comm, buffer, hanging);
            hangs[0] = comm.rank() == 1;
            Throwable thrown = thrownBy(() -> {
                comm.allReduce(buffer, hanging);
                return null;
            });
            buffer.close();
            assertThat(buffer.segment().scope().isAlive()).isEqualTo(comm.rank() == 0);
            over.countDown();
            throw (TuttiException) thrown;
        });
        outcomes.assertAll(CollectiveTimeoutException.class, "allReduce of 5000 int32");
    }

    private static void repeat(Communicator comm, Buffer buffer, ReduceOp op) {
        for (int i = 0; i < 5; i++) {
            comm.allReduce(buffer, op);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldTakeAnotherAlgorithmWhenMemoryIsNotRegistered() {
        World.local(2).config(direct("10s")).run(comm -> {
            int[] x = {comm.rank() + 1};
            comm.allReduce(x, ReduceOp.SUM);
            assertThat(x).containsExactly(3);
        });
    }
}
