package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
    private static final long READ = Libc.systemCall(0, 63);
    private static final long WRITE = Libc.systemCall(1, 64);
    private static final long IOCTL = Libc.systemCall(16, 29);
    private static final long KILL = Libc.systemCall(62, 129);
    private static final long PPOLL = Libc.systemCall(271, 73);
    private static final long EVENTFD2 = Libc.systemCall(290, 19);
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
        return Libc.check(Libc.call(scratch, PIDFD_OPEN, pid, 0), "pidfd_open(" + pid + ")", scratch);
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
            long result = Libc.call(scratch, PIDFD_GETFD, process, descriptor, 0);
            return Libc.check(result, "pidfd_getfd(" + pid + ", " + descriptor + ")", scratch);
        } finally {
            close(process);
        }
    }

    /** A descriptor that {@link #ring} makes readable. */
    public static int newBell() {
        MemorySegment scratch = Libc.scratch();
        return Libc.check(Libc.call(scratch, EVENTFD2, 0, EFD_CLOEXEC_NONBLOCK), "eventfd()", scratch);
    }

    /** Makes {@link #poll} return. */
    public static void ring(int bell) {
        MemorySegment scratch = Libc.scratch();
        MemorySegment one = Libc.structure(scratch);
        one.set(ValueLayout.JAVA_LONG, 0, 1);
        long _ = Libc.call(scratch, WRITE, bell, one.address(), Long.BYTES);
    }

    /** Takes what was rung, so that the next poll waits again. */
    public static void silence(int bell) {
        MemorySegment scratch = Libc.scratch();
        long _ = Libc.call(scratch, READ, bell, Libc.structure(scratch).address(), Long.BYTES);
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
            MemorySegment time = Libc.structure(scratch);
            time.set(ValueLayout.JAVA_LONG, 0, timeoutMillis / 1000);
            time.set(ValueLayout.JAVA_LONG, 8, timeoutMillis % 1000 * 1_000_000L);
            long timeout = timeoutMillis < 0 ? 0 : time.address();
            if (Libc.call(scratch, PPOLL, entries.address(), descriptors.length, timeout, 0) == -1) {
                if (Libc.errno(scratch) != PosixException.EINTR) {
                    throw new PosixException("poll(" + descriptors.length + ")", Libc.errno(scratch));
                }
                return readable;
            }
            for (int i = 0; i < descriptors.length; i++) {
                readable[i] = entries.get(ValueLayout.JAVA_SHORT, (long) POLLFD_BYTES * i + 6) != 0;
            }
            return readable;
        }
    }

    /** How a process ended, as {@code wait} gives it; empty if its parent has not asked yet or the kernel does not tell. */
    public static OptionalInt waitStatus(int descriptor) {
        MemorySegment scratch = Libc.scratch();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(INFO_BYTES, 8);
            info.set(ValueLayout.JAVA_LONG, 0, INFO_EXIT);
            long result = Libc.call(scratch, IOCTL, descriptor, GET_INFO, info.address());
            return result == 0 && (info.get(ValueLayout.JAVA_LONG, 0) & INFO_EXIT) != 0
                    ? OptionalInt.of(info.get(ValueLayout.JAVA_INT, INFO_EXIT_CODE))
                    : OptionalInt.empty();
        }
    }

    /** Sends a signal to a process, or to a group if negative; false if there is none such. */
    public static boolean kill(long pid, int signal) {
        return Libc.call(Libc.scratch(), KILL, pid, signal) == 0;
    }

    public static void close(int descriptor) {
        Libc.close(descriptor);
    }
}
