package dev.tutti.cuda.nvml;

import dev.tutti.cuda.CudaException;
import dev.tutti.cuda.library.NativeLibrary;
import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The management library: whether it is there, and its devices. */
public final class Nvml {
    static final NativeLibrary LIBRARY = NativeLibrary.open(
            "NVML", List.of("libnvidia-ml.so.1", "libnvidia-ml.so"), "it comes with NVIDIA's driver");

    private static final MethodHandle nvmlInit = LIBRARY.function("nvmlInit_v2");
    private static final MethodHandle nvmlErrorString =
            LIBRARY.of("nvmlErrorString", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    private static final int TEXT_LIMIT = 256;
    private static final int VERSION_BYTES = 80;

    private Nvml() {}

    /** Loads and initialises once; the cause is kept. It is never shut down, as others in the process may use it. */
    private static final class Start {
        static final @Nullable String CAUSE = start();

        private static @Nullable String start() {
            if (!LIBRARY.isAvailable()) {
                return LIBRARY.unavailabilityCause();
            }
            try {
                int code = (int) nvmlInit.invokeExact();
                return code == 0 ? null : "NVML does not start: " + text(code) + " (" + code + ")";
            } catch (Throwable thrown) {
                return "NVML does not start: " + thrown;
            }
        }
    }

    /** Why nothing can be read here, or null. */
    public static @Nullable String unavailabilityCause() {
        return Start.CAUSE;
    }

    /** The driver's version, for example {@code 580.95.05}. */
    public static String driverVersion() {
        MemorySegment out = Scratch.get();
        NvmlCalls.getDriverVersion(out.address(), VERSION_BYTES);
        return Scratch.string(out.address(), VERSION_BYTES);
    }

    /** The device at a place on the bus, as the CUDA driver names it. */
    public static long device(String pciBusId) {
        try (Arena arena = Arena.ofConfined()) {
            return NvmlCalls.byPciBusId(
                    arena.allocateFrom(pciBusId, StandardCharsets.US_ASCII).address());
        }
    }

    /** What a call returned, as an exception. */
    public static CudaException failure(int code, String call, String arguments) {
        return new CudaException(
                call, code, text(code), call + "(" + arguments + ") failed: " + text(code) + " (" + code + ")");
    }

    private static String text(int code) {
        try {
            return Scratch.string((long) nvmlErrorString.invokeExact(code), TEXT_LIMIT);
        } catch (Throwable thrown) {
            return "error " + code;
        }
    }
}
