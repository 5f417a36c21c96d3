package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.cuda.driver.Memories;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A typed, counted run of memory that a CUDA device can reach. Buffers that own their memory give it back when they are closed;
 * slices and views of others' memory do not.
 *
 * {@snippet :
 * try (CudaBuffer x = device.allocate(DataType.FLOAT32, 1 << 20)) {
 *     x.copyFrom(new float[1 << 20]);
 *     comm.allReduce(x, ReduceOp.SUM).await();
 *     x.copyTo(result);
 * }
 * }
 */
public final class CudaBuffer implements AutoCloseable {
    /** Where the memory is and whose it is. */
    public enum Kind {
        /** Memory of the device. */
        DEVICE,
        /** Memory of the device's pool, given and taken back in the order of a stream. */
        POOL,
        /** Memory of the device at addresses of its own, which other processes can map. */
        VIRTUAL,
        /** Host memory that does not move, which the device can read and write. */
        PINNED,
        /** Host memory of the caller's that was made not to move. */
        REGISTERED,
        /** Memory of another library's. */
        EXTERNAL
    }

    private final CudaMemory memory;
    /** Bytes from the beginning of the memory. */
    private final long offset;

    private final DataType type;
    private final long count;
    private final boolean owns;

    private CudaBuffer(CudaMemory memory, DataType type, long count) {
        this(memory, 0, type, count, true);
    }

    private CudaBuffer(CudaMemory memory, long offset, DataType type, long count, boolean owns) {
        this.memory = memory;
        this.offset = offset;
        this.type = type;
        this.count = count;
        this.owns = owns;
    }

    /** All of some memory, or its beginning; closing the buffer gives the memory back. */
    static CudaBuffer of(CudaMemory memory, DataType type, long count) {
        return new CudaBuffer(memory, type, count);
    }

    static CudaBuffer allocate(CudaDevice device, DataType type, long count) {
        return new CudaBuffer(CudaMemory.allocate(device, bytes(type, count)), type, count);
    }

    /**
     * Memory of the device's pool. It may be used by what comes after in the stream, and by other streams that wait for it;
     * closing gives it back in the order of the same stream.
     *
     * @param stream whose order counts
     * @param type the elements
     * @param count how many
     * @return a buffer, to be closed
     */
    public static CudaBuffer allocateAsync(CudaStream stream, DataType type, long count) {
        return new CudaBuffer(CudaMemory.allocateAsync(stream, bytes(type, count)), type, count);
    }

    /**
     * Memory at addresses of its own, rounded up to what the device maps at once; other processes can map it too.
     *
     * @param device where
     * @param type the elements
     * @param count how many
     * @return a buffer, to be closed
     */
    public static CudaBuffer allocateVirtual(CudaDevice device, DataType type, long count) {
        return new CudaBuffer(CudaMemory.allocateVirtual(device, bytes(type, count)), type, count);
    }

    /**
     * Memory of another process, behind a descriptor that {@link #exportDescriptor} made there and that came over a socket. The
     * descriptor stays the caller's and may be closed at once.
     *
     * @param device where the memory is
     * @param descriptor a file descriptor of this process
     * @param type the elements
     * @param count as in the other process
     * @return a buffer, to be closed
     */
    public static CudaBuffer importDescriptor(CudaDevice device, int descriptor, DataType type, long count) {
        return new CudaBuffer(CudaMemory.imported(device, descriptor, bytes(type, count)), type, count);
    }

    /**
     * Host memory that does not move: copies to and from it run at full speed beside kernels, and kernels can use it.
     *
     * @param device whose context
     * @param type the elements
     * @param count how many
     * @return a buffer, to be closed
     */
    public static CudaBuffer allocatePinned(CudaDevice device, DataType type, long count) {
        return new CudaBuffer(CudaMemory.allocatePinned(device, bytes(type, count)), type, count);
    }

