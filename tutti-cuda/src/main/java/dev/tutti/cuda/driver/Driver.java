package dev.tutti.cuda.driver;

import dev.tutti.cuda.CudaException;
import dev.tutti.cuda.library.NativeLibrary;
import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The library itself: whether it is there, its version, and what its errors mean. */
public final class Driver {
    static final NativeLibrary LIBRARY = NativeLibrary.open(
            "CUDA driver", List.of("libcuda.so.1", "libcuda.so"), "install NVIDIA's driver, or run where a GPU is");

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle cuInit = LIBRARY.function("cuInit", INT);
    private static final MethodHandle cuDriverGetVersion = LIBRARY.function("cuDriverGetVersion", LONG);
    private static final MethodHandle cuGetErrorName = LIBRARY.function("cuGetErrorName", INT, LONG);
    private static final MethodHandle cuGetErrorString = LIBRARY.function("cuGetErrorString", INT, LONG);
    private static final MethodHandle cuCtxGetDevice = LIBRARY.function("cuCtxGetDevice", LONG);

    /** Not an error: something is still going on. */
    public static final int NOT_READY = 600;

    /** Errors after which nothing in the context works any more. */
    private static final Set<Integer> FATAL =
            Set.of(4, 214, 700, 702, 709, 710, 713, 714, 715, 716, 717, 718, 719, 721, 722);

    private static final int NAME_LIMIT = 256;
    private static final int NO_DEVICE = -1;

    private Driver() {}

    /** Loads and initialises once; the cause is kept. */
    private static final class Start {
        static final @Nullable String CAUSE = start();

        private static @Nullable String start() {
            if (!LIBRARY.isAvailable()) {
                return LIBRARY.unavailabilityCause();
            }
            try {
                int code = (int) cuInit.invokeExact(0);
                if (code != 0) {
                    return "the CUDA driver (" + LIBRARY.place() + ") does not start: cuInit returned " + name(code)
                            + " (" + code + "): " + text(code) + "; see nvidia-smi";
                }
            } catch (Throwable thrown) {
                return "the CUDA driver does not start: " + thrown;
            }
            return null;
        }
    }

    /** Why there is no CUDA here, or null if there is. */
    public static @Nullable String unavailabilityCause() {
        return Start.CAUSE;
    }

    /** Whether the library is there and has started. */
    public static boolean isAvailable() {
        return Start.CAUSE == null;
    }

    /** The name or file of the library. */
    public static String place() {
        return LIBRARY.place();
    }

    /** Whether the library has a function. */
    public static boolean has(String function) {
        return LIBRARY.has(function);
    }

    /** The CUDA version that the driver supports: 1000 times major plus 10 times minor. */
    public static int version() {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuDriverGetVersion.invokeExact(out.address());
            if (code != 0) {
                throw failure(code, "cuDriverGetVersion", "");
            }
            return out.get(INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Whether nothing in the context works after this error. */
    public static boolean isFatal(int code) {
        return FATAL.contains(code);
    }

    /** What a call returned, as an exception. An error that ends its context is noted for the device. */
    public static CudaException failure(int code, String call, String arguments) {
        int device = device();
        if (isFatal(code)) {
            Generations.lose(device, call + " returned " + name(code));
        }
        String where = device == NO_DEVICE ? "" : " on device " + device;
        return new CudaException(
                call,
                code,
                name(code),
                call + "(" + arguments + ")" + where + " failed: " + name(code) + " (" + code + "): " + text(code));
    }

    /** Name of an error. */
    public static String name(int code) {
        return explain(cuGetErrorName, code, "CUDA_ERROR_" + code);
    }

    private static String text(int code) {
        return explain(cuGetErrorString, code, "unknown to this driver");
    }

    private static String explain(MethodHandle how, int code, String otherwise) {
        try {
            MemorySegment out = Scratch.zeroed();
            return (int) how.invokeExact(code, out.address()) == 0
                    ? Scratch.string(out.get(LONG, 0), NAME_LIMIT)
                    : otherwise;
        } catch (Throwable thrown) {
            return otherwise;
        }
    }

    private static int device() {
        try {
            MemorySegment out = Scratch.zeroed();
            return (int) cuCtxGetDevice.invokeExact(out.address()) == 0 ? out.get(INT, 0) : NO_DEVICE;
        } catch (Throwable thrown) {
            return NO_DEVICE;
        }
    }
}
