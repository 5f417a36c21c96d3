package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Descriptors of processes: they become readable when the process ends, for whoever may see it, and never mean another process.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/pidfd_open.2.html">pidfd_open(2)</a>
 */
public final class Pidfd {
    private static final long PIDFD_OPEN = 434;
    private static final long PIDFD_GETFD = 438;
    private static final int EFD_CLOEXEC_NONBLOCK = 0x80000 | 0x800;
    private static final short POLLIN = 1;
    /** struct pollfd: descriptor, what to wait for, what there is. */
    private static final int POLLFD_BYTES = 8;
    /** struct pidfd_info, first version: what is asked for and known at 0, how it ended at 60. Since Linux 6.15. */
    private static final int INFO_BYTES = 64;

    private static final int INFO_EXIT_CODE = 60;
    private static final long INFO_EXIT = 1 << 3;
    /** _IOWR(0xFF, 11, struct pidfd_info). */
    private static final long GET_INFO = 0xC000_0000L | (INFO_BYTES << 16) | (0xFF << 8) | 11;

    @SuppressWarnings("StaticAssignmentOfThrowable") // why it does not work is a fact of this process
    private static final @Nullable Throwable UNAVAILABILITY_CAUSE = probe();

    private Pidfd() {}

    private static final class Handles {
        private static final MethodHandle SYSCALL2 = Libc.syscall(2);
        private static final MethodHandle SYSCALL3 = Libc.syscall(3);
        private static final MethodHandle CLOSE =
                Libc.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        private static final MethodHandle EVENTFD = Libc.function(
                "eventfd", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        private static final MethodHandle EVENTFD_WRITE = Libc.function(
                "eventfd_write",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
        private static final MethodHandle EVENTFD_READ = Libc.function(
                "eventfd_read", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        private static final MethodHandle POLL = Libc.function(
                "poll",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        private static final MethodHandle IOCTL = Libc.variadic(
                "ioctl",
                2,
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        private static final MethodHandle KILL = Libc.function(
                "kill", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }

    private static @Nullable Throwable probe() {
        try {
            close(open(ProcessFacts.pid()));
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

    /** Opens a process. {@link PosixException#ESRCH}: there is none with that number. */
    public static int open(long pid) {
        MemorySegment scratch = Libc.scratch();
        try {
            long result = (long) Handles.SYSCALL2.invokeExact(scratch, PIDFD_OPEN, pid, 0L);
            return check((int) result, "pidfd_open(" + pid + ")", scratch);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /**
     * A descriptor of this process for what another process has open under a number. The kernel allows it to whoever could trace
     * that process; {@link PosixException} says that it did not.
     *
     * @see <a href="https://man7.org/linux/man-pages/man2/pidfd_getfd.2.html">pidfd_getfd(2)</a>
     */
    public static int duplicate(long pid, int descriptor) {
        int process = open(pid);
        MemorySegment scratch = Libc.scratch();
        try {
            long result =
                    (long) Handles.SYSCALL3.invokeExact(scratch, PIDFD_GETFD, (long) process, (long) descriptor, 0L);
            return check((int) result, "pidfd_getfd(" + pid + ", " + descriptor + ")", scratch);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        } finally {
            close(process);
        }
    }

    /** A descriptor that {@link #ring} makes readable. */
    public static int newBell() {
        MemorySegment scratch = Libc.scratch();
        try {
            return check((int) Handles.EVENTFD.invokeExact(scratch, 0, EFD_CLOEXEC_NONBLOCK), "eventfd()", scratch);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** Makes {@link #poll} return. */
    public static void ring(int bell) {
        try {
            int ignored = (int) Handles.EVENTFD_WRITE.invokeExact(Libc.scratch(), bell, 1L);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** Takes what was rung, so that the next poll waits again. */
    public static void silence(int bell) {
        MemorySegment scratch = Libc.scratch();
        try {
            int ignored = (int) Handles.EVENTFD_READ.invokeExact(scratch, bell, Libc.structure(scratch));
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /**
     * Waits until a descriptor is readable, a signal comes or the time is over.
     *
     * @param timeoutMillis -1: for ever
     * @return for each whether it is readable
     */
    public static boolean[] poll(int[] descriptors, int timeoutMillis) {
        boolean[] readable = new boolean[descriptors.length];
        MemorySegment scratch = Libc.scratch();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate((long) POLLFD_BYTES * descriptors.length, 8);
            for (int i = 0; i < descriptors.length; i++) {
                entries.set(ValueLayout.JAVA_INT, (long) POLLFD_BYTES * i, descriptors[i]);
                entries.set(ValueLayout.JAVA_SHORT, (long) POLLFD_BYTES * i + 4, POLLIN);
            }
            int ready = (int) Handles.POLL.invokeExact(scratch, entries, (long) descriptors.length, timeoutMillis);
            if (ready == -1) {
                if (Libc.errno(scratch) != PosixException.EINTR) {
                    throw new PosixException("poll(" + descriptors.length + ")", Libc.errno(scratch));
                }
                return readable;
            }
            for (int i = 0; i < descriptors.length; i++) {
                readable[i] = entries.get(ValueLayout.JAVA_SHORT, (long) POLLFD_BYTES * i + 6) != 0;
            }
            return readable;
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** How a process ended, as {@code wait} gives it; empty if its parent has not asked yet or the kernel does not tell. */
    public static OptionalInt waitStatus(int descriptor) {
        MemorySegment scratch = Libc.scratch();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(INFO_BYTES, 8);
            info.set(ValueLayout.JAVA_LONG, 0, INFO_EXIT);
            int result = (int) Handles.IOCTL.invokeExact(scratch, descriptor, GET_INFO, info);
            return result == 0 && (info.get(ValueLayout.JAVA_LONG, 0) & INFO_EXIT) != 0
                    ? OptionalInt.of(info.get(ValueLayout.JAVA_INT, INFO_EXIT_CODE))
                    : OptionalInt.empty();
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** Sends a signal to a process, or to a group if negative; false if there is none such. */
    public static boolean kill(long pid, int signal) {
        MemorySegment scratch = Libc.scratch();
        try {
            return (int) Handles.KILL.invokeExact(scratch, (int) pid, signal) == 0;
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    public static void close(int descriptor) {
        try {
            int ignored = (int) Handles.CLOSE.invokeExact(Libc.scratch(), descriptor);
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
}
