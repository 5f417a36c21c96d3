package dev.tutti.semantics;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.processes.ProcessWorld;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** More than 2 GiB, and more than 2^31 elements; needs 14 GiB of memory, so it runs only with {@code -Dtutti.large=true}. */
@EnabledIfSystemProperty(named = "tutti.large", matches = "true")
@Timeout(value = 400, unit = TimeUnit.SECONDS)
class LargeTest {
    /** Odd, and a little more than 2 GiB. */
    private static final long BYTES = (1L << 31) + 8 * 7;

    private static final long LONGS = BYTES / Long.BYTES;
    private static final long STEP = 4_093;

    @Test
    void shouldBeExactWhenThreadsShareMoreThanTwoGibibytes() {
        World.local(2).run(comm -> {
            registered(comm);
            bytes(comm);
        });
    }

    @Test
    void shouldBeExactWhenProcessesShareMoreThanTwoGibibytes() throws Exception {
        System.setProperty(ProcessWorld.HEAP, "9g");
        try {
            assertThat(ProcessWorld.run(Large.class, 2, 1, Duration.ofSeconds(350)))
                    .isEmpty();
        } finally {
            System.clearProperty(ProcessWorld.HEAP);
        }
    }

    /** Every kind of memory, one after the other. */
    public static final class Large implements ProcessWorld.Program {
        @Override
        public String run(int ranksHere, String[] arguments) {
            World.fromEnvironment().run(comm -> {
                registered(comm);
                bytes(comm);
                ordinary(comm);
                array(comm);
                arrays(comm);
            });
            return null;
        }
    }

    private static long value(int rank, long index) {
        return index * 31 + rank * 17L + 1;
    }

    private static long sum(long index) {
        return value(0, index) + value(1, index);
    }

    private static void fill(MemorySegment memory, LongUnaryOperator value) {
        long longs = memory.byteSize() / Long.BYTES;
        for (long i = 0; i < longs; i += STEP) {
            memory.set(JAVA_LONG_UNALIGNED, i * Long.BYTES, value.applyAsLong(i));
        }
        memory.set(JAVA_LONG_UNALIGNED, (longs - 1) * Long.BYTES, value.applyAsLong(longs - 1));
    }

    private static void check(MemorySegment memory, String what, LongUnaryOperator value) {
        long longs = memory.byteSize() / Long.BYTES;
        for (long i = 0; i < longs; i += STEP) {
            require(memory, i, what, value.applyAsLong(i));
        }
        require(memory, longs - 1, what, value.applyAsLong(longs - 1));
        require(memory, longs - 2, what + ", in between", 0);
    }

    private static void require(MemorySegment memory, long index, String what, long expected) {
        long found = memory.get(JAVA_LONG_UNALIGNED, index * Long.BYTES);
        if (found != expected) {
            throw new AssertionError(what + ", element " + index + ": " + found + " instead of " + expected);
        }
    }

    private static void registered(Communicator comm) {
        try (Buffer buffer = comm.allocate(DataType.INT64, LONGS)) {
            collectives(comm, buffer, "registered");
        }
        try (Buffer part = comm.allocate(DataType.INT64, LONGS / 2);
                Buffer whole = comm.allocate(DataType.INT64, LONGS / 2 * 2)) {
            gather(comm, part, whole, "registered");
        }
    }

    /** More elements than an int can count. */
    private static void bytes(Communicator comm) {
        try (Buffer buffer = comm.allocate(DataType.UINT8, BYTES)) {
            fill(buffer.segment(), i -> comm.rank() == 0 ? 0x0102030405060708L : 0x1010101010101010L);
            comm.allReduce(buffer, ReduceOp.SUM);
            check(buffer.segment(), "bytes", i -> 0x1112131415161718L);
        }
    }

    private static void ordinary(Communicator comm) {
        try (Arena arena = Arena.ofShared()) {
            collectives(comm, Buffer.of(arena.allocate(BYTES), DataType.INT64), "ordinary");
        }
        try (Arena arena = Arena.ofConfined()) {
            Buffer part = Buffer.of(arena.allocate(LONGS / 2 * Long.BYTES), DataType.INT64);
            gather(comm, part, Buffer.of(arena.allocate(LONGS / 2 * 2 * Long.BYTES), DataType.INT64), "ordinary");
        }
    }

    private static void array(Communicator comm) {
        collectives(comm, Buffer.of(new long[(int) LONGS]), "array");
        gather(comm, Buffer.of(new long[(int) (LONGS / 2)]), Buffer.of(new long[(int) (LONGS / 2 * 2)]), "array");
    }

    /** A list whose parts are each smaller. */
    private static void arrays(Communicator comm) {
        List<MemorySegment> parts = new ArrayList<>();
        List<Buffer> list = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            long[] part = new long[(int) (LONGS / 3) + 1 + i];
            parts.add(MemorySegment.ofArray(part));
            list.add(Buffer.of(part));
        }
        parts.forEach(part -> fill(part, i -> value(comm.rank(), i)));
        comm.allReduce(list, ReduceOp.SUM);
        parts.forEach(part -> check(part, "allReduce of a list", LargeTest::sum));
        comm.broadcast(list, 1);
        parts.forEach(part -> check(part, "broadcast of a list", LargeTest::sum));
    }

    private static void collectives(Communicator comm, Buffer buffer, String what) {
        MemorySegment memory = buffer.segment();
        fill(memory, i -> comm.rank() == 1 ? value(1, i) : -1);
        comm.broadcast(buffer, 1);
        check(memory, what + " broadcast", i -> value(1, i));
        fill(memory, i -> value(comm.rank(), i));
        comm.allReduce(buffer, ReduceOp.SUM);
        check(memory, what + " allReduce", LargeTest::sum);
        comm.allReduceAsync(buffer, ReduceOp.MAX).await();
        check(memory, what + " started allReduce", LargeTest::sum);
        comm.prepareAllReduce(buffer, ReduceOp.MIN).run();
        check(memory, what + " prepared allReduce", LargeTest::sum);
        fill(memory, i -> value(comm.rank(), i));
        if (comm.rank() == 0) {
            comm.send(buffer, 1, 5);
        } else {
            comm.recv(buffer, 0, 5);
        }
        check(memory, what + " send", i -> value(0, i));
    }

    private static void gather(Communicator comm, Buffer part, Buffer whole, String what) {
        fill(part.segment(), i -> value(comm.rank(), i));
        comm.allGather(part, whole);
        for (int rank = 0; rank < 2; rank++) {
            int from = rank;
            check(
                    whole.slice(rank * part.count(), part.count()).segment(),
                    what + " allGather of rank " + rank,
                    i -> value(from, i));
        }
    }
}
