package dev.tutti.matrix;

import dev.tutti.DataType;
import dev.tutti.data.DataStream;
import java.lang.foreign.MemorySegment;

/** An endless row of elements: what a rank puts in, or what must come out. */
interface Row {
    /** The bits of one element. */
    long bits(long index);

    void fill(MemorySegment to, long firstIndex);

    /** The first wrong element's place in {@code actual}, or -1. */
    long firstWrong(MemorySegment actual, long firstIndex);

    static Row of(DataStream stream) {
        return new Row() {
            @Override
            public long bits(long index) {
                return stream.bits(index);
            }

            @Override
            public void fill(MemorySegment to, long firstIndex) {
                stream.fill(to, firstIndex);
            }

            @Override
            public long firstWrong(MemorySegment actual, long firstIndex) {
                return stream.firstWrong(actual, firstIndex);
            }
        };
    }

    /** The reduction of the first rows by a function of the user's, element by element from the left. */
    static Row folded(DataType type, Operator operator, Row[] inputs, int ranks) {
        long mask = -1L >>> 64 - 8 * type.bytes();
        return new Row() {
            @Override
            public long bits(long index) {
                long value = inputs[0].bits(index);
                for (int rank = 1; rank < ranks; rank++) {
                    value = operator.combine(type, value, inputs[rank].bits(index));
                }
                return value & mask;
            }

            @Override
            public void fill(MemorySegment to, long firstIndex) {
                for (long i = 0; i < to.byteSize() / type.bytes(); i++) {
                    Operator.put(type, to, i, bits(firstIndex + i));
                }
            }

            @Override
            public long firstWrong(MemorySegment actual, long firstIndex) {
                for (long i = 0; i < actual.byteSize() / type.bytes(); i++) {
                    if (Operator.get(type, actual, i) != bits(firstIndex + i)) {
                        return i;
                    }
                }
                return -1;
            }
        };
    }
}
