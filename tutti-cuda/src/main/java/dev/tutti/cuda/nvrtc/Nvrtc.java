package dev.tutti.cuda.nvrtc;

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
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Compiles CUDA C++ to machine code. */
public final class Nvrtc {
    static final NativeLibrary LIBRARY = NativeLibrary.open(
            "NVRTC",
            List.of("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"),
            "install the CUDA toolkit, or 'pip install nvidia-cuda-nvrtc'");

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final int TEXT_LIMIT = 256;

    private static final MethodHandle nvrtcGetErrorString =
            LIBRARY.of("nvrtcGetErrorString", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));

    private Nvrtc() {}

    /** Why nothing can be compiled here, or null. */
    public static @Nullable String unavailabilityCause() {
        return LIBRARY.unavailabilityCause();
    }

    /** The name or file of the library. */
    public static String place() {
        return LIBRARY.place();
    }

    /** Major and minor version, for example {@code 13.0}. */
    public static String version() {
        MemorySegment out = Scratch.zeroed();
        NvrtcCalls.getVersion(out.address(), out.address() + 4);
        return out.get(ValueLayout.JAVA_INT, 0) + "." + out.get(ValueLayout.JAVA_INT, 4);
    }

    /**
     * Compiles a source.
     *
     * @param name what the log calls it
     * @param source CUDA C++
     * @param headers contents by the name in the include line
     * @param options as for nvcc
     * @return a cubin
     */
    public static byte[] compile(String name, String source, Map<String, String> headers, List<String> options) {
        try (Arena arena = Arena.ofConfined()) {
            List<String> names = List.copyOf(headers.keySet());
            long program = NvrtcCalls.create(
                    text(arena, source),
                    text(arena, name),
                    names.size(),
                    texts(arena, List.copyOf(headers.values())),
                    texts(arena, names));
            try {
                int code = NvrtcCalls.compile(program, options.size(), texts(arena, options));
                if (code != 0) {
                    throw failure(code, "nvrtcCompileProgram", name + ", " + options + "\n" + log(arena, program));
                }
                long bytes = NvrtcCalls.cubinBytes(program);
                MemorySegment cubin = arena.allocate(bytes);
                NvrtcCalls.getCubin(program, cubin.address());
                return cubin.toArray(ValueLayout.JAVA_BYTE);
            } finally {
                MemorySegment holder = arena.allocate(LONG);
                holder.set(LONG, 0, program);
                NvrtcCalls.destroy(holder.address());
            }
        }
    }

    private static String log(Arena arena, long program) {
        long bytes = NvrtcCalls.logBytes(program);
        MemorySegment text = arena.allocate(Math.max(1, bytes));
        NvrtcCalls.getLog(program, text.address());
        return Scratch.string(text.address(), (int) bytes);
    }

    private static long text(Arena arena, String text) {
        return arena.allocateFrom(text, StandardCharsets.UTF_8).address();
    }

    private static long texts(Arena arena, List<String> texts) {
        MemorySegment pointers = arena.allocate(LONG, Math.max(1, texts.size()));
        for (int i = 0; i < texts.size(); i++) {
            pointers.setAtIndex(LONG, i, text(arena, texts.get(i)));
        }
        return pointers.address();
    }

    static CudaException failure(int code, String call, String arguments) {
        String text;
        try {
            text = Scratch.string((long) nvrtcGetErrorString.invokeExact(code), TEXT_LIMIT);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
        return new CudaException(call, code, text, call + "(" + arguments + ") failed: " + text + " (" + code + ")");
    }
}
