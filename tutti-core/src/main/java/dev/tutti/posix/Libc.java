package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Finds functions of the C library. Only Linux with 64 bits is known; elsewhere nothing is found, and the cause says so. */
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

    private Libc() {}

    private static String machine() {
        return System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    }

    /** The number of a system call that has different ones on the two machines. */
    static long systemCall(int onAmd64, int onAarch64) {
        return machine().equals("amd64") ? onAmd64 : onAarch64;
    }

    /** A function that leaves its error in errno; the first argument of the handle is {@link #scratch}. */
    static MethodHandle function(String symbol, FunctionDescriptor type) {
        return link(symbol, type, Linker.Option.captureCallState("errno"));
    }

    /** Like {@link #function}, for one whose arguments are variable from a place on. */
    static MethodHandle variadic(String symbol, int firstVariable, FunctionDescriptor type) {
        return link(
                symbol, type, Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(firstVariable));
    }

    /** The function {@code syscall} with a number and that many more arguments, all of them {@code long}. */
    static MethodHandle syscall(int arguments) {
        List<MemoryLayout> layouts = new ArrayList<>();
        for (int i = 0; i <= arguments; i++) {
            layouts.add(ValueLayout.JAVA_LONG);
        }
        return link(
                "syscall",
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts.toArray(new MemoryLayout[0])),
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(1));
    }

    /** Instructions of our own at an address. The call takes no more than that: it must be short, and never wait. */
    static MethodHandle code(MemorySegment address, FunctionDescriptor type) {
        return LINKER.downcallHandle(address, type, Linker.Option.critical(false));
    }

    private static MethodHandle link(String symbol, FunctionDescriptor type, Linker.Option... options) {
        if (UNAVAILABILITY_CAUSE != null) {
            throw new UnsupportedOperationException(
                    symbol + ": " + UNAVAILABILITY_CAUSE.getMessage(), UNAVAILABILITY_CAUSE);
        }
        MemorySegment address = LINKER.defaultLookup()
                .find(symbol)
                .orElseThrow(() -> new UnsupportedOperationException("the C library has no " + symbol));
        return LINKER.downcallHandle(address, type, options);
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
