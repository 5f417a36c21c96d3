package dev.tutti.cuda;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Memory of this rank that others were told of, and which of it has gone since. */
final class Exports {
    private static final long[] NOTHING = {};

    private final boolean alone;
    private final boolean descriptors;
    private final boolean ipc;
    private final Map<Long, Handle> known = new HashMap<>();
    private final ArrayDeque<Long> gone = new ArrayDeque<>();

    /**
     * Nothing yet.
     *
     * @param alone whether all ranks are in this process, so that addresses are enough
     * @param descriptors whether descriptors work between all ranks
     * @param ipc whether IPC handles do
     */
    Exports(boolean alone, boolean descriptors, boolean ipc) {
        this.alone = alone;
        this.descriptors = descriptors;
        this.ipc = ipc;
    }

    /** New memory of a kind that others can map. */
    CudaMemory allocate(CudaDevice device, long bytes) {
        return descriptors ? CudaMemory.allocateVirtual(device, bytes) : CudaMemory.allocate(device, bytes);
    }

    /** How others get at a buffer; null if they cannot, so that it has to go through memory that they can. */
    @Nullable
    Handle of(CudaBuffer buffer) {
        CudaMemory memory = buffer.memory();
        if (alone) {
            return Handle.address(memory);
        }
        return switch (memory.kind()) {
            case VIRTUAL -> descriptors ? kept(memory) : null;
            case DEVICE -> ipc ? kept(memory) : null;
            case EXTERNAL -> ipc ? external(buffer.pointer()) : null;
            case POOL, PINNED, REGISTERED -> null;
        };
    }

    private Handle kept(CudaMemory memory) {
        Handle handle = known.get(memory.serial());
        if (handle == null) {
            VirtualAllocation virtual = memory.virtual();
            handle = virtual != null
                    ? Handle.descriptor(memory, virtual)
                    : Handle.ipc(memory.pointer(), memory.serial());
            known.put(memory.serial(), handle);
            memory.onClose(this::gone);
        }
        return handle;
    }

    /** Another library's memory: asked for with every call, as nobody says when it is freed. */
    private @Nullable Handle external(long pointer) {
        long number = -Handle.bufferId(pointer);
        if (number == 0) {
            return null;
        }
        Handle handle = known.get(number);
        if (handle == null) {
            try {
                handle = Handle.ipc(pointer, number);
            } catch (CudaException notExportable) {
                return null;
            }
            known.put(number, handle);
        }
        return handle;
    }

    /** Not under the lock of calls: a buffer may be closed by any thread. */
    private void gone(long serial) {
        synchronized (gone) {
            gone.add(serial);
        }
    }

    /** The serials of memory that has gone and that the others have not been told of. */
    long[] takeGone() {
        synchronized (gone) {
            if (gone.isEmpty()) {
                return NOTHING;
            }
            long[] serials = gone.stream().mapToLong(Long::longValue).toArray();
            gone.forEach(known::remove);
            gone.clear();
            return serials;
        }
    }
}
