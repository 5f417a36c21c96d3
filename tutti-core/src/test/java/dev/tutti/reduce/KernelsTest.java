package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Scalar twins against the plain reference, vector kernels against scalar twins: every type, fold and odd size. */
@Timeout(60)
class KernelsTest {
    private static final int[] SOURCES = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17};
    private static final int[] COUNTS = {0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 1000, 4099};
    private static final int[] ALIASED_COUNTS = {3, 17, 33, 65, 127, 1000};

    private final long seed = Long.getLong("tutti.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /** One implementation in native form. */
    private interface Reduction {
        void run(int kernel, long[] code, int at, int n, long offset, long dst, int count, long aux, int scaled);
    }

    private static final Reduction SCALAR = (kernel, code, at, n, offset, dst, count, aux, scaled) ->
            Scalars.reduce(kernel, null, 0, null, 0, code, at, n, offset, dst, count, aux, scaled);

    @ParameterizedTest
    @EnumSource
    void shouldEqualTheReferenceWhenScalar(DataType type) {
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 17, arena, random);
            long dst = new Sources(type, 1, arena, random).addresses[0];
            for (Fold fold : folds(type)) {
                for (int n : SOURCES) {
                    for (int count : COUNTS) {
                        long[] code = misaligned(sources, n);
                        long aux = Sources.aux(type, fold, n, random);
                        int scaled = random.nextInt(n + 1) - 1;
                        long to = dst + random.nextInt(9);
                        long[] expected = reference(type, fold, code, n, count, aux, scaled);
                        canaries(to, (long) count * type.bytes());
                        // Through the façade where it adds something of its own; elsewhere it would ask for training.
                        if (isCopy(fold, n)) {
                            Kernels.reduce(Kernels.id(type, fold), code, 1, n, 5, to, count, aux, scaled);
                        } else {
                            SCALAR.run(Kernels.id(type, fold), code, 1, n, 5, to, count, aux, scaled);
                        }
                        check(type, fold, n, count, "scalar", expected, to);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEqualTheScalarTwinWhenVectorised(DataType type) {
        assertThat(Kernels.unavailabilityCause()).isNull();
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 17, arena, random);
            long[] dst = new Sources(type, 2, arena, random).addresses;
            kernels(type, (kernel, fold, n) -> {
                for (int count : COUNTS) {
                    long[] code = misaligned(sources, n);
                    long aux = Sources.aux(type, fold, n, random);
                    int scaled = random.nextInt(n + 1) - 1;
                    long to = dst[1] + random.nextInt(9);
                    canaries(to, (long) count * type.bytes());
                    SCALAR.run(kernel, code, 1, n, 5, dst[0], count, aux, scaled);
                    Vectors.reduce(kernel, code, 1, n, 5, to, count, aux, scaled);
                    check(type, fold, n, count, "vector", elements(type, dst[0], count), to);
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadBeforeWritingWhenTheDestinationIsASource(DataType type) {
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 17, arena, random);
            long expected = new Sources(type, 1, arena, random).addresses[0];
            Sources backup = new Sources(type, 1, arena, random);
            for (Fold fold : folds(type)) {
                int kernel = Kernels.id(type, fold);
                for (int n : SOURCES) {
                    long[] code = misaligned(sources, n);
                    long aux = Sources.aux(type, fold, n, random);
                    for (int alias = 0; alias < n; alias += n > 9 ? 5 : 1) {
                        int count = ALIASED_COUNTS[random.nextInt(ALIASED_COUNTS.length)];
                        long bytes = (long) count * type.bytes();
                        long dst = code[1 + alias] + 5;
                        SCALAR.run(kernel, code, 1, n, 5, expected, count, aux, alias);
                        Memory.copy(dst, backup.addresses[0], bytes);
                        SCALAR.run(kernel, code, 1, n, 5, dst, count, aux, alias);
                        compare(type, fold, n, "scalar on source " + alias, elements(type, expected, count), dst);
                        Memory.copy(backup.addresses[0], dst, bytes);
                        if (Vectors.exists(kernel, n)) {
                            Vectors.reduce(kernel, code, 1, n, 5, dst, count, aux, alias);
                            compare(type, fold, n, "vector on source " + alias, elements(type, expected, count), dst);
                            Memory.copy(backup.addresses[0], dst, bytes);
                        }
                    }
                }
            }
        }
    }

    /** As they are before training, by the vectors of a trained one, and where few elements are folded where they lie; apart and in place. */
    @ParameterizedTest
    @EnumSource
    void shouldEqualTheScalarTwinAsAPair(DataType type) {
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 2, arena, random);
            long[] dst = new Sources(type, 2, arena, random).addresses;
            for (Fold fold : folds(type)) {
                if (fold == Fold.MUL_SUM) {
                    continue;
                }
                int kernel = Kernels.id(type, fold);
                for (int count : COUNTS) {
                    long[] code = misaligned(sources, 2);
                    long aux = Sources.aux(type, fold, 2, random);
                    SCALAR.run(kernel, code, 1, 2, 5, dst[0], count, aux, -1);
                    long[] expected = elements(type, dst[0], count);
                    long first = code[1] + 5;
                    long second = code[2] + 5;
                    long to = dst[1] + random.nextInt(9);
                    long bytes = (long) count * type.bytes();
                    canaries(to, bytes);
                    new PairFold(kernel, count, aux).fold(first, second, to);
                    check(type, fold, 2, count, "pair", expected, to);
                    if (Vectors.exists(kernel, 2)) {
                        canaries(to, bytes);
                        Vectors.pair(kernel, aux).fold(first, second, to, count);
                        check(type, fold, 2, count, "vectors of a pair", expected, to);
                    }
                    long place = random.nextBoolean() ? first : second;
                    Memory.copy(place, to, bytes);
                    new PairFold(kernel, count, aux).fold(first, second, place);
                    compare(type, fold, 2, "pair in place", expected, place);
                    Memory.copy(to, place, bytes);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEqualTheScalarTwinWhenInPasses(DataType type) {
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 17, arena, random);
            long expected = new Sources(type, 1, arena, random).addresses[0];
            for (Fold fold : folds(type)) {
                int kernel = Kernels.id(type, fold);
                for (int n : Passes.suit(kernel, 9) ? new int[] {9, 10, 15, 16, 17} : new int[0]) {
                    long[] code = misaligned(sources, n);
                    long aux = Sources.aux(type, fold, n, random);
                    int count = COUNTS[random.nextInt(COUNTS.length)];
                    int scaled = random.nextInt(n + 1) - 1;
                    // The destination is one of the sources, as it is in place.
                    long dst = code[1 + random.nextInt(n)] + 5;
                    SCALAR.run(kernel, code, 1, n, 5, expected, count, aux, scaled);
                    Passes.reduce(kernel, code, 1, n, 5, dst, count, aux, scaled);
                    compare(type, fold, n, "in passes", elements(type, expected, count), dst);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEqualTheNativeFormWhenOnArrays(DataType type) {
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 17, arena, random);
            long expected = new Sources(type, 1, arena, random).addresses[0];
            for (Fold fold : folds(type)) {
                int kernel = Kernels.id(type, fold);
                for (int n : new int[] {1, 2, 3, 5, 8, 9}) {
                    for (int count : COUNTS) {
                        long[] code = misaligned(sources, n);
                        long aux = Sources.aux(type, fold, n, random);
                        int scaled = random.nextInt(n + 1) - 1;
                        if (isCopy(fold, n)) {
                            Memory.copy(code[1] + 5, expected, (long) count * type.bytes());
                        } else {
                            SCALAR.run(kernel, code, 1, n, 5, expected, count, aux, scaled);
                        }
                        long[] elements = elements(type, expected, count);
                        for (int form = 0; form < 4; form++) {
                            boolean inPlace = (form & 1) != 0;
                            boolean vector = (form & 2) != 0;
                            boolean scalesOther = fold == Fold.MUL_SUM && scaled > 0;
                            if (vector && (!Vectors.exists(kernel, n) || scalesOther)) {
                                continue;
                            }
                            int ownAt = 7;
                            int outAt = inPlace ? ownAt : random.nextInt(9);
                            Object own = array(type, code[1] + 5, ownAt, count);
                            Object out = inPlace ? own : array(type, sources.addresses[16], outAt, count);
                            if (vector) {
                                Vectors.reduceHeap(
                                        kernel, out, outAt, own, ownAt, code, 2, n - 1, 5, count, aux, scaled);
                            } else if (isCopy(fold, n)) {
                                Kernels.reduceHeap(
                                        kernel, out, outAt, own, ownAt, code, 2, n - 1, 5, count, aux, scaled);
                            } else {
                                Scalars.reduce(
                                        kernel, own, ownAt, out, outAt, code, 2, n - 1, 5, 0, count, aux, scaled);
                            }
                            checkArray(type, fold, n, (vector ? "vector" : "scalar") + " heap", elements, out, outAt);
                        }
                    }
                }
            }
        }
    }

    /** Every number, and with each factor another way to round. */
    @ParameterizedTest
    @ValueSource(floats = {1, 0.75f, 0x1.554p-9f, 1e-4f, 37.3f, 3e38f, Float.NaN})
    void shouldRoundEveryFloat16AsTheScalarTwinDoesWhenThereAreManySources(float factor) {
        int count = 1 << 16;
        int kernel = Kernels.id(DataType.FLOAT16, Fold.MUL_SUM);
        try (Arena arena = Arena.ofConfined()) {
            long every = arena.allocate(2L * count).address();
            long zeros = arena.allocate(2L * count).address();
            for (int i = 0; i < count; i++) {
                Memory.ALL.set(Memory.SHORT, every + 2L * i, (short) i);
                Memory.ALL.set(Memory.SHORT, zeros + 2L * i, Short.MIN_VALUE);
            }
            long[] code = {zeros, zeros, zeros, every, zeros, zeros, zeros, zeros, zeros};
            long expected = arena.allocate(2L * count).address();
            long actual = arena.allocate(2L * count).address();
            long aux = Float.floatToRawIntBits(factor);
            SCALAR.run(kernel, code, 0, 9, 0, expected, count, aux, 3);
            Vectors.reduce(kernel, code, 0, 9, 0, actual, count, aux, 3);
            compare(
                    DataType.FLOAT16,
                    Fold.MUL_SUM,
                    9,
                    "factor " + factor,
                    elements(DataType.FLOAT16, expected, count),
                    actual);
        }
    }

    private interface KernelCase {
        void run(int kernel, Fold fold, int n);
    }

    private static void kernels(DataType type, KernelCase test) {
        for (Fold fold : folds(type)) {
            int kernel = Kernels.id(type, fold);
            for (int n : SOURCES) {
                if (Vectors.exists(kernel, n)) {
                    test.run(kernel, fold, n);
                }
            }
        }
    }

    private static boolean isCopy(Fold fold, int n) {
        return n == 1 && fold != Fold.AVG && fold != Fold.MUL_SUM;
    }

    static Fold[] folds(DataType type) {
        return Stream.of(Fold.values()).filter(fold -> fold.accepts(type)).toArray(Fold[]::new);
    }

    /** Addresses from index 1, each off by some bytes; kernels add 5 more. */
    private long[] misaligned(Sources sources, int n) {
        long[] code = new long[n + 1];
        for (int k = 0; k < n; k++) {
            code[k + 1] = sources.addresses[k] + random.nextInt(3) * random.nextInt(9);
        }
        return code;
    }

    private static long[] reference(DataType type, Fold fold, long[] code, int n, int count, long aux, int scaled) {
        long[] result = new long[count];
        long[] elements = new long[n];
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < n; k++) {
                elements[k] = Sources.get(type, code[k + 1] + 5 + (long) i * type.bytes());
            }
            result[i] = Numbers.fold(type, fold, elements, aux, scaled);
        }
        return result;
    }

    private static long[] elements(DataType type, long address, int count) {
        long[] result = new long[count];
        for (int i = 0; i < count; i++) {
            result[i] = Sources.get(type, address + (long) i * type.bytes());
        }
        return result;
    }

    private static void canaries(long dst, long bytes) {
        Memory.ALL.asSlice(dst - Sources.CANARY_BYTES, Sources.CANARY_BYTES).fill(Sources.CANARY);
        Memory.ALL.asSlice(dst + bytes, Sources.CANARY_BYTES).fill(Sources.CANARY);
    }

    private void check(DataType type, Fold fold, int n, int count, String what, long[] expected, long dst) {
        compare(type, fold, n, what, expected, dst);
        for (int i = 0; i < Sources.CANARY_BYTES; i++) {
            long after = dst + (long) count * type.bytes() + i;
            if (Memory.ALL.get(Memory.BYTE, dst - 1 - i) != Sources.CANARY
                    || Memory.ALL.get(Memory.BYTE, after) != Sources.CANARY) {
                fail("%s %s n=%d count=%d %s wrote outside, seed %d", type, fold, n, count, what, seed);
            }
        }
    }

    private void compare(DataType type, Fold fold, int n, String what, long[] expected, long dst) {
        for (int i = 0; i < expected.length; i++) {
            long actual = Sources.get(type, dst + (long) i * type.bytes());
            if (!Numbers.same(type, expected[i], actual)) {
                fail(
                        "%s %s n=%d count=%d %s: element %d is %x, not %x, seed %d",
                        type, fold, n, expected.length, what, i, actual, expected[i], seed);
            }
        }
    }

    private void checkArray(DataType type, Fold fold, int n, String what, long[] expected, Object out, int outAt) {
        for (int i = 0; i < Array.getLength(out); i++) {
            long actual = bits(out, i) & Numbers.mask(type);
            boolean inside = i >= outAt && i < outAt + expected.length;
            if (!inside && actual != (Sources.CANARY & Numbers.mask(type))) {
                fail("%s %s n=%d %s wrote outside at %d, seed %d", type, fold, n, what, i, seed);
            }
            if (inside && !Numbers.same(type, expected[i - outAt], actual)) {
                fail(
                        "%s %s n=%d count=%d %s: element %d is %x, not %x, seed %d",
                        type, fold, n, expected.length, what, i - outAt, actual, expected[i - outAt], seed);
            }
        }
    }

    private static long bits(Object array, int i) {
        return switch (array) {
            case float[] floats -> Float.floatToRawIntBits(floats[i]);
            case double[] doubles -> Double.doubleToRawLongBits(doubles[i]);
            default -> Array.getLong(array, i);
        };
    }

    /** {@code count} elements from memory at index {@code at} of an array that is a little longer; canaries around. */
    private static Object array(DataType type, long from, int at, int count) {
        int length = at + count + 11;
        switch (type) {
            case FLOAT32 -> {
                float[] floats = new float[length];
                java.util.Arrays.fill(floats, Float.intBitsToFloat(Sources.CANARY));
                MemorySegment.copy(Memory.ALL, Memory.FLOAT, from, floats, at, count);
                return floats;
            }
            case FLOAT64 -> {
                double[] doubles = new double[length];
                java.util.Arrays.fill(doubles, Double.longBitsToDouble(Sources.CANARY));
                MemorySegment.copy(Memory.ALL, Memory.DOUBLE, from, doubles, at, count);
                return doubles;
            }
            default -> {
                Object array = Array.newInstance(
                        switch (type.bytes()) {
                            case 1 -> byte.class;
                            case 2 -> short.class;
                            case 4 -> int.class;
                            default -> long.class;
                        },
                        length);
                for (int i = 0; i < length; i++) {
                    boolean inside = i >= at && i < at + count;
                    long bits = inside ? Sources.get(type, from + (long) (i - at) * type.bytes()) : Sources.CANARY;
                    switch (type.bytes()) {
                        case 1 -> Array.setByte(array, i, (byte) bits);
                        case 2 -> Array.setShort(array, i, (short) bits);
                        case 4 -> Array.setInt(array, i, (int) bits);
                        default -> Array.setLong(array, i, bits);
                    }
                }
                return array;
            }
        }
    }
}
