package dev.tutti.cuda;

import dev.tutti.cuda.driver.Ipc;
import dev.tutti.cuda.driver.Memories;
import dev.tutti.cuda.driver.VirtualMemory;
import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * An allocation as other processes are told of it. As words of 8 bytes:
 *
 * <pre>
 *   0  kind in the low half, file descriptor in the high half
 *   1  serial: never used again in its process
 *   2  address in its process
 *   3  offset of the operand in it
 *   4  bytes of it
 *   5  eight words of a CUDA IPC handle
 * </pre>
 *
 * @param kind what maps it
 * @param serial for the importers' memory
 * @param base its address in this process
 * @param bytes of all of it
 * @param descriptor of this process, or -1
 * @param ipc a CUDA IPC handle, or null
 */
record Handle(
        Kind kind,
        long serial,
        long base,
        long bytes,
        int descriptor,
        @Nullable MemorySegment ipc) {
    static final int WORDS = 13;

    private static final int BUFFER_ID = 7;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** What maps an allocation elsewhere. */
    enum Kind {
        /** There is no operand. */
        NONE,
        /** Nothing: only the same process can reach it. */
        ADDRESS,
        /** A file descriptor of its process. */
        DESCRIPTOR,
        /** A CUDA IPC handle. */
        IPC
    }

    /** For memory that only ranks of the same process reach. */
    static Handle address(CudaMemory memory) {
        return new Handle(Kind.ADDRESS, memory.serial(), memory.pointer(), memory.bytes(), -1, null);
    }

    /** For memory with a descriptor, which stays the memory's. */
    static Handle descriptor(CudaMemory memory, VirtualAllocation virtual) {
        return new Handle(
                Kind.DESCRIPTOR, memory.serial(), memory.pointer(), memory.bytes(), virtual.descriptor(), null);
    }

    /**
     * For the allocation that an address is in, as the driver knows it.
     *
     * @param serial 0: the driver's own number of the allocation
     * @throws CudaException if the driver gives no handle for such memory
     */
    static Handle ipc(long pointer, long serial) {
        MemorySegment scratch = Scratch.zeroed();
        Memories.getAddressRange(scratch.address(), scratch.address() + Long.BYTES, pointer);
        long base = scratch.get(LONG, 0);
        long bytes = scratch.get(LONG, Long.BYTES);
        long number = serial != 0 ? serial : -bufferId(pointer);
        MemorySegment handle = java.lang.foreign.Arena.ofAuto().allocate(Ipc.HANDLE_BYTES, 8);
        VirtualMemory.ipcGet(handle.address(), base);
        return new Handle(Kind.IPC, number, base, bytes, -1, handle);
    }

    /** The driver's number of the allocation that an address is in; 0 if it is none of the device's. */
    static long bufferId(long pointer) {
        MemorySegment id = Scratch.zeroed();
        return Memories.getPointerAttribute(id.address(), BUFFER_ID, pointer) == 0 ? id.get(LONG, 0) : 0;
    }

    /** Writes this for an operand somewhere in the allocation. */
    void write(MemorySegment to, long at, long pointer) {
        to.set(LONG, at, kind.ordinal() | ((long) descriptor << 32));
        to.set(LONG, at + 8, serial);
        to.set(LONG, at + 16, base);
        to.set(LONG, at + 24, pointer - base);
        to.set(LONG, at + 32, bytes);
        for (int word = 5; word < WORDS; word++) {
            to.set(LONG, at + 8L * word, ipc == null ? 0 : ipc.get(LONG, 8L * (word - 5)));
        }
    }

    static void writeNone(MemorySegment to, long at) {
        to.asSlice(at, 8L * WORDS).fill((byte) 0);
    }

    /** What was written at a place. */
    static Handle read(MemorySegment from, long at) {
        long first = from.get(LONG, at);
        return new Handle(
                Kind.values()[(int) first],
                from.get(LONG, at + 8),
                from.get(LONG, at + 16),
                from.get(LONG, at + 32),
                (int) (first >>> 32),
                from.asSlice(at + 40, Ipc.HANDLE_BYTES));
    }

    /** The operand's place in the allocation that was written. */
    static long offset(MemorySegment from, long at) {
        return from.get(LONG, at + 24);
    }
}
