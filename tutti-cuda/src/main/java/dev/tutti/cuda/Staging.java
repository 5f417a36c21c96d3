package dev.tutti.cuda;

import dev.tutti.Buffer;
import dev.tutti.DataType;
import dev.tutti.cuda.driver.Memories;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The way of host memory to the device and back: through two pieces of pinned memory, one of which the host fills while the device
 * reads the other. Memory on the device is kept from call to call.
 */
final class Staging implements AutoCloseable {
    /** Longer copies on the host would hold up safepoints. */
    private static final long PIECE_BYTES = 1 << 20;

    private final CudaDevice device;
    private final CudaBuffer pinned;
    private final CudaEvent[] passed;
    private final @Nullable CudaBuffer[] places = new CudaBuffer[2];

    Staging(CudaDevice device) {
        this.device = device;
        this.pinned = CudaBuffer.allocatePinned(device, DataType.UINT8, 2 * PIECE_BYTES);
        this.passed = new CudaEvent[] {CudaEvent.open(device), CudaEvent.open(device)};
    }

    /** Memory on the device as long as the host's: place 0 for input, 1 for output. */
    CudaBuffer place(int which, Buffer like) {
        CudaBuffer known = places[which];
        if (known == null || known.type() != like.type() || known.count() < like.count()) {
            if (known != null) {
                device.synchronise();
                known.close();
            }
            known = device.allocate(
                    like.type(), Math.max(PIECE_BYTES / like.type().bytes(), like.count()));
            places[which] = known;
        }
        return known.slice(0, like.count());
    }

    /** Copies to the device in the order of a stream; the host's memory may be changed on return. */
    void load(Buffer from, CudaBuffer to, CudaStream stream) {
        MemorySegment memory = from.segment();
        for (long at = 0, piece = 0; at < memory.byteSize(); at += PIECE_BYTES, piece++) {
            long length = Math.min(PIECE_BYTES, memory.byteSize() - at);
            MemorySegment room = room(piece);
            passed[(int) (piece & 1)].synchronise();
            MemorySegment.copy(memory, at, room, 0, length);
            Memories.hostToDeviceAsync(to.pointer() + at, room.address(), length, stream.handle());
            passed[(int) (piece & 1)].record(stream);
        }
    }

    /** Copies from the device in the order of a stream, and waits for it. */
    void store(CudaBuffer from, Buffer to, CudaStream stream) {
        MemorySegment memory = to.segment();
        long pieces = (memory.byteSize() + PIECE_BYTES - 1) / PIECE_BYTES;
        for (long piece = 0; piece < Math.min(2, pieces); piece++) {
            fetch(from, piece, stream);
        }
        for (long piece = 0; piece < pieces; piece++) {
            passed[(int) (piece & 1)].synchronise();
            long at = piece * PIECE_BYTES;
            MemorySegment.copy(room(piece), 0, memory, at, Math.min(PIECE_BYTES, memory.byteSize() - at));
            if (piece + 2 < pieces) {
                fetch(from, piece + 2, stream);
            }
        }
    }

    private void fetch(CudaBuffer from, long piece, CudaStream stream) {
        long at = piece * PIECE_BYTES;
        long length = Math.min(PIECE_BYTES, from.bytes() - at);
        Memories.deviceToHostAsync(room(piece).address(), from.pointer() + at, length, stream.handle());
        passed[(int) (piece & 1)].record(stream);
    }

    private MemorySegment room(long piece) {
        return pinned.hostSegment().asSlice((piece & 1) * PIECE_BYTES, PIECE_BYTES);
    }

    @Override
    public void close() {
        for (CudaBuffer place : places) {
            if (place != null) {
                place.close();
            }
        }
        for (CudaEvent event : passed) {
            event.close();
        }
        pinned.close();
    }
}
