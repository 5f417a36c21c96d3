package dev.tutti.cli.perf;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.cli.common.CommandException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One of a rank's two areas, from which the messages of all sizes and types are cut.
 *
 * @param kind where it lies
 * @param whole all of it, in elements of the type
 * @param unaligned elements left free at the beginning
 */
record Memory(Kind kind, Buffer whole, long unaligned) implements AutoCloseable {
    /** Where messages lie. */
    enum Kind {
        /** Ordinary native memory. */
        NATIVE,
        /** Memory of Tutti's own. */
        REGISTERED,
        /** Arrays. */
        HEAP
    }

    static Memory allocate(Kind kind, Communicator comm, DataType type, long bytes, long unaligned) {
        long count = (bytes + type.bytes() - 1) / type.bytes() + unaligned;
        Buffer whole = switch (kind) {
            case NATIVE -> Buffer.of(Arena.ofAuto().allocate(count * type.bytes(), 4096), type);
            case REGISTERED -> comm.allocate(type, count);
            case HEAP -> Buffer.of(array(type, count), type);
        };
        return new Memory(kind, whole, unaligned);
    }

    private static Object array(DataType type, long count) {
        if (count > Integer.MAX_VALUE - 8) {
            throw CommandException.usage("--heap: an array cannot have " + count + " elements; give a smaller -e");
        }
        int length = (int) count;
        return switch (type) {
            case FLOAT32 -> new float[length];
            case FLOAT64 -> new double[length];
            default ->
                switch (type.bytes()) {
                    case 1 -> new byte[length];
                    case 2 -> new short[length];
                    case 4 -> new int[length];
                    default -> new long[length];
                };
        };
    }

    Buffer part(long offset, long count) {
        return whole.slice(unaligned + offset, count);
    }

    MemorySegment segment(long offset, long count) {
        int bytes = whole.type().bytes();
        return whole.segment().asSlice((unaligned + offset) * bytes, count * bytes);
    }

    @Override
    public void close() {
        whole.close();
    }
}
