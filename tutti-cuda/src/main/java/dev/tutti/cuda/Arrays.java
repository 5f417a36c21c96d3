package dev.tutti.cuda;

import dev.tutti.DataType;
import java.lang.foreign.MemorySegment;

/** Primitive arrays as segments. */
final class Arrays {
    private Arrays() {}

    static MemorySegment segment(Object array, DataType type) {
        MemorySegment segment = switch (array) {
            case byte[] bytes -> MemorySegment.ofArray(bytes);
            case short[] shorts -> MemorySegment.ofArray(shorts);
            case int[] ints -> MemorySegment.ofArray(ints);
            case long[] longs -> MemorySegment.ofArray(longs);
            case float[] floats -> MemorySegment.ofArray(floats);
            case double[] doubles -> MemorySegment.ofArray(doubles);
            default ->
                throw new IllegalArgumentException(
                        "a primitive array is needed, not " + array.getClass().getSimpleName());
        };
        int length = java.lang.reflect.Array.getLength(array);
        if (length > 0 && segment.byteSize() / length != type.bytes()) {
            throw new IllegalArgumentException(array.getClass().getSimpleName() + " has elements of "
                    + segment.byteSize() / length + " bytes, " + type + " needs " + type.bytes());
        }
        return segment;
    }
}
