package dev.tutti.cuda;

import dev.tutti.cuda.driver.Devices;
import dev.tutti.cuda.driver.Memories;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Memory that buffers are views of: where it is, whose it is, how it is given back, and how other processes get at it. */
final class CudaMemory implements AutoCloseable {
    private static final int PORTABLE_AND_MAPPED = 3;
    private static final AtomicLong SERIALS = new AtomicLong();

    private final CudaDevice device;
    private final CudaBuffer.Kind kind;
    private final int generation;
    private final long pointer;
    private final long bytes;
    private final @Nullable MemorySegment host;
    private final @Nullable Runnable free;
    private final @Nullable VirtualAllocation virtual;
    /** Never used again in this process. */
    private final long serial = SERIALS.incrementAndGet();

    private final AtomicBoolean closed = new AtomicBoolean();
    private final List<LongConsumer> closing = new CopyOnWriteArrayList<>();

    private CudaMemory(
            CudaDevice device,
            CudaBuffer.Kind kind,
            long pointer,
            long bytes,
            @Nullable MemorySegment host,
            @Nullable Runnable free,
            @Nullable VirtualAllocation virtual) {
        this.device = device;
        this.kind = kind;
        this.generation = device.generation();
        this.pointer = pointer;
        this.bytes = bytes;
        this.host = host;
        this.free = free;
        this.virtual = virtual;
    }

    static CudaMemory allocate(CudaDevice device, long bytes) {
        device.enter();
        long pointer = Memories.alloc(bytes);
        return new CudaMemory(device, CudaBuffer.Kind.DEVICE, pointer, bytes, null, () -> Memories.free(pointer), null);
    }

    static CudaMemory allocateAsync(CudaStream stream, long bytes) {
        stream.enter();
        long pointer = Memories.allocAsync(bytes, stream.handle());
        // A stream that was closed no longer orders anything.
        Runnable free = () -> {
            if (stream.isOpen()) {
                Memories.freeAsync(pointer, stream.handle());
            } else {
                Devices.synchronise();
                Memories.free(pointer);
            }
        };
        return new CudaMemory(stream.device(), CudaBuffer.Kind.POOL, pointer, bytes, null, free, null);
    }

    static CudaMemory allocateVirtual(CudaDevice device, long bytes) {
        device.enter();
        return virtual(device, VirtualAllocation.create(device.handle(), bytes));
    }

    /** Memory of another process behind a descriptor, which stays the caller's. */
    static CudaMemory imported(CudaDevice device, int descriptor, long bytes) {
        device.enter();
        return virtual(device, VirtualAllocation.imported(device.handle(), descriptor, bytes));
    }

    private static CudaMemory virtual(CudaDevice device, VirtualAllocation memory) {
        return new CudaMemory(
                device, CudaBuffer.Kind.VIRTUAL, memory.pointer(), memory.bytes(), null, memory::close, memory);
    }

    static CudaMemory allocatePinned(CudaDevice device, long bytes) {
        device.enter();
        long pointer = Memories.hostAlloc(bytes, PORTABLE_AND_MAPPED);
        MemorySegment host = MemorySegment.ofAddress(pointer).reinterpret(bytes);
        return new CudaMemory(
                device, CudaBuffer.Kind.PINNED, pointer, bytes, host, () -> Memories.hostFree(pointer), null);
    }

    static CudaMemory register(CudaDevice device, MemorySegment memory) {
        device.enter();
        long address = memory.address();
        Memories.hostRegister(address, Math.max(1, memory.byteSize()), PORTABLE_AND_MAPPED);
        return new CudaMemory(
                device,
                CudaBuffer.Kind.REGISTERED,
                Memories.hostDevicePointer(address, 0),
                memory.byteSize(),
                memory,
                () -> Memories.hostUnregister(address),
                null);
    }

    static CudaMemory external(CudaDevice device, long pointer, long bytes) {
        device.enter();
        return new CudaMemory(device, CudaBuffer.Kind.EXTERNAL, pointer, bytes, null, null, null);
    }

    CudaDevice device() {
        return device;
    }

    CudaBuffer.Kind kind() {
        return kind;
    }

    long pointer() {
        return pointer;
    }

    long bytes() {
        return bytes;
    }

    long serial() {
        return serial;
    }

    @Nullable
    MemorySegment host() {
        return host;
    }

    @Nullable
    VirtualAllocation virtual() {
        return virtual;
    }

    /** Has somebody told, by the serial, when this is given back. */
    void onClose(LongConsumer told) {
        closing.add(told);
    }

    /** Refuses closed memory; for callers that have looked at the device already. */
    void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException("this buffer has been closed");
        }
    }

    /** Refuses closed and stale memory. */
    void requireUsable(Object what) {
        requireOpen();
        device.requireCurrent(generation, "this buffer of " + what);
    }

    /** Gives the memory back if it is Tutti's; waits for kernels that may use it. */
    @Override
    public void close() {
        if (free == null || !closed.compareAndSet(false, true)) {
            return;
        }
        closing.forEach(told -> told.accept(serial));
        // A context that is gone has taken its memory along; registered host memory is still pinned by nobody.
        if (generation == device.generation()) {
            device.enter();
            if (kind == CudaBuffer.Kind.VIRTUAL) {
                Devices.synchronise();
            }
            free.run();
        }
    }
}
