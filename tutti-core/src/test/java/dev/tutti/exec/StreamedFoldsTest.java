package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tutti.DataType;
import dev.tutti.posix.StreamingFold;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Results that go past the caches have the bits of those that do not. */
@Timeout(60)
class StreamedFoldsTest {
    private static final int ROOM = 300 << 10;
    private static final byte POISON = 0x6B;
    private static final int RUNS = 12;

    private final Endpoint endpoint = new Ranks(1, 1 << 16, 1 << 16, 0, call -> {
                throw new IllegalStateException("no call is made");
            })
            .all.getFirst().endpoint;

    @BeforeEach
    void requireStreaming() {
        assumeTrue(StreamingFold.isAvailable(), () -> "" + StreamingFold.unavailabilityCause());
    }

    @ParameterizedTest
    @EnumSource(Fold.class)
    void shouldGiveTheSameBitsWhenResultsGoPastTheCaches(Fold fold) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Set<DataType> streamed = new HashSet<>();
        try (Arena arena = Arena.ofConfined()) {
            for (DataType type : DataType.values()) {
                for (int run = 0; run < RUNS && fold.accepts(type); run++) {
                    if (compare(type, fold, random, arena, "seed " + seed + ", run " + run)) {
                        streamed.add(type);
                    }
                }
            }
        }
        switch (fold) {
            case SUM -> assertThat(streamed).hasSize(10);
            case PROD -> assertThat(streamed).containsExactlyInAnyOrder(DataType.FLOAT32, DataType.FLOAT64);
            case AND, OR, XOR -> assertThat(streamed).hasSize(8);
            default -> assertThat(streamed).isEmpty();
        }
    }

    /** A record with random operands, both ways; whether it can go past the caches. */
    private boolean compare(DataType type, Fold fold, Random random, Arena arena, String what) {
        endpoint.elementShift = Integer.numberOfTrailingZeros(type.bytes());
        endpoint.aux = fold == Fold.AVG ? 3 : 1;
        int sources = 2 + random.nextInt(random.nextInt(4) == 0 ? 12 : 3);
        int destinations = 1 + random.nextInt(3);
        // Elements where they belong; destinations alike in their lines, or not.
        int[] shifts = new int[sources + destinations];
        int shift = random.nextInt(64 / type.bytes()) * type.bytes();
        for (int i = 0; i < shifts.length; i++) {
            shifts[i] =
                    i < sources || random.nextInt(8) == 0 ? random.nextInt(64 / type.bytes()) * type.bytes() : shift;
        }
        MemorySegment[] memory = new MemorySegment[shifts.length];
        Arrays.setAll(memory, i -> arena.allocate(ROOM + 64, 64));
        for (int i = 0; i < sources; i++) {
            fill(memory[i], type, random);
        }
        long[] code = record(type, fold, memory, shifts, sources);
        if (StreamedFolds.of(code, 0, endpoint) == null) {
            return false;
        }
        int elements = random.nextInt(ROOM / type.bytes() / (random.nextBoolean() ? 1 : 1000));
        long from = (long) random.nextInt(elements + 1) * type.bytes();
        long to = (long) elements * type.bytes();
        MemorySegment[] expected = run(code, memory, sources, from, to, false);
        MemorySegment[] found = run(code, memory, sources, from, to, true);
        for (int i = 0; i < destinations; i++) {
            assertSame(type, expected[i], found[i], type + " " + fold + " of " + sources + ", " + what);
        }
        return true;
    }

    private static void fill(MemorySegment memory, DataType type, Random random) {
        for (long at = 0; at < memory.byteSize(); at += 8) {
            // Floats of every size, and now and then anything that eight bytes can be.
            long bits = type == DataType.FLOAT32 && random.nextInt(16) > 0
                    ? Float.floatToRawIntBits((float) random.nextGaussian()) * 0x1_0000_0001L
                    : random.nextLong();
            memory.set(ValueLayout.JAVA_LONG, at, bits);
        }
    }

    private static long[] record(DataType type, Fold fold, MemorySegment[] memory, int[] shifts, int sources) {
        int words = Records.OPERANDS + memory.length;
        long[] code = new long[words + 1];
        code[0] = Records.header(Records.DATA, sources, memory.length - sources, Records.LOOPED, words + 1);
        code[1] = ROOM;
        code[2] = Records.fold(Kernels.id(type, fold), 0, memory.length - sources - 1);
        for (int i = 0; i < memory.length; i++) {
            code[Records.OPERANDS + i] = memory[i].address() + shifts[i];
        }
        code[words] = 12345; // where a record of a loop begins, which is no operand
        return code;
    }

    private MemorySegment[] run(long[] code, MemorySegment[] memory, int sources, long from, long to, boolean stream) {
        for (int i = sources; i < memory.length; i++) {
            memory[i].fill(POISON);
        }
        endpoint.stores.stream(new Streamed(false, false, stream));
        Transfers.run(code, 0, from, to, endpoint);
        return Arrays.stream(memory, sources, memory.length)
                .map(each -> MemorySegment.ofArray(each.toArray(ValueLayout.JAVA_BYTE)))
                .toArray(MemorySegment[]::new);
    }

    /** NaNs are a class. */
    private static void assertSame(DataType type, MemorySegment expected, MemorySegment found, String what) {
        for (long at = expected.mismatch(found); at >= 0; at = next(expected, found, at)) {
            long element = at / type.bytes() * type.bytes();
            boolean both = type == DataType.FLOAT32
                    ? isFloatNaN(expected, element) && isFloatNaN(found, element)
                    : type == DataType.FLOAT64 && isDoubleNaN(expected, element) && isDoubleNaN(found, element);
            assertThat(both).as("%s, byte %d", what, at).isTrue();
            at = element + type.bytes() - 1L;
        }
    }

    private static long next(MemorySegment expected, MemorySegment found, long after) {
        long at = MemorySegment.mismatch(expected, after + 1, expected.byteSize(), found, after + 1, found.byteSize());
        return at < 0 ? -1 : after + 1 + at;
    }

    private static boolean isFloatNaN(MemorySegment memory, long at) {
        return Float.isNaN(memory.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at));
    }

    private static boolean isDoubleNaN(MemorySegment memory, long at) {
        return Double.isNaN(memory.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at));
    }

    @Test
    void shouldLeaveTheCachesAloneWhenTheResultReplacesASource() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment[] memory = {arena.allocate(ROOM, 64), arena.allocate(ROOM, 64), arena.allocate(ROOM, 64)};
            long[] code = record(DataType.INT32, Fold.SUM, memory, new int[3], 2);
            endpoint.elementShift = 2;
            assertThat(StreamedFolds.of(code, 0, endpoint)).isNotNull();
            code[Records.OPERANDS + 2] = code[Records.OPERANDS];
            assertThat(StreamedFolds.of(code, 0, endpoint)).isNull();
        }
    }
}
