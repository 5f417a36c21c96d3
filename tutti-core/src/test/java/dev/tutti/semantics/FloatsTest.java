package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.Buffer;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers go into buffers of every float, and come out of them. */
@Timeout(value = 10, unit = TimeUnit.SECONDS)
class FloatsTest {
    @ParameterizedTest
    @EnumSource(names = {"FLOAT64", "FLOAT32", "FLOAT16", "BFLOAT16", "FLOAT8E4M3", "FLOAT8E5M2"})
    void shouldKeepSmallNumbersWhenWrittenReducedAndRead(DataType type) {
        World.local(2).run(comm -> {
            try (Buffer buffer = comm.allocate(type, 6)) {
                buffer.write(1, -2, 0.5f, 1.25f, -0f);
                comm.allReduce(buffer, ReduceOp.SUM);
                float[] sums = new float[6];
                buffer.read(0, sums);
                assertThat(sums).containsExactly(0, -4, 1, 2.5f, -0f, 0);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({
        "FLOAT32, 0.1, 0.1",
        "FLOAT16, 0.1, 0.099975586",
        "FLOAT16, 1e6, Infinity",
        "BFLOAT16, 0.1, 0.100097656",
        "FLOAT8E4M3, 0.1, 0.1015625",
        "FLOAT8E4M3, 1e6, 448",
        "FLOAT8E5M2, 0.1, 0.09375",
        "FLOAT8E5M2, -1e6, -57344",
        "BFLOAT16, NaN, NaN",
        "FLOAT8E4M3, NaN, NaN"
    })
    void shouldRoundOnceWhenTheTypeHasFewerBits(DataType type, float written, float read) {
        Buffer buffer = Buffer.of(Arena.ofAuto().allocate(type.bytes() + 1L).asSlice(1), type);
        buffer.write(0, written);
        float[] value = new float[1];
        buffer.read(0, value);
        assertThat(value).containsExactly(read);
    }

    @Test
    void shouldRefuseWhenElementsAreIntegersOrNotThereOrGone() {
        Buffer integers = Buffer.of(new int[3]);
        assertThatThrownBy(() -> integers.write(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> integers.read(0, new float[1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("int32");
        Buffer floats = Buffer.of(new float[3]);
        assertThatThrownBy(() -> floats.write(2, 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        World.local(1).run(comm -> {
            Buffer closed = comm.allocate(DataType.FLOAT32, 1);
            closed.close();
            assertThatThrownBy(() -> closed.write(0, 1)).isInstanceOf(IllegalStateException.class);
        });
    }
}
