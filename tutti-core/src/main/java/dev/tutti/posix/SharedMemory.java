package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory without a name that processes share: a memfd. Its owner makes it, others open it through the owner's entry in
 * {@code /proc}, which the kernel allows to processes of the same user only. There is nothing to unlink: it is gone when the last
 * process that has it open or mapped is.
 *
 * <p>Its size is only a range of addresses; pages come with {@link #reserve}. Writing to a page that was not reserved may end the
 * process when there is no memory left.
 */
public final class SharedMemory implements AutoCloseable {
    private static final long MMAP = Libc.systemCall(9, 222);
    private static final long FTRUNCATE = Libc.systemCall(77, 46);
    private static final long OPENAT = Libc.systemCall(257, 56);
    private static final long FALLOCATE = Libc.systemCall(285, 47);
    private static final long MEMFD_CREATE = Libc.systemCall(319, 279);
    private static final int AT_FDCWD = -100;
    private static final int MFD_CLOEXEC = 1;
    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x80000;
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_SHARED_NORESERVE = 0x01 | 0x4000;
    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int FALLOC_FL_PUNCH_HOLE = 2;

    private static final @Nullable Throwable UNAVAILABILITY_CAUSE = probe();

    private final String name;
    private int descriptor;

    private SharedMemory(String name, int descriptor) {
        this.name = name;
        this.descriptor = descriptor;
    }

    private static @Nullable Throwable probe() {
        try (SharedMemory probe = create("tutti-probe", 4096)) {
            probe.reserve(0, 4096);
            long address = probe.map(4096);
            unmap(address, 4096);
            return null;
        } catch (RuntimeException | LinkageError cause) {
            return cause;
        }
    }

    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /** Why there is none here, or null. */
    public static @Nullable Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /** Makes memory of that many bytes of addresses, without pages. */
    public static SharedMemory create(String name, long bytes) {
        MemorySegment scratch = Libc.scratch();
        String call = "memfd_create(" + name + ")";
        try (Arena arena = Arena.ofConfined()) {
            long made =
                    Libc.call(scratch, MEMFD_CREATE, arena.allocateFrom(name).address(), MFD_CLOEXEC);
            SharedMemory memory = new SharedMemory(name, Libc.check(made, call, scratch));
            try {
                long sized = Libc.call(scratch, FTRUNCATE, memory.descriptor, bytes);
                Libc.check(sized, "ftruncate(" + name + ", " + bytes + ")", scratch);
                return memory;
            } catch (RuntimeException | Error failed) {
                memory.close();
                throw failed;
            }
        }
    }

    /** Opens what another process of the same user has made. */
    public static SharedMemory open(long pid, int descriptor) {
        String path = "/proc/" + pid + "/fd/" + descriptor;
        MemorySegment scratch = Libc.scratch();
        try (Arena arena = Arena.ofConfined()) {
            long file = arena.allocateFrom(path).address();
            long opened = Libc.call(scratch, OPENAT, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
            return new SharedMemory(path, Libc.check(opened, "open(" + path + ")", scratch));
        }
    }

    /** What {@link #open} needs, beside this process's id. */
    public int descriptor() {
        return descriptor;
    }

    /** Makes pages for a range, zeroed where there were none; those that exist keep what is in them. Any opener may call it. */
    public void reserve(long offset, long bytes) {
        fallocate(0, offset, bytes);
    }

    /** Gives the pages of a range back; whoever reads it next finds zeros. */
    public void punch(long offset, long bytes) {
        fallocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
    }

    private void fallocate(int mode, long offset, long bytes) {
        MemorySegment scratch = Libc.scratch();
        while (Libc.call(scratch, FALLOCATE, descriptor, mode, offset, bytes) == -1) {
            // A signal to the process may come in the middle; the JVM itself sends some.
            if (Libc.errno(scratch) != PosixException.EINTR) {
                throw new PosixException(
                        "fallocate(" + name + ", mode " + mode + ", " + offset + ", " + bytes + ")",
                        Libc.errno(scratch));
            }
        }
    }

    /** Maps all of it. */
    public long map(long bytes) {
        MemorySegment scratch = Libc.scratch();
        long address = Libc.call(scratch, MMAP, 0, bytes, PROT_READ_WRITE, MAP_SHARED_NORESERVE, descriptor, 0);
        if (address == -1) {
            throw new PosixException("mmap(" + name + ", " + bytes + ")", Libc.errno(scratch));
        }
        return address;
    }

    /** Ends a mapping; nobody may touch it any more. */
    public static void unmap(long address, long bytes) {
        PrivateMemory.unmap(address, bytes);
    }

    /** Closes the descriptor; mappings stay. */
    @Override
    public synchronized void close() {
        if (descriptor >= 0) {
            int closing = descriptor;
            descriptor = -1;
            Libc.close(closing);
        }
    }
}
