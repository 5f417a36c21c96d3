package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.cli.common.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SizesTest {
    private static final Traffic TRAFFIC = Traffic.fromEnvironment(Map.of(), 1);

    @ParameterizedTest
    @CsvSource({"8,8", "0,0", "1K,1024", "4k,4096", "1.5K,1536", "64M,67108864", "2G,2147483648", "'3 m',3145728"})
    void shouldReadSizes(String text, long expected) {
        assertThat(Sizes.parse(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "K", "-8", "8X", "8KB", "0x10", "1e3", "99999999999G"})
    void shouldRefuseWhatIsNoSize(String text) {
        assertThatThrownBy(() -> Sizes.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldGrowByFactorElseByStep() {
        assertThat(list(new Sizes(8, 128, 1, 4))).containsExactly(8L, 32L, 128L);
        assertThat(list(new Sizes(8, 30, 10, 1))).containsExactly(8L, 18L, 28L);
        assertThat(list(new Sizes(5, 5, 1 << 20, 1))).containsExactly(5L);
    }

    private static List<Long> list(Sizes sizes) {
        List<Long> all = new ArrayList<>();
        sizes.forEach(all::add);
        assertThat(sizes.count()).isEqualTo(all.size());
        return all;
    }

    @ParameterizedTest
    @CsvSource({
        // program, bytes, element, ranks: size column, count column, bytes that count
        "ALL_REDUCE,10,4,3,8,2,8",
        "BROADCAST,10,4,3,8,2,8",
        "REDUCE,7,8,3,0,0,0",
        "SENDRECV,100,1,3,100,100,100",
        "ALL_GATHER,100,4,3,96,8,96",
        "ALL_GATHER,63,4,4,0,0,0",
        "ALL_GATHER,64,4,4,64,4,64",
        "REDUCE_SCATTER,1000,2,3,960,160,960",
        "GATHER,1000,1,3,960,320,960",
        "SCATTER,1000,8,3,960,40,960",
        "ALLTOALL,1000,4,3,960,80,960",
        "HYPERCUBE,1024,4,4,1024,64,768",
        "ALLTOALLV,1024,4,4,1008,64,1008",
        "SCAN,10,4,3,8,2,8",
        "BARRIER,1024,4,4,0,0,0"
    })
    void shouldRoundBlocksDownToSixteenBytes(
            Program program, long bytes, int element, int ranks, long size, long count, long counted) {
        Shape shape = program.shape(bytes, element, ranks, TRAFFIC);
        assertThat(shape.bytes()).isEqualTo(size);
        assertThat(shape.count()).isEqualTo(count);
        assertThat(shape.algorithmBytes()).isEqualTo(counted);
    }

    @ParameterizedTest
    @EnumSource(Program.class)
    void shouldCountBusBandwidthAsNcclTestsDoes(Program program) {
        double expected = switch (program) {
            case ALL_REDUCE -> 1.5;
            case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALLTOALL, ALLTOALLV -> 0.75;
            default -> 1;
        };
        assertThat(program.busFactor(4)).isEqualTo(expected);
        assertThat(program.busFactor(1)).isEqualTo(expected == 1 ? 1 : 0);
    }
}
