package dev.tutti.semantics;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * More than 2 GiB and more than 2^31 elements; needs 5 GiB of memory, so it runs only with {@code
 * -Dtutti.large=true}.
 */
@EnabledIfSystemProperty(named = "tutti.large", matches = "true")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class LargeTest {
    private static final long COUNT = (1L << 31) + 7;
    private static final long STEP = 4_093;

    private static byte value(int rank, long index) {
        return (byte) (index * 31 + rank * 17L + (index >>> 20));
    }

    private static void fill(MemorySegment memory, int rank) {
        for (long i = 0; i < COUNT; i += STEP) {
            memory.set(JAVA_BYTE, i, value(rank, i));
        }
        memory.set(JAVA_BYTE, COUNT - 1, value(rank, COUNT - 1));
    }

    private static void check(MemorySegment memory, Expected expected) {
        for (long i = 0; i < COUNT; i += STEP) {
            assertByte(memory, i, expected);
        }
        assertByte(memory, COUNT - 1, expected);
        assertThat(memory.get(JAVA_BYTE, COUNT - 2)).as("between").isZero();
    }

    private static void assertByte(MemorySegment memory, long index, Expected expected) {
        if (memory.get(JAVA_BYTE, index) != expected.at(index)) {
            assertThat(memory.get(JAVA_BYTE, index)).as("byte %d", index).isEqualTo(expected.at(index));
        }
    }

    @FunctionalInterface
    interface Expected {
        byte at(long index);
    }

    @Test
    void shouldBroadcastAndReduceMoreThanTwoGibibytes() {
        World.local(2).run(comm -> {
            try (Buffer buffer = comm.allocate(DataType.INT8, COUNT)) {
                broadcast(comm, buffer);
                reduce(comm, buffer);
            }
        });
    }

    private static void broadcast(Communicator comm, Buffer buffer) {
        if (comm.rank() == 1) {
            fill(buffer.segment(), 1);
        }
        comm.broadcast(buffer, 1);
        check(buffer.segment(), i -> value(1, i));
    }

    private static void reduce(Communicator comm, Buffer buffer) {
        fill(buffer.segment(), comm.rank());
        comm.allReduce(buffer, ReduceOp.SUM);
        check(buffer.segment(), i -> (byte) (value(0, i) + value(1, i)));
    }
}
