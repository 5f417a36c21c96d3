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

    private static final int LANE_BITS = 16;
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final DataType type;
    private final long @Nullable [] values;
    /** A hash is cut into lanes, one for each of a few neighbouring elements: hashing is what takes the time. */
    private final int laneBits;

    private final int perHashShift;
    private final long start;
    private final int tolerance;
    private final boolean constant;

    /**
     * A row that picks one of some values by the hash of each index.
     *
     * @param values bits of the elements to choose from, a power of two of them, at most 2<sup>16</sup>; null to take the hash itself
     * @param tolerance units in the last place by which an element may be wrong
     */
    DataStream(DataType type, long @Nullable [] values, long seed, int tolerance) {
        this.type = type;
        this.values = values;
        this.laneBits = values == null ? 8 * type.bytes() : LANE_BITS;
        this.perHashShift = Integer.numberOfTrailingZeros(64 / laneBits);
        this.start = mix(seed + 1);
        this.tolerance = tolerance;
        this.constant = values != null && values.length == 1;
    }

    /**
     * The same element everywhere: to poison memory, and to see that nobody wrote to it.
     *
     * @param type what the elements are
     * @param bits the element
     * @return the row
     */
    public static DataStream constant(DataType type, long bits) {
        return new DataStream(type, new long[] {bits}, 0, 0);
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
            if (offset == 0 || !constant) {
                make(piece, firstIndex + offset / type.bytes(), bytes);
            }
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
            if (offset == 0 || !constant) {
                make(piece, firstIndex + offset / width, bytes);
            }
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
        int perHash = 1 << perHashShift;
        long count = bytes / type.bytes();
        long i = 0;
        while (i < count) {
            int lane = (int) (firstIndex + i) & (perHash - 1);
            long hash = hash(firstIndex + i) >>> (lane * laneBits);
            long end = Math.min(count, i + perHash - lane);
            i = put(piece, i, end, hash);
        }
    }

    /** Elements that one hash gives. */
    private long put(MemorySegment piece, long from, long end, long hash) {
        long lanes = hash;
        long i = from;
        switch (type.bytes()) {
            case 1 -> {
                for (; i < end; i++, lanes >>>= laneBits) {
                    piece.set(ValueLayout.JAVA_BYTE, i, (byte) chosen(lanes));
                }
            }
            case 2 -> {
                for (; i < end; i++, lanes >>>= laneBits) {
                    piece.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) chosen(lanes));
                }
            }
            case 4 -> {
                for (; i < end; i++, lanes >>>= laneBits) {
                    piece.setAtIndex(ValueLayout.JAVA_INT, i, (int) chosen(lanes));
                }
            }
            default -> {
                for (; i < end; i++, lanes >>>= laneBits) {
                    piece.setAtIndex(ValueLayout.JAVA_LONG, i, chosen(lanes));
                }
            }
        }
        return i;
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
        int lane = (int) index & ((1 << perHashShift) - 1);
        return chosen(hash(index) >>> (lane * laneBits));
    }

    private long chosen(long lanes) {
        return values == null ? lanes : values[(int) lanes & (values.length - 1)];
    }

    /** The hash from which an element and its neighbours are taken. */
    private long hash(long index) {
        long hash = (start + (index >>> perHashShift)) * GOLDEN;
        hash = (hash ^ hash >>> 32) * GOLDEN;
        return hash ^ hash >>> 29;
    }

    /** Spreads every bit of the argument over the result (the last steps of SplitMix64). */
    static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
