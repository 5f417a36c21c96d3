package dev.tutti;

import dev.tutti.memory.Operand;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Transport;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A typed, counted run of memory: part of an array, a segment, or memory of Tutti's own. It is a view: making one copies
 * nothing. Every collective takes buffers; the common array types can also be passed as they are.
 *
 * <p>Buffers from {@link Communicator#allocate} own their memory: {@link #close} waits for operations that still use it. That memory
 * is <em>registered</em>: peers reach it where it lies.
 *
 * {@snippet :
 * float[] weights = new float[1000];
 * comm.allReduce(Buffer.of(weights, 100, 50), ReduceOp.SUM);      // elements 100 to 149
 * try (Buffer grads = comm.allocate(DataType.BFLOAT16, 4096)) {
 *     comm.allReduce(grads, ReduceOp.AVG);
 * }
 * }
 */
public final class Buffer implements AutoCloseable {
    private final DataType type;
    private final long count;
    private final @Nullable Object array;
    private final int arrayIndex;
    private final @Nullable MemorySegment segment;
    private final boolean mayClose;
    private final @Nullable OwnMemory owner;

    private Buffer(
            DataType type,
            long count,
            @Nullable Object array,
            int arrayIndex,
            @Nullable MemorySegment segment,
            @Nullable OwnMemory owner) {
        this.type = type;
        this.count = count;
        this.array = array;
        this.arrayIndex = arrayIndex;
        this.segment = segment;
        this.owner = owner;
        this.mayClose = segment != null && owner == null && Operand.mayClose(segment);
    }

    /** Memory of a rank of this world that its peers can reach. */
    static Buffer allocate(Transport transport, int worldRank, DataType type, long count) {
        Objects.requireNonNull(type, "type");
        if (count < 0 || count > Long.MAX_VALUE / type.bytes()) {
            throw new IllegalArgumentException("allocate on rank " + worldRank + ": count must be in 0.."
                    + Long.MAX_VALUE / type.bytes() + ", got " + count);
        }
        Allocation allocation = transport.allocate(worldRank, count * type.bytes());
        return new Buffer(type, count, null, 0, allocation.memory(), new OwnMemory(transport, worldRank, allocation));
    }

    /**
     * All of a {@code float[]}.
     *
     * @param array the elements
     * @return a view of it
     */
    public static Buffer of(float[] array) {
        return ofArray(DataType.FLOAT32, array, 0, array.length, array.length);
    }

    /**
     * Part of a {@code float[]}.
     *
     * @param array the elements
     * @param offset first element
     * @param count number of elements
     * @return a view of it
     */
    public static Buffer of(float[] array, int offset, int count) {
        return ofArray(DataType.FLOAT32, array, offset, count, array.length);
    }

    /**
     * All of a {@code double[]}.
     *
     * @param array the elements
     * @return a view of it
     */
    public static Buffer of(double[] array) {
        return ofArray(DataType.FLOAT64, array, 0, array.length, array.length);
    }

    /**
     * Part of a {@code double[]}.
     *
     * @param array the elements
     * @param offset first element
     * @param count number of elements
     * @return a view of it
     */
    public static Buffer of(double[] array, int offset, int count) {
        return ofArray(DataType.FLOAT64, array, offset, count, array.length);
    }

    /**
     * All of an {@code int[]}.
     *
     * @param array the elements
     * @return a view of it
     */
    public static Buffer of(int[] array) {
        return ofArray(DataType.INT32, array, 0, array.length, array.length);
    }

    /**
     * Part of an {@code int[]}.
     *
     * @param array the elements
     * @param offset first element
     * @param count number of elements
     * @return a view of it
     */
    public static Buffer of(int[] array, int offset, int count) {
        return ofArray(DataType.INT32, array, offset, count, array.length);
    }

    /**
     * All of a {@code long[]}.
     *
     * @param array the elements
     * @return a view of it
     */
    public static Buffer of(long[] array) {
        return ofArray(DataType.INT64, array, 0, array.length, array.length);
    }

    /**
     * Part of a {@code long[]}.
     *
     * @param array the elements
     * @param offset first element
     * @param count number of elements
     * @return a view of it
     */
    public static Buffer of(long[] array, int offset, int count) {
        return ofArray(DataType.INT64, array, offset, count, array.length);
    }

    /**
     * All of a primitive array whose elements are to be taken as {@code type}: 16-bit floats in a {@code short[]}, unsigned
     * integers in an {@code int[]}.
     *
     * @param array a primitive array with elements as wide as the type
     * @param type what the elements are
     * @return a view of it
     */
    public static Buffer of(Object array, DataType type) {
        int length = java.lang.reflect.Array.getLength(array);
        return of(array, 0, length, type);
    }

    /**
     * Part of a primitive array whose elements are to be taken as {@code type}.
     *
     * @param array a primitive array with elements as wide as the type
     * @param offset first element
     * @param count number of elements
     * @param type what the elements are
     * @return a view of it
     */
    public static Buffer of(Object array, int offset, int count, DataType type) {
        Objects.requireNonNull(type, "type");
        int width = Arguments.elementBytes(array);
        if (width != type.bytes()) {
            throw new IllegalArgumentException(array.getClass().getSimpleName() + " has elements of " + width
                    + " bytes, " + type + " needs " + type.bytes());
        }
        return ofArray(type, array, offset, count, java.lang.reflect.Array.getLength(array));
    }

    /**
     * A whole segment: native, mapped or of an array; of a confined, shared, automatic or the global arena.
     *
     * @param segment the memory; its size must be a multiple of the element's
     * @param type what the elements are
     * @return a view of it
     */
    public static Buffer of(MemorySegment segment, DataType type) {
        long count = Arguments.count(segment, type, "segment");
        return new Buffer(type, count, null, 0, segment, null);
    }

    private static Buffer ofArray(DataType type, Object array, int offset, int count, int length) {
        Objects.checkFromIndexSize(offset, count, length);
        return new Buffer(type, count, array, offset, null, null);
    }

    /**
     * Part of this buffer.
     *
     * @param offset first element
     * @param length number of elements
     * @return a view of it
     */
    public Buffer slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, count);
        return array != null
                ? new Buffer(type, length, array, arrayIndex + (int) offset, null, null)
                : new Buffer(
                        type,
                        length,
                        null,
                        0,
                        Objects.requireNonNull(segment).asSlice(offset * type.bytes(), length * type.bytes()),
                        owner);
    }

    /**
     * What the elements are.
     *
     * @return the type
     */
    public DataType type() {
        return type;
    }

    /**
     * How many elements there are.
     *
     * @return the count
     */
    public long count() {
        return count;
    }

    /**
     * How many bytes the elements take.
     *
     * @return count times size of an element
     */
    public long bytes() {
        return count * type.bytes();
    }

    /**
     * The memory as a segment: the one it was made of, a view of the array, or memory of Tutti's own.
     *
     * @return a segment of {@link #bytes()} bytes
     */
    public MemorySegment segment() {
        return segment != null
                ? segment
                : Arguments.arraySegment(Objects.requireNonNull(array))
                        .asSlice((long) arrayIndex * type.bytes(), bytes());
    }

    /**
     * Writes numbers, whatever kind of float the elements are. Each is rounded once, to nearest even; 8-bit floats saturate.
     *
     * {@snippet :
     * Buffer gradients = comm.allocate(DataType.BFLOAT16, 4);
     * gradients.write(0, 1, 2, 3, 4);
     * }
     *
     * @param offset the first element to write
     * @param values what to write
     * @throws IllegalArgumentException if the elements are integers
     */
    public void write(long offset, float... values) {
        Floats.write(values, numbers(offset, values.length), type);
    }

    /**
     * Reads numbers, whatever kind of float the elements are; those of float64 are rounded.
     *
     * {@snippet :
     * float[] sums = new float[4];
     * gradients.read(0, sums);
     * }
     *
     * @param offset the first element to read
     * @param values where they go
     * @throws IllegalArgumentException if the elements are integers
     */
    public void read(long offset, float[] values) {
        Floats.read(numbers(offset, values.length), type, values);
    }

    private MemorySegment numbers(long offset, int length) {
        requireOpen();
        Objects.checkFromIndexSize(offset, length, count);
        if (type.kind() != DataType.Kind.FLOAT) {
            throw Floats.notFloat(type);
        }
        return segment().asSlice(offset * type.bytes(), (long) length * type.bytes());
    }

    /**
     * Whether this is memory from {@link Communicator#allocate}, or part of it: peers reach it where it lies, without copies on the
     * way. They do so in calls in which every rank passes registered memory only, so all ranks must do alike.
     *
     * @return true for registered memory
     */
    public boolean isRegistered() {
        return owner != null;
    }

    /** Whether this is memory of this rank that the peers to which this transport joins it can reach. */
    boolean isRegistered(Transport transport, int worldRank) {
        return owner != null && owner.isReachable(transport, worldRank);
    }

    /**
     * Frees memory of Tutti's own, after waiting for operations that still use it; does nothing for views of other memory.
     * Closing twice is fine; closing while a {@link Window} is open on it is refused. After a failure in which a peer has not said that
     * it keeps off, the memory is kept until the world ends: what that peer might still write must not land in memory that something
     * else has got meanwhile.
     */
    @Override
    public void close() {
        if (owner != null) {
            owner.close();
        }
    }

    void openWindow() {
        if (owner != null) {
            owner.openWindow();
        } else {
            requireOpen();
        }
    }

    void closeWindow() {
        if (owner != null) {
            owner.closeWindow();
        }
    }

    /** Notes that a peer may still touch this memory, so that it is never freed. */
    void quarantine() {
        if (owner != null) {
            owner.quarantine();
        }
    }

    boolean isQuarantined() {
        return owner != null && owner.isQuarantined();
    }

    /**
     * For a call that runs inside its communicator's gate, which {@link #close} waits for.
     *
     * @return who owns the memory, for the gate; 0 if nobody waits for it
     */
    long requireOpen() {
        if (owner != null) {
            return owner.requireOpen();
        }
        if (segment != null && !segment.scope().isAlive()) {
            throw new IllegalStateException("the arena of this buffer, " + this + ", has been closed");
        }
        return 0;
    }

    /** Notes one more operation that uses this memory after the call that started it has returned. */
    void retain() {
        if (owner != null) {
            owner.retain();
        } else {
            requireOpen();
        }
    }

    void release() {
        if (owner != null) {
            owner.release();
        }
    }

    void describe(Operand operand) {
        if (array != null) {
            operand.setArray(array, arrayIndex, bytes());
        } else if (segment != null) {
            operand.setSegment(segment, mayClose);
        }
    }

    @Nullable
    MemorySegment backing() {
        return owner == null ? segment : null;
    }

    @Override
    public String toString() {
        return count + " " + type;
    }
}
