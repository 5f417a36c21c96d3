package dev.tutti;

import dev.tutti.reduce.SmallFloats;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Numbers in memory of the types that Java has no arrays for, element by element. */
final class Floats {
    private Floats() {}

    static void write(float[] from, MemorySegment to, DataType type) {
        for (int i = 0; i < from.length; i++) {
            switch (type) {
                case FLOAT64 -> to.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8L * i, from[i]);
                case FLOAT32 -> to.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i, from[i]);
                case FLOAT16 -> to.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i, Float.floatToFloat16(from[i]));
                case BFLOAT16 -> to.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i, SmallFloats.floatToBfloat16(from[i]));
                case FLOAT8E4M3 -> to.set(ValueLayout.JAVA_BYTE, i, SmallFloats.floatToE4m3(from[i]));
                case FLOAT8E5M2 -> to.set(ValueLayout.JAVA_BYTE, i, SmallFloats.floatToE5m2(from[i]));
                default -> throw notFloat(type);
            }
        }
    }

    static void read(MemorySegment from, DataType type, float[] to) {
        for (int i = 0; i < to.length; i++) {
            to[i] = switch (type) {
                case FLOAT64 -> (float) from.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8L * i);
                case FLOAT32 -> from.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i);
                case FLOAT16 -> Float.float16ToFloat(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i));
                case BFLOAT16 -> SmallFloats.bfloat16ToFloat(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i));
                case FLOAT8E4M3 -> SmallFloats.e4m3ToFloat(from.get(ValueLayout.JAVA_BYTE, i));
                case FLOAT8E5M2 -> SmallFloats.e5m2ToFloat(from.get(ValueLayout.JAVA_BYTE, i));
                default -> throw notFloat(type);
            };
        }
    }

    static IllegalArgumentException notFloat(DataType type) {
        return new IllegalArgumentException("a buffer of " + type + " holds no floats: use its segment()");
    }
}
