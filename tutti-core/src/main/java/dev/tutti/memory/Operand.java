package dev.tutti.memory;

import dev.tutti.posix.StringCopy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A user's memory as one call sees it. Either <em>direct</em>: an address that stays good until the call is over (native
 * memory that cannot be closed meanwhile), or not: heap arrays, and segments of shared arenas, which another thread could close at
 * any moment; those are only touched by checked copies, and arrays by kernels for arrays.
 *
 * <p>Mutable and reused: filling one allocates nothing.
 */
public final class Operand {
    private static final Class<?> AUTOMATIC = Arena.ofAuto().scope().getClass();
    private static final Class<?> GLOBAL = Arena.global().scope().getClass();
    private static final Class<?> CONFINED;

    static {
        try (Arena confined = Arena.ofConfined()) {
            CONFINED = confined.scope().getClass();
        }
    }

    private boolean present;
    private long address;
    private long bytes;
    private @Nullable Object array;
    private int arrayIndex;
    private @Nullable MemorySegment segment;
    private Operand @Nullable [] parts;

    /** No memory: a root's partner, a barrier. */
    public void clear() {
        present = false;
        address = 0;
        bytes = 0;
        array = null;
        segment = null;
        parts = null;
    }

    /** Memory of the library's own that outlives the call. */
    public void setAddress(long address, long bytes) {
        clear();
        present = true;
        this.address = address;
        this.bytes = bytes;
    }

    /** A primitive array from an element on. */
    public void setArray(Object array, int index, long bytes) {
        clear();
        present = true;
        this.array = array;
        this.arrayIndex = index;
        this.bytes = bytes;
    }

    /** A segment of any kind; {@code mayClose} tells whether someone could close it while this call runs. */
    public void setSegment(MemorySegment segment, boolean mayClose) {
        clear();
        present = true;
        this.segment = segment;
        this.bytes = segment.byteSize();
        if (segment.isNative() && !mayClose) {
            this.address = segment.address();
        }
    }

    /** Several memories one after the other, as if they were one. */
    public void setParts(Operand[] parts) {
        clear();
        present = true;
        this.parts = parts;
        for (Operand part : parts) {
            bytes += part.bytes;
        }
    }

    /** Part of what another operand describes. */
    public void setSlice(Operand whole, long offset, long length) {
        set(whole);
        bytes = length;
        if (array != null) {
            arrayIndex += (int) (offset / scale());
        } else if (segment != null) {
            segment = segment.asSlice(offset, length);
        }
        if (address != 0) {
            address += offset;
        }
    }

    /** Takes over what another operand describes. */
    public void set(Operand other) {
        present = other.present;
        address = other.address;
        bytes = other.bytes;
        array = other.array;
        arrayIndex = other.arrayIndex;
        segment = other.segment;
        parts = other.parts;
    }

    /** Whether a segment lives as long as it is held, whatever anybody does. */
    public static boolean cannotClose(MemorySegment segment) {
        Class<?> scope = segment.scope().getClass();
        return scope == AUTOMATIC || scope == GLOBAL;
    }

    /**
     * Whether a segment could be closed by somebody else while its owner is inside a call: true for shared arenas. A confined
     * segment's owner is the caller, who is busy; automatic and global ones live as long as they are held.
     */
    public static boolean mayClose(MemorySegment segment) {
        Class<?> scope = segment.scope().getClass();
        return scope != AUTOMATIC && scope != GLOBAL && scope != CONFINED;
    }

    public static boolean isConfined(MemorySegment segment) {
        return segment.scope().getClass() == CONFINED;
    }

    /** Whether this thread may use the memory: nobody has closed it, nor is it confined to another thread. */
    public boolean isOpen() {
        return segment == null || (segment.scope().isAlive() && segment.isAccessibleBy(Thread.currentThread()));
    }

    public boolean isPresent() {
        return present;
    }

    public boolean isDirect() {
        return array == null && parts == null && (segment == null || address != 0);
    }

    /** Whether this is one run of memory. */
    public boolean isWhole() {
        return parts == null;
    }

    /** The array that this is a part of; null for other memory. */
    public @Nullable Object array() {
        return array;
    }

    /** First element in the {@link #array}. */
    public int arrayIndex() {
        return arrayIndex;
    }

    public long address() {
        return address;
    }

    public long bytes() {
        return bytes;
    }

    /** Whether both describe memory that begins at the same place. */
    public boolean isSame(Operand other) {
        if (!present || !other.present) {
            return false;
        }
        if (parts != null || other.parts != null) {
            return parts == other.parts;
        }
        if (array != null && other.array != null) {
            return array == other.array && arrayIndex == other.arrayIndex;
        }
        if (isHeap() || other.isHeap()) {
            return bytes > 0 && other.bytes > 0 && overlaps(0, 1, other, 0, 1);
        }
        return rawAddress() == other.rawAddress();
    }

