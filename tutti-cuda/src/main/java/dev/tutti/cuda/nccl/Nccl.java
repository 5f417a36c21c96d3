package dev.tutti.cuda.nccl;

import dev.tutti.cuda.CudaException;
import dev.tutti.cuda.library.NativeLibrary;
import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The library itself: whether it is there, what it can do, and what its errors mean. */
public final class Nccl {
    static final NativeLibrary LIBRARY = NativeLibrary.open(
            "NCCL", List.of("libnccl.so.2", "libnccl.so"), "install libnccl2, or 'pip install nvidia-nccl-cu13'");

    /** Size of the id by which ranks find each other. */
    public static final int ID_BYTES = 128;

    /** Not an error: a communicator that does not block is still at it. */
    public static final int IN_PROGRESS = 7;

    /** The oldest version whose structures are known here. */
    public static final int OLDEST = 21800;

    private static final MemoryLayout ID =
            MemoryLayout.structLayout(MemoryLayout.sequenceLayout(ID_BYTES, ValueLayout.JAVA_BYTE));
    private static final int TEXT_LIMIT = 1024;

    private static final MethodHandle ncclGetErrorString =
            LIBRARY.of("ncclGetErrorString", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    private static final MethodHandle ncclGetLastError =
            LIBRARY.of("ncclGetLastError", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle ncclCommInitRankConfig = LIBRARY.of(
            "ncclCommInitRankConfig",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ID,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_LONG));

    private Nccl() {}

    /** Why NCCL cannot be used here, or null. */
    public static @Nullable String unavailabilityCause() {
        if (!LIBRARY.isAvailable()) {
            return LIBRARY.unavailabilityCause();
        }
        int version = NcclCalls.getVersion();
        return version >= OLDEST
                ? null
                : "NCCL " + text(version) + " (" + LIBRARY.place() + ") is too old: 2.18 or later is needed";
    }

    /** Whether the library has a function. */
    public static boolean has(String function) {
        return LIBRARY.has(function);
    }

    /** The name or file of the library. */
    public static String place() {
        return LIBRARY.place();
    }

    /** The version, for example {@code 2.28.3}. */
    public static String version() {
        return text(NcclCalls.getVersion());
    }

    private static String text(int version) {
        return version / 10000 + "." + version / 100 % 100 + "." + version % 100;
    }

    /** Begins to make a communicator; returns the code and writes the handle. */
    public static int initRank(long made, int ranks, MemorySegment id, int rank, long config) {
        try {
            return (int) ncclCommInitRankConfig.invokeExact(made, ranks, id, rank, config);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** What a call returned, as an exception, with what NCCL itself says about it. */
    public static CudaException failure(int code, String call, String arguments) {
        String name = string(ncclGetErrorString, code);
        String last;
        try {
            last = Scratch.string((long) ncclGetLastError.invokeExact(0L), TEXT_LIMIT)
                    .strip();
        } catch (Throwable tooOld) {
            last = "";
        }
        return new CudaException(
                call,
                code,
                name,
                call + "(" + arguments + ") failed: " + name + " (" + code + ")" + (last.isEmpty() ? "" : ": " + last));
    }

    private static String string(MethodHandle how, int code) {
        try {
            return Scratch.string((long) how.invokeExact(code), TEXT_LIMIT);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }
}
