package dev.tutti.transport.shm;

import dev.tutti.posix.SharedMemory;

/** Memory without a name, reached through the owner's entry in {@code /proc}. */
final class MemfdBacking implements Backing {
    private final SharedMemory memory;
    private final long bytes;
    private final long address;

    private MemfdBacking(SharedMemory memory, long bytes) {
        this.memory = memory;
        this.bytes = bytes;
        try {
            this.address = memory.map(bytes);
        } catch (RuntimeException thrown) {
            memory.close();
            throw thrown;
        }
    }

    static MemfdBacking create(String name, long bytes) {
        return new MemfdBacking(SharedMemory.create(name, bytes), bytes);
    }

    static MemfdBacking open(long pid, String handle, long bytes) {
        return new MemfdBacking(SharedMemory.open(pid, Integer.parseInt(handle)), bytes);
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void reserve(long offset, long length) {
        memory.reserve(offset, length);
    }

    @Override
    public void punch(long offset, long length) {
        memory.punch(offset, length);
    }

    @Override
    public String handle() {
        return Integer.toString(memory.descriptor());
    }

    @Override
    public void everybodyHasIt() {}

    @Override
    public void close() {
        SharedMemory.unmap(address, bytes);
        memory.close();
    }
}
