package dev.tutti.semantics;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.DataType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/** Memory for 32-bit integers that is filled with poison, with bytes before and after it that nobody may touch. */
final class Guarded {
    /** Where the memory comes from. */
    enum Placement {
        ARRAY,
        BYTES_OF_HEAP,
        AUTOMATIC,
        GLOBAL,
        SHARED,
        CONFINED,
        MAPPED,
        OWN
    }

    static final int POISON = 0xDEADBEEF;
    private static final int GUARD_INTS = 24;
    private static final byte GUARD = (byte) 0xA5;

    private final MemorySegment whole;
    private final MemorySegment inside;
    private final Buffer buffer;

    private Guarded(MemorySegment whole, MemorySegment inside, Buffer buffer) {
        this.whole = whole;
        this.inside = inside;
        this.buffer = buffer;
        whole.fill(GUARD);
        poison();
    }

    static Guarded of(int count) {
        return of(Placement.ARRAY, count);
    }

    static Guarded of(Placement placement, int count) {
        long bytes = 4L * (count + 2 * GUARD_INTS);
        if (placement == Placement.ARRAY) {
            int[] array = new int[count + 2 * GUARD_INTS];
            Buffer buffer = Buffer.of(array, GUARD_INTS, count);
            return new Guarded(MemorySegment.ofArray(array), buffer.segment(), buffer);
        }
        if (placement == Placement.OWN) {
            Buffer all = OwnMemory.allocate(DataType.INT32, count + 2 * GUARD_INTS);
            Buffer buffer = all.slice(GUARD_INTS, count);
            return new Guarded(all.segment(), buffer.segment(), buffer);
        }
        MemorySegment whole = switch (placement) {
            // One byte off: nothing may assume that elements are aligned.
            case BYTES_OF_HEAP ->
                MemorySegment.ofArray(new byte[(int) bytes + 8]).asSlice(1, bytes);
            case GLOBAL -> Arena.global().allocate(bytes + 8).asSlice(3, bytes);
            case SHARED -> Arena.ofShared().allocate(bytes, 64);
            case CONFINED -> Arena.ofConfined().allocate(bytes, 64);
            case MAPPED -> mapped(bytes);
            default -> Arena.ofAuto().allocate(bytes, 64);
        };
        MemorySegment inside = whole.asSlice(4L * GUARD_INTS, 4L * count);
        return new Guarded(whole, inside, Buffer.of(inside, DataType.INT32));
    }

    private static MemorySegment mapped(long bytes) {
        try {
            Path file = Files.createTempFile("tutti", ".mapped");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto());
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Buffer buffer() {
        return buffer;
    }

    int count() {
        return (int) buffer.count();
    }

    int get(int index) {
        return inside.get(JAVA_INT_UNALIGNED, 4L * index);
    }

    /** Sets elements from {@code from} on. */
    void set(int from, int count, IntUnaryOperator value) {
        int[] values = new int[count];
        Arrays.setAll(values, value);
        MemorySegment.copy(values, 0, inside, JAVA_INT_UNALIGNED, 4L * from, count);
    }

    /** Checks elements from {@code from} on. */
    void assertElements(int from, int count, IntUnaryOperator expected, String what) {
        int[] values = new int[count];
        MemorySegment.copy(inside, JAVA_INT_UNALIGNED, 4L * from, values, 0, count);
        for (int i = 0; i < count; i++) {
            if (values[i] != expected.applyAsInt(i)) {
                assertElement(from + i, expected.applyAsInt(i), what);
            }
        }
    }

    void set(int index, int value) {
        inside.set(JAVA_INT_UNALIGNED, 4L * index, value);
    }

    void poison() {
        set(0, (int) (inside.byteSize() / 4), _ -> POISON);
    }

    void assertPoisoned(String what) {
        assertElements(0, count(), _ -> POISON, what);
        assertGuards(what);
    }

    void assertElement(int index, int expected, String what) {
        if (get(index) != expected) {
            assertThat(Integer.toHexString(get(index)))
                    .as("%s, element %d of %d", what, index, count())
                    .isEqualTo(Integer.toHexString(expected));
        }
    }

    void assertGuards(String what) {
        long before = 4L * GUARD_INTS;
        long after = before + inside.byteSize();
        assertGuard(whole.asSlice(0, before), "before " + what);
        assertGuard(whole.asSlice(after), "after " + what);
    }

    private static void assertGuard(MemorySegment guard, String where) {
        for (long i = 0; i < guard.byteSize(); i++) {
            if (guard.get(JAVA_BYTE, i) != GUARD) {
                assertThat(i).as("byte %d %s was overwritten", i, where).isEqualTo(-1);
            }
        }
    }
}