    /**
     * Native memory of the caller's, pinned until the buffer is closed; it must outlive the buffer.
     *
     * @param device whose context
     * @param memory native memory
     * @param type the elements
     * @return a buffer, to be closed
     */
    public static CudaBuffer register(CudaDevice device, MemorySegment memory, DataType type) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("only native memory can be registered, not an array");
        }
        long count = count(memory, type);
        return new CudaBuffer(CudaMemory.register(device, memory), type, count);
    }

    /**
     * Device memory of another library's, which must outlive the buffer; closing does nothing to it.
     *
     * @param device where it is
     * @param pointer its address on the device
     * @param type the elements
     * @param count how many
     * @return a view of it
     */
    public static CudaBuffer external(CudaDevice device, long pointer, DataType type, long count) {
        long bytes = bytes(type, count);
        if (pointer == 0 && count > 0) {
            throw new IllegalArgumentException("the pointer is null");
        }
        return new CudaBuffer(CudaMemory.external(device, pointer, bytes), type, count);
    }

    /**
     * Part of this buffer.
     *
     * @param offset first element
     * @param length number of elements
     * @return a view of it; the memory stays this buffer's
     */
    public CudaBuffer slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, count);
        return new CudaBuffer(memory, this.offset + offset * type.bytes(), type, length, false);
    }

    /**
     * The same bytes as elements of another type.
     *
     * @param other the type; its width must divide the bytes
     * @return a view of all of it; the memory stays this buffer's
     */
    public CudaBuffer as(DataType other) {
        if (bytes() % other.bytes() != 0) {
            throw new IllegalArgumentException(this + " is no whole number of " + other);
        }
        return new CudaBuffer(memory, offset, other, bytes() / other.bytes(), false);
    }

    /**
     * Where the memory is.
     *
     * @return the device
     */
    public CudaDevice device() {
        return memory.device();
    }

    /**
     * What sort of memory it is.
     *
     * @return the kind
     */
    public Kind kind() {
        return memory.kind();
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
     * The address on the device, for other libraries.
     *
     * @return a {@code CUdeviceptr}
     */
    public long pointer() {
        requireUsable();
        return address();
    }

    private long address() {
        return memory.pointer() + offset;
    }

    CudaMemory memory() {
        return memory;
    }

    /**
     * Pinned and registered memory as the host sees it.
     *
     * @return the memory
     */
    public MemorySegment hostSegment() {
        requireUsable();
        MemorySegment host = memory.host();
        if (host == null) {
            throw new IllegalStateException(kind() + " memory cannot be seen by the host: use copyTo");
        }
        return host.asSlice(offset, bytes());
    }

    /**
     * A descriptor by which another process can map {@link Kind#VIRTUAL} memory; to be sent over a Unix socket and closed.
     *
     * @return a new file descriptor
     */
    public int exportDescriptor() {
        enter();
        VirtualAllocation virtual = memory.virtual();
        if (virtual == null) {
            throw new IllegalStateException(kind() + " memory has no descriptor: use allocateVirtual");
        }
        return virtual.export();
    }

    /**
     * Copies host memory here and waits for it.
     *
     * @param source an array's segment or native memory, as long as this buffer
     */
    public void copyFrom(MemorySegment source) {
        copy(source, true, device().defaultStream());
    }

    /**
     * Copies from here to host memory and waits for it. What other streams do is not waited for.
     *
     * @param target an array's segment or native memory, as long as this buffer
     */
    public void copyTo(MemorySegment target) {
        copy(target, false, device().defaultStream());
    }

    /**
     * Copies in the order of a stream and waits for it.
     *
     * @param source an array's segment or native memory, as long as this buffer
     * @param stream whose order counts
     */
    public void copyFrom(MemorySegment source, CudaStream stream) {
        copy(source, true, stream);
    }

    /**
     * Copies in the order of a stream and waits for it.
     *
     * @param target an array's segment or native memory, as long as this buffer
     * @param stream whose order counts
     */
    public void copyTo(MemorySegment target, CudaStream stream) {
        copy(target, false, stream);
    }

    /**
     * Copies an array here and waits for it.
     *
     * @param array a primitive array whose elements are as wide as the type
     */
    public void copyFrom(Object array) {
        copyFrom(Arrays.segment(array, type));
    }

    /**
     * Copies from here to an array and waits for it.
     *
     * @param array a primitive array whose elements are as wide as the type
     */
    public void copyTo(Object array) {
        copyTo(Arrays.segment(array, type));
    }

    /**
     * Copies an array here in the order of a stream and waits for it.
     *
     * @param array a primitive array whose elements are as wide as the type
     * @param stream whose order counts
     */
    public void copyFrom(Object array, CudaStream stream) {
        copyFrom(Arrays.segment(array, type), stream);
    }

    /**
     * Copies from here to an array in the order of a stream and waits for it.
     *
     * @param array a primitive array whose elements are as wide as the type
     * @param stream whose order counts
     */
    public void copyTo(Object array, CudaStream stream) {
        copyTo(Arrays.segment(array, type), stream);
    }

    /**
     * Copies another buffer's bytes here in the order of a stream.
     *
     * @param source as long as this buffer
     * @param stream whose order counts
     */
    public void copyFrom(CudaBuffer source, CudaStream stream) {
        if (source.bytes() != bytes()) {
            throw new IllegalArgumentException("source has " + source.bytes() + " bytes, this buffer " + bytes());
        }
        source.requireUsable();
        enter();
        if (bytes() > 0) {
            Memories.copyAsync(address(), source.address(), bytes(), stream.handle());
        }
    }

    /**
     * Sets every byte in the order of a stream.
     *
     * @param value the byte
     * @param stream whose order counts
     */
    public void fill(int value, CudaStream stream) {
        enter();
        if (bytes() > 0) {
            Memories.fillAsync(address(), value & 0xFF, bytes(), stream.handle());
        }
    }

    private void copy(MemorySegment other, boolean here, CudaStream stream) {
        if (other.byteSize() != bytes()) {
            throw new IllegalArgumentException("memory has " + other.byteSize() + " bytes, this buffer " + bytes());
        }
        stream.enter();
        enter();
        if (bytes() > 0) {
            HostCopies.copy(other, address(), here, stream);
        }
    }

    /** Refuses closed memory; for callers that have looked at the device already. */
    void requireOpen() {
        memory.requireOpen();
    }

    /** Refuses closed and stale memory. */
    void requireUsable() {
        memory.requireUsable(this);
    }

    private void enter() {
        requireUsable();
        device().enter();
    }

    /**
     * Gives the memory back if it is this buffer's, that is, if it is no slice; waits for kernels that may use it. Closing twice is
     * fine.
     */
    @Override
    public void close() {
        if (owns) {
            memory.close();
        }
    }

    /** What to ask the driver for. */
    static long bytes(DataType type, long count) {
        Objects.requireNonNull(type, "type");
        if (count < 0) {
            throw new IllegalArgumentException("count must not be negative, got " + count);
        }
        // The driver has no allocation of nothing.
        return Math.max(1, Math.multiplyExact(count, (long) type.bytes()));
    }

    private static long count(MemorySegment memory, DataType type) {
        if (memory.byteSize() % type.bytes() != 0) {
            throw new IllegalArgumentException(
                    "memory of " + memory.byteSize() + " bytes is no whole number of " + type);
        }
        return memory.byteSize() / type.bytes();
    }

    @Override
    public String toString() {
        return count + " " + type;
    }
}
