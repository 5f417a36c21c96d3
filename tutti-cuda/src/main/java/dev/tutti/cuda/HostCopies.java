package dev.tutti.cuda;

import dev.tutti.cuda.driver.Memories;
import dev.tutti.cuda.driver.Streams;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Copies between a device and memory of the host that may be an array. */
final class HostCopies {
    private static final int STAGE_BYTES = 1 << 20;

    private HostCopies() {}

    /** Copies all of the host's memory in the order of a stream, and waits for it. */
    static void copy(MemorySegment memory, long pointer, boolean toDevice, CudaStream stream) {
        long bytes = memory.byteSize();
        if (memory.isNative()) {
            try {
                transfer(memory.address(), pointer, bytes, toDevice, stream);
            } finally {
                java.lang.ref.Reference.reachabilityFence(memory);
            }
            return;
        }
        // The collector may move an array: through native memory, piece by piece.
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stage = arena.allocate(Math.min(STAGE_BYTES, bytes), 64);
            for (long at = 0; at < bytes; at += STAGE_BYTES) {
                long length = Math.min(STAGE_BYTES, bytes - at);
                if (toDevice) {
                    MemorySegment.copy(memory, at, stage, 0, length);
                }
                transfer(stage.address(), pointer + at, length, toDevice, stream);
                if (!toDevice) {
                    MemorySegment.copy(stage, ValueLayout.JAVA_BYTE, 0, memory, ValueLayout.JAVA_BYTE, at, length);
                }
            }
        }
    }

    private static void transfer(long hostAddress, long pointer, long length, boolean toDevice, CudaStream stream) {
        if (toDevice) {
            Memories.hostToDeviceAsync(pointer, hostAddress, length, stream.handle());
        } else {
            Memories.deviceToHostAsync(hostAddress, pointer, length, stream.handle());
        }
        Streams.synchronise(stream.handle());
    }
}
