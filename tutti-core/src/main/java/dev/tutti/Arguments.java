package dev.tutti;

import dev.tutti.memory.Operand;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Checks what users pass, before anything is sent. Memory is an array, a segment or a {@link Buffer}. */
final class Arguments {
    private Arguments() {}

    static int elementBytes(Object array) {
        return switch (array) {
            case byte[] _ -> 1;
            case short[] _ -> 2;
            case float[] _ -> 4;
            case int[] _ -> 4;
            case double[] _ -> 8;
            case long[] _ -> 8;
            default ->
                throw new IllegalArgumentException("expected a primitive numeric array, got "
                        + array.getClass().getSimpleName());
        };
    }

    static MemorySegment arraySegment(Object array) {
        return switch (array) {
            case byte[] a -> MemorySegment.ofArray(a);
            case short[] a -> MemorySegment.ofArray(a);
            case float[] a -> MemorySegment.ofArray(a);
            case int[] a -> MemorySegment.ofArray(a);
            case double[] a -> MemorySegment.ofArray(a);
            case long[] a -> MemorySegment.ofArray(a);
            default -> throw new IllegalArgumentException("not a primitive numeric array: " + array.getClass());
        };
    }

    /** Elements of a segment. */
    static long count(MemorySegment segment, DataType type, String what) {
        Objects.requireNonNull(segment, what);
        Objects.requireNonNull(type, "type");
        if (segment.byteSize() % type.bytes() != 0) {
            throw new IllegalArgumentException(what + " has " + segment.byteSize()
                    + " bytes, which is no multiple of the " + type.bytes() + " bytes of a " + type);
        }
        return segment.byteSize() / type.bytes();
    }

    /** Elements of any memory. */
    static long count(Object memory, DataType type, String what) {
        if (memory instanceof float[] a) {
            return a.length;
        }
        if (memory instanceof Buffer buffer) {
            if (buffer.type() != type) {
                throw new IllegalArgumentException(what + " holds " + buffer.type() + ", the other one " + type);
            }
            return buffer.count();
        }
        if (memory instanceof MemorySegment segment) {
            return count(segment, type, what);
        }
        Objects.requireNonNull(memory, what);
        if (elementBytes(memory) != type.bytes()) {
            throw new IllegalArgumentException(
                    what + ": " + memory.getClass().getSimpleName() + " cannot hold " + type);
        }
        return java.lang.reflect.Array.getLength(memory);
    }

    /** Lets an operand describe memory. */
    static void describe(
            Operand operand, Object memory, DataType type, String what, boolean written, boolean background) {
        MemorySegment segment;
        if (memory instanceof Buffer buffer) {
            buffer.describe(operand);
            segment = buffer.backing();
        } else if (memory instanceof MemorySegment given) {
            operand.setSegment(given, Operand.mayClose(given));
            segment = given;
        } else {
            operand.setArray(memory, 0, count(memory, type, what) * type.bytes());
            return;
        }
        if (segment != null) {
            checkSegment(segment, what, written, background);
        }
    }

    /** Checks memory of a message. */
    static void check(Buffer buffer, boolean written, boolean background) {
        MemorySegment segment = buffer.backing();
        if (segment != null) {
            checkSegment(segment, "buffer", written, background);
        }
    }

    private static void checkSegment(MemorySegment segment, String what, boolean written, boolean background) {
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException(what + ": its arena has been closed");
        }
        if (written && segment.isReadOnly()) {
            throw new IllegalArgumentException(what + " is read-only");
        }
        if (background && Operand.isConfined(segment)) {
            throw new IllegalArgumentException(
                    what + " is of a confined arena, which only its owner may use: make a blocking "
                            + "call, or take the memory from an automatic or shared arena or comm.allocate");
        }
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalArgumentException(what + " is of a confined arena that belongs to another thread");
        }
    }

    static void requireRank(int rank, int size, String what) {
        if (rank < 0 || rank >= size) {
            throw new IllegalArgumentException(what + " " + rank + " is outside 0.." + (size - 1));
        }
    }

    static void requireOperator(@Nullable ReduceOp op, DataType type) {
        Objects.requireNonNull(op, "op");
        if (!op.accepts(type)) {
            throw new IllegalArgumentException(
                    op.function() != null
                            ? "function '" + op + "' is for " + op.function().type() + ", the buffer holds " + type
                            : op + " is for integers, the buffer holds " + type);
        }
    }
}
