package dev.tutti.data;

import dev.tutti.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * An endless, reproducible row of elements: what a rank puts into a collective, or what must come out. Any part of it can be
 * written or compared by giving the index at which it begins. Immutable; threads may share it.
 */
public final class DataStream {
    /** Elements are made and compared in pieces that stay in the first cache, through an array: one kind of memory to compile. */
    private static final int PIECE_BYTES = 16 << 10;

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final DataType type;
    private final long @Nullable [] values;
    private final int shift;
    private final long start;
    private final int tolerance;

    /**
     * A row that picks one of some values by the hash of each index.
     *
     * @param values bits of the elements to choose from, a power of two of them; null to take the hash itself
     * @param tolerance units in the last place by which an element may be wrong
     */
    DataStream(DataType type, long @Nullable [] values, long seed, int tolerance) {
        this.type = type;
        this.values = values;
        this.shift = values == null ? 0 : 64 - Integer.numberOfTrailingZeros(values.length);
        this.start = mix(seed + 1);
        this.tolerance = tolerance;
    }

    /**
     * The same element everywhere: to poison memory, and to see that nobody wrote to it.
     *
     * @param type what the elements are
     * @param bits the element
     * @return the row
     */
    public static DataStream constant(DataType type, long bits) {
        return new DataStream(type, new long[] {bits, bits}, 0, 0);
    }

    /**
     * One element.
     *
     * @param index which
     * @return its bits, zero-extended
     */
    public long bits(long index) {
        return element(index) & (-1L >>> (64 - 8 * type.bytes()));
    }

    /**
     * Writes a part of the row.
     *
     * @param to as many whole elements as fit in here
     * @param firstIndex where the part begins
     */
    public void fill(MemorySegment to, long firstIndex) {
        MemorySegment piece = newPiece(to.byteSize());
        for (long offset = 0; offset < to.byteSize(); offset += PIECE_BYTES) {
            long bytes = Math.min(PIECE_BYTES, to.byteSize() - offset);
            make(piece, firstIndex + offset / type.bytes(), bytes);
            MemorySegment.copy(piece, 0, to, offset, bytes);
        }
    }

    /**
     * Compares memory with a part of the row.
     *
     * @param actual what to compare
     * @param firstIndex where the part begins
     * @return how many elements differ by more than the tolerance
     */
    public long countWrong(MemorySegment actual, long firstIndex) {
        return compare(actual, firstIndex, false);
    }

    /**
     * Finds the first difference, for messages.
     *
     * @param actual what to compare
     * @param firstIndex where the part begins
     * @return the wrong element's place in {@code actual}, or -1
     */
    public long firstWrong(MemorySegment actual, long firstIndex) {
        return compare(actual, firstIndex, true);
    }

    /** The number of wrong elements, or the place of the first one. */
    private long compare(MemorySegment actual, long firstIndex, boolean first) {
        MemorySegment piece = newPiece(actual.byteSize());
        int width = type.bytes();
        long wrong = 0;
        for (long offset = 0; offset < actual.byteSize(); offset += PIECE_BYTES) {
            long bytes = Math.min(PIECE_BYTES, actual.byteSize() - offset);
            make(piece, firstIndex + offset / width, bytes);
            long same = MemorySegment.mismatch(piece, 0, bytes, actual, offset, offset + bytes);
            for (long at = same < 0 ? bytes : same / width * width; at < bytes; at += width) {
                if (isWrong(get(actual, offset + at), get(piece, at))) {
                    if (first) {
                        return (offset + at) / width;
                    }
                    wrong++;
                }
            }
        }
        return first ? -1 : wrong;
    }

    private boolean isWrong(long actual, long expected) {
        return actual != expected && (tolerance == 0 || FloatFormat.of(type).distance(actual, expected) > tolerance);
    }

    private static MemorySegment newPiece(long bytes) {
        return MemorySegment.ofArray(new long[(int) Math.min(PIECE_BYTES, bytes + 7) / 8]);
    }

    private void make(MemorySegment piece, long firstIndex, long bytes) {
        switch (type.bytes()) {
            case 1 -> {
                for (long i = 0; i < bytes; i++) {
                    piece.set(ValueLayout.JAVA_BYTE, i, (byte) element(firstIndex + i));
                }
            }
            case 2 -> {
                for (long i = 0; i < bytes / 2; i++) {
                    piece.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) element(firstIndex + i));
                }
            }
            case 4 -> {
                for (long i = 0; i < bytes / 4; i++) {
                    piece.setAtIndex(ValueLayout.JAVA_INT, i, (int) element(firstIndex + i));
                }
            }
            default -> {
                for (long i = 0; i < bytes / 8; i++) {
                    piece.setAtIndex(ValueLayout.JAVA_LONG, i, element(firstIndex + i));
                }
            }
        }
    }

    private long get(MemorySegment from, long offset) {
        return switch (type.bytes()) {
            case 1 -> Byte.toUnsignedLong(from.get(ValueLayout.JAVA_BYTE, offset));
            case 2 -> Short.toUnsignedLong(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset));
            case 4 -> Integer.toUnsignedLong(from.get(ValueLayout.JAVA_INT_UNALIGNED, offset));
            default -> from.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
        };
    }

    private long element(long index) {
        long hash = (start + index) * GOLDEN;
        hash = (hash ^ hash >>> 32) * GOLDEN;
        return values == null ? hash ^ hash >>> 29 : values[(int) (hash >>> shift)];
    }

    /** Spreads every bit of the argument over the result (the last steps of SplitMix64). */
    static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
