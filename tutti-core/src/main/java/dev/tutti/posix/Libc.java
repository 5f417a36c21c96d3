package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Calls the system through the C library. Only Linux with 64 bits is known; elsewhere nothing is found, and the cause says so. */
final class Libc {
    static final @Nullable Throwable UNAVAILABILITY_CAUSE;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final int ERRNO_BYTES = 16;
    private static final int SCRATCH_BYTES = 64;

    /** Room for errno and for a small structure, one per thread: a call must not allocate. */
    private static final ThreadLocal<MemorySegment> SCRATCH =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(SCRATCH_BYTES, 16));

    static {
        String system = System.getProperty("os.name", "");
        String machine = machine();
        UNAVAILABILITY_CAUSE = system.equals("Linux") && (machine.equals("amd64") || machine.equals("aarch64"))
                ? null
                : new UnsupportedOperationException(
                        "needs Linux on x86-64 or aarch64, this is " + system + " on " + machine);
    }

    private static final long CLOSE = systemCall(3, 57);

    private Libc() {}

    /** Linked when it is first needed, so that the class can be loaded anywhere. */
    private static final class Handles {
        private static final MethodHandle SYSCALL = link();
    }

    private static String machine() {
        return System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    }

    /** The number of a system call that has different ones on the two machines. */
    static long systemCall(int onAmd64, int onAarch64) {
        return machine().equals("amd64") ? onAmd64 : onAarch64;
    }

    /**
     * One system call. All go through this one handle, whatever they take: linking another kind of call takes the JVM some
     * milliseconds, which whoever starts many processes cannot spare.
     *
     * @param scratch {@link #scratch}, where errno is left
     * @param number which, from {@link #systemCall}
     * @return the result, or -1 with errno
     */
    static long call(MemorySegment scratch, long number, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) Handles.SYSCALL.invokeExact(scratch, number, a, b, c, d, e, f);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    static long call(MemorySegment scratch, long number, long a, long b, long c, long d) {
        return call(scratch, number, a, b, c, d, 0, 0);
    }

    static long call(MemorySegment scratch, long number, long a, long b, long c) {
        return call(scratch, number, a, b, c, 0, 0, 0);
    }

    static long call(MemorySegment scratch, long number, long a, long b) {
        return call(scratch, number, a, b, 0, 0, 0, 0);
    }

    /** The result of {@link #call} as an int, or an exception. */
    static int check(long result, String call, MemorySegment scratch) {
        if (result == -1) {
            throw new PosixException(call, errno(scratch));
        }
        return (int) result;
    }

    static void close(int descriptor) {
        long _ = call(scratch(), CLOSE, descriptor, 0);
    }

    /** Instructions of our own at an address. The call takes no more than that: it must be short, and never wait. */
    static MethodHandle code(MemorySegment address, FunctionDescriptor type, boolean takesArrays) {
        return LINKER.downcallHandle(address, type, Linker.Option.critical(takesArrays));
    }

    /** The same for instructions at an address that is the first argument, and is never that of an array. */
    static MethodHandle code(FunctionDescriptor type) {
        return LINKER.downcallHandle(type, Linker.Option.critical(false));
    }

    private static MethodHandle link() {
        if (UNAVAILABILITY_CAUSE != null) {
            throw new UnsupportedOperationException(
                    "system calls: " + UNAVAILABILITY_CAUSE.getMessage(), UNAVAILABILITY_CAUSE);
        }
        MemorySegment address = LINKER.defaultLookup()
                .find("syscall")
                .orElseThrow(() -> new UnsupportedOperationException("the C library has no syscall"));
        MemoryLayout[] arguments = new MemoryLayout[7];
        Arrays.fill(arguments, ValueLayout.JAVA_LONG);
        return LINKER.downcallHandle(
                address,
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, arguments),
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(1));
    }

    static MemorySegment scratch() {
        return Objects.requireNonNull(SCRATCH.get());
    }

    static int errno(MemorySegment scratch) {
        return scratch.get(ValueLayout.JAVA_INT, 0);
    }

    /** Room in this thread's scratch that calls do not write to: up to 48 bytes. */
    static MemorySegment structure(MemorySegment scratch) {
        return scratch.asSlice(ERRNO_BYTES);
    }

    /** What a handle throws that is no result of the call itself. */
    static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(thrown);
    }
}
