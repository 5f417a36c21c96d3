package dev.tutti.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class ExactDataTest {
    private static final int[] RANKS = {1, 2, 3, 8, 64};
    private static final long SEED = 20250101;

    static Stream<Arguments> reductions() {
        return Arrays.stream(DataType.values())
                .flatMap(type -> EnumSet.complementOf(EnumSet.of(ReduceOp.Kind.USER)).stream()
                        .filter(kind -> type.isInteger() || !isBitwise(kind))
                        .map(kind -> Arguments.of(type, kind)));
    }

    private static boolean isBitwise(ReduceOp.Kind kind) {
        return kind == ReduceOp.Kind.AND || kind == ReduceOp.Kind.OR || kind == ReduceOp.Kind.XOR;
    }

    @ParameterizedTest
    @MethodSource("reductions")
    void shouldGiveTheSameWhateverTheOrderAndGrouping(DataType type, ReduceOp.Kind kind) {
        Random random = new Random(SEED);
        NaiveReduction naive = new NaiveReduction(type, kind);
        for (int ranks : RANKS) {
            ExactData data = ExactData.reducing(type, kind, ranks);
            DataStream expected = data.reduced(SEED);
            for (int index = 0; index < 120; index++) {
                long actual = naive.reduce(elements(data, ranks, index), random);
                MemorySegment one = segmentOf(type, actual);
                assertThat(expected.countWrong(one, index))
                        .as("%d ranks, element %d: %x, expected %x", ranks, index, actual, expected.bits(index))
                        .isZero();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("reductions")
    void shouldGivePrefixesOfTheRanksWhenScanned(DataType type, ReduceOp.Kind kind) {
        if (kind == ReduceOp.Kind.AVG) {
            return; // the number of ranks to divide by would differ from rank to rank
        }
        int ranks = 7;
        NaiveReduction naive = new NaiveReduction(type, kind);
        ExactData data = ExactData.reducing(type, kind, ranks);
        for (int first = 1; first <= ranks; first++) {
            DataStream expected = data.reduced(first, SEED);
            for (int index = 0; index < 100; index++) {
                assertThat(naive.reduce(elements(data, first, index), new Random(index)))
                        .isEqualTo(expected.bits(index));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("reductions")
    void shouldNoticeWhenARankIsLeftOut(DataType type, ReduceOp.Kind kind) {
        for (int ranks : new int[] {2, 4, 8}) {
            NaiveReduction naive = new NaiveReduction(type, kind);
            ExactData data = ExactData.reducing(type, kind, ranks);
            DataStream expected = data.reduced(SEED);
            for (int missing = 0; missing < ranks; missing++) {
                int noticed = 0;
                for (int index = 0; index < 250; index++) {
                    List<NaiveReduction.Element> elements = elements(data, ranks, index);
                    elements.remove(missing);
                    long actual = naive.reduce(elements, new Random(index));
                    noticed += (int) expected.countWrong(segmentOf(type, actual), index);
                }
                assertThat(noticed).as("rank %d of %d left out", missing, ranks).isPositive();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DataType.class)
    void shouldSayHowManyAreWrongAndWhich(DataType type) {
        DataStream stream = ExactData.moving(type, 4).input(2, SEED);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(40_000L * type.bytes());
            stream.fill(memory, 5);
            assertThat(stream.countWrong(memory, 5)).isZero();
            assertThat(stream.firstWrong(memory, 5)).isEqualTo(-1);
            for (long index : new long[] {7, 12_345, 39_999}) {
                long at = index * type.bytes();
                memory.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at, (byte)
                        ~memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at));
            }
            assertThat(stream.countWrong(memory, 5)).isEqualTo(3);
            assertThat(stream.firstWrong(memory, 5)).isEqualTo(7);
            assertThat(stream.countWrong(memory.asSlice(8L * type.bytes()), 13)).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(DataType.class)
    void shouldGiveTheSamePartWhereverItBegins(DataType type) {
        DataStream stream = ExactData.reducing(type, ReduceOp.Kind.SUM, 3).input(1, SEED);
        byte[] all = new byte[1000 * type.bytes()];
        stream.fill(MemorySegment.ofArray(all), 0);
        for (int from : new int[] {0, 1, 3, 500, 999}) {
            byte[] part = new byte[all.length - from * type.bytes()];
            stream.fill(MemorySegment.ofArray(part), from);
            assertThat(part).isEqualTo(Arrays.copyOfRange(all, from * type.bytes(), all.length));
        }
    }

    @Test
    void shouldDifferWhenSeedOrRankDiffers() {
        ExactData data = ExactData.moving(DataType.INT64, 16);
        Set<Long> firsts = new HashSet<>();
        for (int rank = 0; rank < 16; rank++) {
            for (long seed = 0; seed < 16; seed++) {
                firsts.add(data.input(rank, seed).bits(0));
            }
        }
        assertThat(firsts).hasSize(256);
    }

    @Test
    void shouldAllowTwoUnitsInTheLastPlaceWhenAveragingFloats() {
        DataStream expected =
                ExactData.reducing(DataType.FLOAT32, ReduceOp.Kind.AVG, 3).reduced(SEED);
        long bits = expected.bits(0);
        for (int off = -4; off <= 4; off++) {
            MemorySegment one = segmentOf(DataType.FLOAT32, bits + off);
            assertThat(expected.countWrong(one, 0)).isEqualTo(Math.abs(off) > 2 ? 1 : 0);
        }
        assertThat(expected.countWrong(segmentOf(DataType.FLOAT32, Float.floatToRawIntBits(Float.NaN)), 0))
                .isEqualTo(1);
    }

    @Test
    void shouldRefuseWhatHasNoExactData() {
        assertThatThrownBy(() -> ExactData.reducing(DataType.FLOAT32, ReduceOp.Kind.XOR, 2))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ExactData.reducing(DataType.INT32, ReduceOp.Kind.USER, 2))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ExactData.reducing(DataType.INT32, ReduceOp.Kind.SUM, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ExactData.moving(DataType.INT32, 2).reduced(SEED))
                .isInstanceOf(IllegalStateException.class);
    }

    private static List<NaiveReduction.Element> elements(ExactData data, int ranks, long index) {
        List<NaiveReduction.Element> elements = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            elements.add(new NaiveReduction.Element(rank, data.input(rank, SEED).bits(index)));
        }
        return elements;
    }

    private static MemorySegment segmentOf(DataType type, long bits) {
        MemorySegment whole = MemorySegment.ofArray(new long[] {bits});
        // Little end first on every machine that Java 25 runs on.
        return whole.asSlice(0, type.bytes());
    }
}
