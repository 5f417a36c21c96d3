package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
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

    /** The handles are linked when they are first needed, so that the class can be loaded anywhere. */
    private static final class Handles {
        private static final MethodHandle MEMFD_CREATE = Libc.function(
                "memfd_create", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        private static final MethodHandle OPEN = Libc.function(
                "open", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        private static final MethodHandle CLOSE =
                Libc.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        private static final MethodHandle FTRUNCATE = Libc.function(
                "ftruncate", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
        private static final MethodHandle FALLOCATE = Libc.function(
                "fallocate",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG));
        private static final MethodHandle MMAP = Libc.function(
                "mmap",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG));
        private static final MethodHandle MUNMAP = Libc.function(
                "munmap", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
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
            int made = (int) Handles.MEMFD_CREATE.invokeExact(scratch, arena.allocateFrom(name), MFD_CLOEXEC);
            SharedMemory memory = new SharedMemory(name, check(made, call, scratch));
            try {
                int sized = (int) Handles.FTRUNCATE.invokeExact(scratch, memory.descriptor, bytes);
                check(sized, "ftruncate(" + name + ", " + bytes + ")", scratch);
                return memory;
            } catch (Throwable thrown) {
                memory.close();
                throw thrown;
            }
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** Opens what another process of the same user has made. */
    public static SharedMemory open(long pid, int descriptor) {
        String path = "/proc/" + pid + "/fd/" + descriptor;
        MemorySegment scratch = Libc.scratch();
        try (Arena arena = Arena.ofConfined()) {
            int opened = (int) Handles.OPEN.invokeExact(scratch, arena.allocateFrom(path), O_RDWR | O_CLOEXEC);
            return new SharedMemory(path, check(opened, "open(" + path + ")", scratch));
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
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
        try {
            while (true) {
                int result = (int) Handles.FALLOCATE.invokeExact(scratch, descriptor, mode, offset, bytes);
                if (result == 0) {
                    return;
                }
                // A signal to the process may come in the middle; the JVM itself sends some.
                if (Libc.errno(scratch) != PosixException.EINTR) {
                    check(result, "fallocate(" + name + ", mode " + mode + ", " + offset + ", " + bytes + ")", scratch);
                }
            }
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** Maps all of it. */
    public long map(long bytes) {
        MemorySegment scratch = Libc.scratch();
        try {
            long address = (long)
                    Handles.MMAP.invokeExact(scratch, 0L, bytes, PROT_READ_WRITE, MAP_SHARED_NORESERVE, descriptor, 0L);
            if (address == -1) {
                throw new PosixException("mmap(" + name + ", " + bytes + ")", Libc.errno(scratch));
            }
            return address;
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** Ends a mapping; nobody may touch it any more. */
    public static void unmap(long address, long bytes) {
        MemorySegment scratch = Libc.scratch();
        try {
            int result = (int) Handles.MUNMAP.invokeExact(scratch, address, bytes);
            check(result, "munmap(0x" + Long.toHexString(address) + ", " + bytes + ")", scratch);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    private static int check(int result, String call, MemorySegment scratch) {
        if (result == -1) {
            throw new PosixException(call, Libc.errno(scratch));
        }
        return result;
    }

    /** Closes the descriptor; mappings stay. */
    @Override
    public synchronized void close() {
        if (descriptor >= 0) {
            int closing = descriptor;
            descriptor = -1;
            try {
                int ignored = (int) Handles.CLOSE.invokeExact(Libc.scratch(), closing);
            } catch (Throwable thrown) {
                throw Libc.unexpected(thrown);
            }
        }
    }
}
