package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.cuda.driver.Memories;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

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

    private static final int STAGE_BYTES = 1 << 20;
    private static final int PORTABLE_AND_MAPPED = 3;

    private final CudaDevice device;
    private final Kind kind;
    private final int generation;
    private final long pointer;
    private final DataType type;
    private final long count;
    private final @Nullable MemorySegment host;
    private final Owner owner;

    /** What a buffer and its slices share. */
    private record Owner(
            AtomicBoolean closed,
            @Nullable Runnable free,
            @Nullable VirtualAllocation virtual) {}

    private CudaBuffer(
            CudaDevice device,
            Kind kind,
            int generation,
            long pointer,
            DataType type,
            long count,
            @Nullable MemorySegment host,
            Owner owner) {
        this.device = device;
        this.kind = kind;
        this.generation = generation;
        this.pointer = pointer;
        this.type = type;
        this.count = count;
        this.host = host;
        this.owner = owner;
    }

    static CudaBuffer allocate(CudaDevice device, DataType type, long count) {
        long bytes = bytes(type, count);
        device.enter();
        long pointer = Memories.alloc(bytes);
        return owned(device, Kind.DEVICE, pointer, type, count, null, () -> Memories.free(pointer));
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
        long bytes = bytes(type, count);
        stream.enter();
        long pointer = Memories.allocAsync(bytes, stream.handle());
        return owned(
                stream.device(),
                Kind.POOL,
                pointer,
                type,
                count,
                null,
                () -> Memories.freeAsync(pointer, stream.handle()));
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
        long bytes = bytes(type, count);
        device.enter();
        VirtualAllocation memory = VirtualAllocation.create(device.handle(), bytes);
        return virtual(device, memory, type, count);
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
        long bytes = bytes(type, count);
        device.enter();
        return virtual(device, VirtualAllocation.imported(device.handle(), descriptor, bytes), type, count);
    }

    private static CudaBuffer virtual(CudaDevice device, VirtualAllocation memory, DataType type, long count) {
        return new CudaBuffer(
                device,
                Kind.VIRTUAL,
                device.generation(),
                memory.pointer(),
                type,
                count,
                null,
                new Owner(new AtomicBoolean(), memory::close, memory));
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
        long bytes = bytes(type, count);
        device.enter();
        long pointer = Memories.hostAlloc(bytes, PORTABLE_AND_MAPPED);
        MemorySegment host = MemorySegment.ofAddress(pointer).reinterpret(count * type.bytes());
        return owned(device, Kind.PINNED, pointer, type, count, host, () -> Memories.hostFree(pointer));
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
        device.enter();
        Memories.hostRegister(memory.address(), Math.max(1, memory.byteSize()), PORTABLE_AND_MAPPED);
        long pointer = Memories.hostDevicePointer(memory.address(), 0);
        return owned(
                device, Kind.REGISTERED, pointer, type, count, memory, () -> Memories.hostUnregister(memory.address()));
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
        bytes(type, count);
        if (pointer == 0 && count > 0) {
            throw new IllegalArgumentException("the pointer is null");
        }
        device.enter();
        return new CudaBuffer(
                device,
                Kind.EXTERNAL,
                device.generation(),
                pointer,
                type,
                count,
                null,
                new Owner(new AtomicBoolean(), null, null));
    }

    private static CudaBuffer owned(
            CudaDevice device,
            Kind kind,
            long pointer,
            DataType type,
            long count,
            @Nullable MemorySegment host,
            Runnable free) {
        return new CudaBuffer(
                device,
                kind,
                device.generation(),
                pointer,
                type,
                count,
                host,
                new Owner(new AtomicBoolean(), free, null));
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
        long from = offset * type.bytes();
        return new CudaBuffer(
                device,
                kind,
                generation,
                pointer + from,
                type,
                length,
                host == null ? null : host.asSlice(from, length * type.bytes()),
                new Owner(owner.closed, null, owner.virtual));
    }

    /**
     * Where the memory is.
     *
     * @return the device
     */
    public CudaDevice device() {
        return device;
    }

    /**
     * What sort of memory it is.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
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
        return pointer;
    }

    /**
     * Pinned and registered memory as the host sees it.
     *
     * @return the memory
     */
    public MemorySegment hostSegment() {
        requireUsable();
        if (host == null) {
            throw new IllegalStateException(kind + " memory cannot be seen by the host: use copyTo");
        }
        return host;
    }

    /**
     * A descriptor by which another process can map {@link Kind#VIRTUAL} memory; to be sent over a Unix socket and closed.
     *
     * @return a new file descriptor
     */
    public int exportDescriptor() {
        enter();
        if (owner.virtual == null) {
            throw new IllegalStateException(kind + " memory has no descriptor: use allocateVirtual");
        }
        return owner.virtual.export();
    }

    /**
     * Copies host memory here and waits for it.
     *
     * @param source an array's segment or native memory, as long as this buffer
     */
    public void copyFrom(MemorySegment source) {
        copy(source, true, device.defaultStream());
    }

    /**
     * Copies from here to host memory and waits for it. What other streams do is not waited for.
     *
     * @param target an array's segment or native memory, as long as this buffer
     */
    public void copyTo(MemorySegment target) {
        copy(target, false, device.defaultStream());
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
            Memories.copyAsync(pointer, source.pointer, bytes(), stream.handle());
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
            Memories.fillAsync(pointer, value & 0xFF, bytes(), stream.handle());
        }
    }

    private void copy(MemorySegment memory, boolean here, CudaStream stream) {
        if (memory.byteSize() != bytes()) {
            throw new IllegalArgumentException("memory has " + memory.byteSize() + " bytes, this buffer " + bytes());
        }
        stream.enter();
        enter();
        if (bytes() == 0) {
            return;
        }
        if (memory.isNative()) {
            try {
                transfer(memory.address(), pointer, bytes(), here, stream);
            } finally {
                java.lang.ref.Reference.reachabilityFence(memory);
            }
            return;
        }
        // The collector may move an array: through native memory, piece by piece.
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stage = arena.allocate(Math.min(STAGE_BYTES, bytes()), 64);
            for (long at = 0; at < bytes(); at += STAGE_BYTES) {
                long length = Math.min(STAGE_BYTES, bytes() - at);
                if (here) {
                    MemorySegment.copy(memory, at, stage, 0, length);
                }
                transfer(stage.address(), pointer + at, length, here, stream);
                if (!here) {
                    MemorySegment.copy(stage, ValueLayout.JAVA_BYTE, 0, memory, ValueLayout.JAVA_BYTE, at, length);
                }
            }
        }
    }

    private static void transfer(long hostAddress, long pointer, long length, boolean here, CudaStream stream) {
        if (here) {
            Memories.hostToDeviceAsync(pointer, hostAddress, length, stream.handle());
        } else {
            Memories.deviceToHostAsync(hostAddress, pointer, length, stream.handle());
        }
        dev.tutti.cuda.driver.Streams.synchronise(stream.handle());
    }

    /** Refuses closed memory; for callers that have looked at the device already. */
    void requireOpen() {
        if (owner.closed.get()) {
            throw new IllegalStateException("this buffer has been closed");
        }
    }

    /** Refuses closed and stale memory. */
    void requireUsable() {
        requireOpen();
        device.requireCurrent(generation, "this buffer of " + this);
    }

    private void enter() {
        requireUsable();
        device.enter();
    }

    /** Gives the memory back if it is this buffer's; waits for kernels that may use it. Closing twice is fine. */
    @Override
    public void close() {
        if (owner.free == null || !owner.closed.compareAndSet(false, true)) {
            return;
        }
        // A context that is gone has taken its memory along; registered host memory is still pinned by nobody.
        if (generation == device.generation()) {
            device.enter();
            if (kind == Kind.VIRTUAL) {
                dev.tutti.cuda.driver.Devices.synchronise();
            }
            owner.free.run();
        }
    }

    private static long bytes(DataType type, long count) {
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
