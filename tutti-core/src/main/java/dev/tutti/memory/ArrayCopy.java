package dev.tutti.memory;

import dev.tutti.posix.StringCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies between primitive arrays and addresses. Short ones go element by element, as a bulk copy takes longer to begin than they
 * take. The layout is a constant at each bulk copy: as a parameter it would be looked at every time.
 */
final class ArrayCopy {
    private static final long SHORT_BYTES = 64;

    private ArrayCopy() {}

    /** Log2 of the bytes of an element. */
    static int shift(Object array) {
        if (array instanceof float[] || array instanceof int[]) {
            return 2;
        }
        if (array instanceof double[] || array instanceof long[]) {
            return 3;
        }
        return array instanceof short[] ? 1 : 0;
    }

    /** Copies elements of an array, from an index on, to an address. */
    static void load(Object array, int index, long to, long bytes) {
        if (array instanceof float[] floats) {
            load(floats, index, to, bytes);
        } else if (array instanceof double[] doubles) {
            load(doubles, index, to, bytes);
        } else if (array instanceof int[] ints) {
            load(ints, index, to, bytes);
        } else if (array instanceof long[] longs) {
            load(longs, index, to, bytes);
        } else if (array instanceof short[] shorts) {
            MemorySegment.copy(shorts, index, Memory.ALL, ValueLayout.JAVA_SHORT_UNALIGNED, to, (int) (bytes >>> 1));
        } else {
            MemorySegment.copy((byte[]) array, index, Memory.ALL, ValueLayout.JAVA_BYTE, to, (int) bytes);
        }
    }

    /**
     * As {@link #load}, by {@link StringCopy}. Each type makes its segment where it is used, so that compiled code makes none.
     *
     * @param offset bytes from the beginning of the array
     */
    static void loadString(Object array, long offset, long to, long bytes) {
        if (array instanceof float[] floats) {
            StringCopy.copy(MemorySegment.ofArray(floats), offset, to, bytes);
        } else if (array instanceof double[] doubles) {
            StringCopy.copy(MemorySegment.ofArray(doubles), offset, to, bytes);
        } else if (array instanceof int[] ints) {
            StringCopy.copy(MemorySegment.ofArray(ints), offset, to, bytes);
        } else if (array instanceof long[] longs) {
            StringCopy.copy(MemorySegment.ofArray(longs), offset, to, bytes);
        } else if (array instanceof short[] shorts) {
            StringCopy.copy(MemorySegment.ofArray(shorts), offset, to, bytes);
        } else {
            StringCopy.copy(MemorySegment.ofArray((byte[]) array), offset, to, bytes);
        }
    }

    /** Copies from an address to elements of an array, from an index on. */
    static void store(Object array, int index, long from, long bytes) {
        if (array instanceof float[] floats) {
            store(floats, index, from, bytes);
        } else if (array instanceof double[] doubles) {
            store(doubles, index, from, bytes);
        } else if (array instanceof int[] ints) {
            store(ints, index, from, bytes);
        } else if (array instanceof long[] longs) {
            store(longs, index, from, bytes);
        } else if (array instanceof short[] shorts) {
            MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_SHORT_UNALIGNED, from, shorts, index, (int) (bytes >>> 1));
        } else {
            MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_BYTE, from, (byte[]) array, index, (int) bytes);
        }
    }

    private static void load(float[] array, int index, long to, long bytes) {
        int count = (int) (bytes >>> 2);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(array, index, Memory.ALL, ValueLayout.JAVA_FLOAT_UNALIGNED, to, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            Memory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, to + 4L * i, array[index + i]);
        }
    }

    private static void store(float[] array, int index, long from, long bytes) {
        int count = (int) (bytes >>> 2);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_FLOAT_UNALIGNED, from, array, index, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            array[index + i] = Memory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, from + 4L * i);
        }
    }

    private static void load(double[] array, int index, long to, long bytes) {
        int count = (int) (bytes >>> 3);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(array, index, Memory.ALL, ValueLayout.JAVA_DOUBLE_UNALIGNED, to, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            Memory.ALL.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, to + 8L * i, array[index + i]);
        }
    }

    private static void store(double[] array, int index, long from, long bytes) {
        int count = (int) (bytes >>> 3);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_DOUBLE_UNALIGNED, from, array, index, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            array[index + i] = Memory.ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, from + 8L * i);
        }
    }

    private static void load(int[] array, int index, long to, long bytes) {
        int count = (int) (bytes >>> 2);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(array, index, Memory.ALL, ValueLayout.JAVA_INT_UNALIGNED, to, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            Memory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, to + 4L * i, array[index + i]);
        }
    }

    private static void store(int[] array, int index, long from, long bytes) {
        int count = (int) (bytes >>> 2);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_INT_UNALIGNED, from, array, index, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            array[index + i] = Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, from + 4L * i);
        }
    }

    private static void load(long[] array, int index, long to, long bytes) {
        int count = (int) (bytes >>> 3);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(array, index, Memory.ALL, ValueLayout.JAVA_LONG_UNALIGNED, to, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            Memory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, to + 8L * i, array[index + i]);
        }
    }

    private static void store(long[] array, int index, long from, long bytes) {
        int count = (int) (bytes >>> 3);
        if (bytes > SHORT_BYTES) {
            MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_LONG_UNALIGNED, from, array, index, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            array[index + i] = Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, from + 8L * i);
        }
    }
}
