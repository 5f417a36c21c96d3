package dev.tutti;

import dev.tutti.memory.Operand;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Checks what users pass to a communicator, before anything is sent. Memory is an array, a segment or a {@link Buffer}. What is thrown
 * names operation, rank and communicator.
 */
final class Arguments {
    private final String communicator;
    private final int rank;
    private final int size;

    Arguments(String communicator, int rank, int size) {
        this.communicator = communicator;
        this.rank = rank;
        this.size = size;
    }

    IllegalArgumentException wrong(String text) {
        return new IllegalArgumentException(where() + text);
    }

    private String where() {
        return operation() + " on rank " + rank + " of '" + communicator + "': ";
    }

    /** The method that the user called. The stack knows it, so that calls that are all right need not hand it down. */
    private static String operation() {
        String ours = Arguments.class.getPackageName();
        return StackWalker.getInstance()
                .walk(frames -> frames.takeWhile(frame -> frame.getClassName().lastIndexOf('.') == ours.length()
                                && frame.getClassName().startsWith(ours))
                        .reduce((_, caller) -> caller)
                        .map(StackWalker.StackFrame::getMethodName)
                        .orElse("call"));
    }

    static int elementBytes(Object array) {
        return switch (array) {
            case byte[] _ -> 1;
            case short[] _ -> 2;
            case float[] _ -> 4;
            case int[] _ -> 4;
            case double[] _ -> 8;
            case long[] _ -> 8;
            default ->
                throw new IllegalArgumentException("expected byte[], short[], int[], long[], float[] or double[], got "
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
            default -> throw new IllegalArgumentException("not an array of numbers: " + array.getClass());
        };
    }

    /** Elements of a segment. */
    static long count(MemorySegment segment, DataType type, String what) {
        Objects.requireNonNull(segment, what);
        Objects.requireNonNull(type, "type");
        if (!isWhole(segment, type)) {
            throw new IllegalArgumentException(notWhole(segment, type, what));
        }
        return segment.byteSize() / type.bytes();
    }

    private static boolean isWhole(MemorySegment segment, DataType type) {
        return segment.byteSize() % type.bytes() == 0;
    }

    private static String notWhole(MemorySegment segment, DataType type, String what) {
        return what + " has " + segment.byteSize() + " bytes, which is no multiple of the " + type.bytes()
                + " bytes of a " + type;
    }

    /** Elements of any memory. */
    long count(Object memory, DataType type, String what) {
        if (memory instanceof float[] a) {
            return a.length;
        }
        if (memory instanceof Buffer buffer) {
            if (buffer.type() != type) {
                throw wrong(what + " holds " + buffer.type() + ", the other one " + type);
            }
            return buffer.count();
        }
        if (memory instanceof MemorySegment segment) {
            if (!isWhole(segment, Objects.requireNonNull(type, "type"))) {
                throw wrong(notWhole(segment, type, what));
            }
            return segment.byteSize() / type.bytes();
        }
        Objects.requireNonNull(memory, what);
        if (elementBytes(memory) != type.bytes()) {
            throw wrong(what + ": " + memory.getClass().getSimpleName() + " cannot hold " + type);
        }
        return java.lang.reflect.Array.getLength(memory);
    }

    /** Lets an operand describe memory. */
    void describe(Operand operand, Object memory, DataType type, String what, boolean written, boolean background) {
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
    void check(Buffer buffer, boolean written, boolean background) {
        MemorySegment segment = buffer.backing();
        if (segment != null) {
            checkSegment(segment, "buffer", written, background);
        }
    }

    private void checkSegment(MemorySegment segment, String what, boolean written, boolean background) {
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException(where() + "the arena of the " + what + " has been closed");
        }
        if (written && segment.isReadOnly()) {
            throw wrong(what + " is read-only");
        }
        if (background && Operand.isConfined(segment)) {
            throw wrong(what + " is of a confined arena, which only its owner may use: make a blocking "
                    + "call, or take the memory from an automatic or shared arena or comm.allocate");
        }
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw wrong(what + " is of a confined arena that belongs to another thread");
        }
    }

    /** Checks a rank that is named {@code what}: the root, a destination. */
    void requireRank(int given, String what) {
        if (given < 0 || given >= size) {
            throw wrong(what + " " + given + " is outside 0.." + (size - 1));
        }
    }

    void requireOperator(@Nullable ReduceOp op, DataType type) {
        Objects.requireNonNull(op, "op");
        if (!op.accepts(type)) {
            throw wrong(
                    op.function() != null
                            ? "function '" + op + "' is for " + op.function().type() + ", the buffer holds " + type
                            : op + " is for integers, the buffer holds " + type);
        }
    }
}
