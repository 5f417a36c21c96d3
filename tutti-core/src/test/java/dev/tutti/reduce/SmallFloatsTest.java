package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every value, and for 8 bits every pair of values. */
@Timeout(60)
class SmallFloatsTest {
    private static final int PAIRS = 1 << 16;

    private final long seed = Long.getLong("tutti.seed", System.nanoTime());

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16", "FLOAT8E4M3", "FLOAT8E5M2"})
    void shouldKeepEachValueWhenConvertedToFloatAndBack(DataType type) {
        int values = 1 << 8 * type.bytes();
        // The average of one source divides by 1: decode and encode, nothing else.
        int kernel = Kernels.id(type, Fold.AVG);
        try (Arena arena = Arena.ofConfined()) {
            long source = arena.allocate((long) values * type.bytes()).address();
            long dst = arena.allocate((long) values * type.bytes()).address();
            for (int i = 0; i < values; i++) {
                Sources.set(type, source + (long) i * type.bytes(), i);
            }
            for (boolean vector : new boolean[] {false, true}) {
                reduce(vector, kernel, new long[] {source}, dst, values, 1);
                for (int i = 0; i < values; i++) {
                    long actual = Sources.get(type, dst + (long) i * type.bytes());
                    long expected = Numbers.encode(type, Numbers.decode(type, i));
                    if (!Numbers.same(type, expected, actual)) {
                        fail("%s %x became %x, not %x (vector: %b)", type, i, actual, expected, vector);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16", "FLOAT8E4M3", "FLOAT8E5M2"})
    void shouldRoundToNearestEvenWhenBetweenTwoValues(DataType type) {
        Random random = new Random(seed);
        for (int code = 0; code < (1 << 8 * type.bytes()) - 1; code++) {
            float low = Numbers.decode(type, code);
            float high = Numbers.decode(type, code + 1);
            float middle = low + (high - low) / 2;
            for (float value : new float[] {
                low, middle, Math.nextUp(middle), Math.nextDown(middle), Float.intBitsToFloat(random.nextInt())
            }) {
                long expected = Numbers.encode(type, value);
                long actual = encode(type, value) & Numbers.mask(type);
                if (!Numbers.same(type, expected, actual)) {
                    fail("%s of %a is %x, not %x, seed %d", type, value, actual, expected, seed);
                }
            }
        }
    }

    private static long encode(DataType type, float value) {
        return switch (type) {
            case FLOAT16 -> Float.floatToFloat16(value);
            case BFLOAT16 -> SmallFloats.floatToBfloat16(value);
            case FLOAT8E4M3 -> SmallFloats.floatToE4m3(value);
            default -> SmallFloats.floatToE5m2(value);
        };
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT8E4M3", "FLOAT8E5M2"})
    void shouldEqualTheReferenceWhenFoldingEachPairOf8Bits(DataType type) {
        try (Arena arena = Arena.ofConfined()) {
            long[] code = {
                arena.allocate(PAIRS).address(), arena.allocate(PAIRS).address()
            };
            long dst = arena.allocate(PAIRS).address();
            for (int i = 0; i < PAIRS; i++) {
                Sources.set(type, code[0] + i, i >>> 8);
                Sources.set(type, code[1] + i, i & 0xFF);
            }
            for (Fold fold : KernelsTest.folds(type)) {
                long aux = fold == Fold.AVG ? 3 : Float.floatToRawIntBits(-1.7f);
                for (boolean vector : new boolean[] {false, true}) {
                    reduce(vector, Kernels.id(type, fold), code, dst, PAIRS, aux);
                    for (int i = 0; i < PAIRS; i++) {
                        long expected = Numbers.fold(type, fold, new long[] {i >>> 8, i & 0xFF}, aux, 0);
                        long actual = Sources.get(type, dst + i);
                        if (!Numbers.same(type, expected, actual)) {
                            fail("%s %s of %04x is %x, not %x (vector: %b)", type, fold, i, actual, expected, vector);
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldSaturateWhen8BitsOverflow() {
        assertThat(SmallFloats.floatToE4m3(Float.POSITIVE_INFINITY)).isEqualTo((byte) 0x7E);
        assertThat(SmallFloats.floatToE4m3(-1e30f)).isEqualTo((byte) 0xFE);
        assertThat(SmallFloats.e4m3ToFloat((byte) 0x7E)).isEqualTo(448f);
        assertThat(SmallFloats.floatToE5m2(Float.NEGATIVE_INFINITY)).isEqualTo((byte) 0xFB);
        assertThat(SmallFloats.e5m2ToFloat((byte) 0x7B)).isEqualTo(57344f);
        assertThat(SmallFloats.e5m2ToFloat(SmallFloats.floatToE5m2(Float.NaN))).isNaN();
        assertThat(SmallFloats.e4m3ToFloat(SmallFloats.floatToE4m3(Float.NaN))).isNaN();
    }

    private static void reduce(boolean vector, int kernel, long[] code, long dst, int count, long aux) {
        if (vector) {
            Vectors.reduce(kernel, code, 0, code.length, 0, dst, count, aux, 0);
        } else {
            Scalars.reduce(kernel, null, 0, null, 0, code, 0, code.length, 0, dst, count, aux, 0);
        }
    }
}
