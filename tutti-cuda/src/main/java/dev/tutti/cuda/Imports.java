package dev.tutti.cuda;

import dev.tutti.cuda.driver.Ipc;
import dev.tutti.cuda.driver.VirtualMemory;
import dev.tutti.posix.Pidfd;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Memory of other processes that is mapped here. An allocation is mapped when it is first named, and until its owner says it has gone. */
final class Imports implements AutoCloseable {
    private final CudaDevice device;
    private final long[] processes;
    private final List<Map<Long, Mapping>> byRank = new ArrayList<>();

    private record Mapping(long pointer, Handle handle, Runnable close) {
        boolean overlaps(Handle other) {
            return handle.base() < other.base() + other.bytes() && other.base() < handle.base() + handle.bytes();
        }
    }

    /**
     * Nothing yet.
     *
     * @param processes who each rank is
     */
    Imports(CudaDevice device, long[] processes) {
        this.device = device;
        this.processes = processes.clone();
        for (int rank = 0; rank < processes.length; rank++) {
            byRank.add(new HashMap<>());
        }
    }

    /** Where this process sees an operand of another rank; 0 if there is none. */
    long pointer(int rank, MemorySegment from, long at) {
        Handle handle = Handle.read(from, at);
        if (handle.kind() == Handle.Kind.NONE) {
            return 0;
        }
        long offset = Handle.offset(from, at);
        if (processes[rank] == ProcessHandle.current().pid()) {
            return handle.base() + offset;
        }
        Map<Long, Mapping> known = byRank.get(rank);
        Mapping mapping = known.get(handle.serial());
        if (mapping == null) {
            dropOverlapping(rank, handle);
            mapping = map(rank, handle);
            known.put(handle.serial(), mapping);
        }
        return mapping.pointer() + offset;
    }

    private Mapping map(int rank, Handle handle) {
        device.enter();
        if (handle.kind() == Handle.Kind.IPC) {
            long pointer = Ipc.open(java.util.Objects.requireNonNull(handle.ipc()));
            return new Mapping(pointer, handle, () -> VirtualMemory.ipcClose(pointer));
        }
        if (handle.kind() != Handle.Kind.DESCRIPTOR) {
            throw new IllegalStateException("memory of rank " + rank + " can be reached in its own process only");
        }
        int descriptor = Pidfd.duplicate(processes[rank], handle.descriptor());
        try {
            CudaMemory memory = CudaMemory.imported(device, descriptor, handle.bytes());
            return new Mapping(memory.pointer(), handle, memory::close);
        } finally {
            Pidfd.close(descriptor);
        }
    }

    /** What lay at the same addresses of that process must be gone, though nobody has said so yet; the driver maps no place twice. */
    private void dropOverlapping(int rank, Handle handle) {
        List<Long> stale = byRank.get(rank).entrySet().stream()
                .filter(each -> each.getValue().overlaps(handle))
                .map(Map.Entry::getKey)
                .toList();
        stale.forEach(serial -> drop(rank, serial));
    }

    /** An allocation of a rank is gone. */
    void drop(int rank, long serial) {
        Mapping mapping = byRank.get(rank).remove(serial);
        if (mapping != null) {
            device.enter();
            mapping.close().run();
        }
    }

    /** Unmaps everything. Nothing on the device may use it any more. */
    @Override
    public void close() {
        device.enter();
        for (Map<Long, Mapping> each : byRank) {
            each.values().forEach(mapping -> mapping.close().run());
            each.clear();
        }
    }
}
