package dev.tutti.cuda.nvrtc;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The functions of NVRTC. */
public final class NvrtcCalls {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle nvrtcVersion = Nvrtc.LIBRARY.function("nvrtcVersion", LONG, LONG);

    private static final MethodHandle nvrtcCreateProgram =
            Nvrtc.LIBRARY.function("nvrtcCreateProgram", LONG, LONG, LONG, INT, LONG, LONG);

    private static final MethodHandle nvrtcCompileProgram =
            Nvrtc.LIBRARY.function("nvrtcCompileProgram", LONG, INT, LONG);

    private static final MethodHandle nvrtcDestroyProgram = Nvrtc.LIBRARY.function("nvrtcDestroyProgram", LONG);

    private static final MethodHandle nvrtcGetCUBINSize = Nvrtc.LIBRARY.function("nvrtcGetCUBINSize", LONG, LONG);

    private static final MethodHandle nvrtcGetCUBIN = Nvrtc.LIBRARY.function("nvrtcGetCUBIN", LONG, LONG);

    private static final MethodHandle nvrtcGetProgramLogSize =
            Nvrtc.LIBRARY.function("nvrtcGetProgramLogSize", LONG, LONG);

    private static final MethodHandle nvrtcGetProgramLog = Nvrtc.LIBRARY.function("nvrtcGetProgramLog", LONG, LONG);

    /** Writes the version. */
    public static void getVersion(long major, long minor) {
        try {
            int code = (int) nvrtcVersion.invokeExact(major, minor);
            if (code != 0) {
                throw Nvrtc.failure(code, "nvrtcVersion", "major " + major + ", minor " + minor);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** A program to be compiled. */
    public static long create(long source, long name, int headers, long contents, long names) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) nvrtcCreateProgram.invokeExact(out.address(), source, name, headers, contents, names);
            if (code != 0) {
                throw Nvrtc.failure(
                        code,
                        "nvrtcCreateProgram",
                        "source " + source + ", name " + name + ", headers " + headers + ", contents " + contents
                                + ", names " + names);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Compiles; returns the code, as the log tells more. */
    public static int compile(long program, int options, long texts) {
        try {
            return (int) nvrtcCompileProgram.invokeExact(program, options, texts);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees a program. */
    public static void destroy(long programAddress) {
        try {
            int code = (int) nvrtcDestroyProgram.invokeExact(programAddress);
            if (code != 0) {
                throw Nvrtc.failure(code, "nvrtcDestroyProgram", "programAddress " + programAddress);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Size of the machine code. */
    public static long cubinBytes(long program) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) nvrtcGetCUBINSize.invokeExact(program, out.address());
            if (code != 0) {
                throw Nvrtc.failure(code, "nvrtcGetCUBINSize", "program " + program);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the machine code. */
    public static void getCubin(long program, long to) {
        try {
            int code = (int) nvrtcGetCUBIN.invokeExact(program, to);
            if (code != 0) {
                throw Nvrtc.failure(code, "nvrtcGetCUBIN", "program " + program + ", to " + to);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Size of the log. */
    public static long logBytes(long program) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) nvrtcGetProgramLogSize.invokeExact(program, out.address());
            if (code != 0) {
                throw Nvrtc.failure(code, "nvrtcGetProgramLogSize", "program " + program);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the log. */
    public static void getLog(long program, long to) {
        try {
            int code = (int) nvrtcGetProgramLog.invokeExact(program, to);
            if (code != 0) {
                throw Nvrtc.failure(code, "nvrtcGetProgramLog", "program " + program + ", to " + to);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private NvrtcCalls() {}
}