    /** Whether both describe memory that overlaps. */
    public boolean overlaps(long offset, long length, Operand other, long otherOffset, long otherLength) {
        if (!present || !other.present || length == 0 || otherLength == 0 || parts != null || other.parts != null) {
            return false;
        }
        if (isHeap() != other.isHeap()) {
            return false;
        }
        long start = offset;
        long otherStart = otherOffset;
        if (!isHeap()) {
            start += rawAddress();
            otherStart += other.rawAddress();
        } else if (array != null && other.array != null) {
            if (array != other.array) {
                return false;
            }
            start += (long) arrayIndex * scale();
            otherStart += (long) other.arrayIndex * other.scale();
        } else {
            // Only segments can tell whether they are of the same array when one of them is read-only.
            return heapSegment(offset, length)
                    .asOverlappingSlice(other.heapSegment(otherOffset, otherLength))
                    .isPresent();
        }
        return start < otherStart + otherLength && otherStart < start + length;
    }

    private boolean isHeap() {
        return array != null || (segment != null && !segment.isNative());
    }

    /** Part of this memory if the collector may move it, else null. */
    public @Nullable MemorySegment movable(long offset, long length) {
        return isHeap() ? heapSegment(offset, length) : null;
    }

    private MemorySegment heapSegment(long offset, long length) {
        return segment != null
                ? segment.asSlice(offset, length)
                : ofArray(Objects.requireNonNull(array)).asSlice((long) arrayIndex * scale() + offset, length);
    }

    private static MemorySegment ofArray(Object array) {
        return switch (array) {
            case byte[] a -> MemorySegment.ofArray(a);
            case short[] a -> MemorySegment.ofArray(a);
            case float[] a -> MemorySegment.ofArray(a);
            case int[] a -> MemorySegment.ofArray(a);
            case double[] a -> MemorySegment.ofArray(a);
            default -> MemorySegment.ofArray((long[]) array);
        };
    }

    /** Copies from this memory to an address. */
    public void load(long offset, long to, long length) {
        if (length == 0) {
            return;
        }
        if (array != null) {
            ArrayCopy.load(array, arrayIndex + (int) (offset >>> ArrayCopy.shift(array)), to, length);
        } else if (parts != null) {
            moveParts(parts, offset, to, length, true);
        } else if (isDirect() || segment == null) {
            // Not through the segment: a confined one would refuse a thread that runs its owner's blocking call.
            Memory.copy(address + offset, to, length);
        } else {
            MemorySegment.copy(segment, offset, Memory.ALL, to, length);
        }
    }

    /**
     * As {@link #load}, by {@link Memory#copyString}.
     *
     * @return false if that needs an address in between
     */
    public boolean loadString(long offset, long to, long length) {
        if (!StringCopy.isAvailable() || !isHeap()) {
            return false;
        }
        if (array != null) {
            ArrayCopy.loadString(array, (long) arrayIndex * scale() + offset, to, length);
        } else {
            StringCopy.copy(Objects.requireNonNull(segment), offset, to, length);
        }
        return true;
    }

    /** Copies from an address to this memory. */
    public void store(long offset, long from, long length) {
        if (length == 0) {
            return;
        }
        if (array != null) {
            ArrayCopy.store(array, arrayIndex + (int) (offset >>> ArrayCopy.shift(array)), from, length);
        } else if (parts != null) {
            moveParts(parts, offset, from, length, false);
        } else if (isDirect() || segment == null) {
            Memory.copy(from, address + offset, length);
        } else {
            MemorySegment.copy(Memory.ALL, from, segment, offset, length);
        }
    }

    /**
     * Copies to other memory.
     *
     * @return false if that needs an address in between
     */
    public boolean copyTo(long offset, Operand to, long toOffset, long length) {
        if (array == null || to.array == null || array.getClass() != to.array.getClass()) {
            return false;
        }
        int shift = ArrayCopy.shift(array);
        int from = arrayIndex + (int) (offset >>> shift);
        int into = to.arrayIndex + (int) (toOffset >>> shift);
        if (array != to.array || from != into) {
            System.arraycopy(array, from, to.array, into, (int) (length >>> shift));
        }
        return true;
    }

    private static void moveParts(Operand[] parts, long offset, long address, long length, boolean load) {
        long start = 0;
        for (Operand part : parts) {
            long from = Math.max(offset, start);
            long to = Math.min(offset + length, start + part.bytes);
            if (from < to) {
                if (load) {
                    part.load(from - start, address + from - offset, to - from);
                } else {
                    part.store(from - start, address + from - offset, to - from);
                }
            }
            start += part.bytes;
        }
    }

    private long rawAddress() {
        return segment != null ? segment.address() : address;
    }

    private int scale() {
        return array == null ? 8 : 1 << ArrayCopy.shift(array);
    }
}
