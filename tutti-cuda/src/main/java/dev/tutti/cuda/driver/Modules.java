package dev.tutti.cuda.driver;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Compiled code, and how it is launched. */
public final class Modules {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle cuModuleLoadData = Driver.LIBRARY.function("cuModuleLoadData", LONG, LONG);

    private static final MethodHandle cuModuleUnload = Driver.LIBRARY.function("cuModuleUnload", LONG);

    private static final MethodHandle cuModuleGetFunction =
            Driver.LIBRARY.function("cuModuleGetFunction", LONG, LONG, LONG);

    private static final MethodHandle cuOccupancyMaxActiveBlocksPerMultiprocessor =
            Driver.LIBRARY.function("cuOccupancyMaxActiveBlocksPerMultiprocessor", LONG, LONG, INT, LONG);

    private static final MethodHandle cuLaunchKernel =
            Driver.LIBRARY.function("cuLaunchKernel", LONG, INT, INT, INT, INT, INT, INT, INT, LONG, LONG, LONG);

    private static final MethodHandle cuLaunchCooperativeKernel =
            Driver.LIBRARY.function("cuLaunchCooperativeKernel", LONG, INT, INT, INT, INT, INT, INT, INT, LONG, LONG);

    /** Loads a cubin. */
    public static long load(long image) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuModuleLoadData.invokeExact(out.address(), image);
            if (code != 0) {
                throw Driver.failure(code, "cuModuleLoadData", "image " + image);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Unloads a module. */
    public static void unload(long module) {
        try {
            int code = (int) cuModuleUnload.invokeExact(module);
            if (code != 0) {
                throw Driver.failure(code, "cuModuleUnload", "module " + module);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** A kernel of a module. */
    public static long function(long module, long name) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuModuleGetFunction.invokeExact(out.address(), module, name);
            if (code != 0) {
                throw Driver.failure(code, "cuModuleGetFunction", "module " + module + ", name " + name);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** How many blocks of a kernel a multiprocessor holds at once. */
    public static int blocksPerProcessor(long function, int threads, long sharedBytes) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuOccupancyMaxActiveBlocksPerMultiprocessor.invokeExact(
                    out.address(), function, threads, sharedBytes);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                        "function " + function + ", threads " + threads + ", sharedBytes " + sharedBytes);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Launches a kernel. */
    public static void launch(
            long function,
            int gridX,
            int gridY,
            int gridZ,
            int blockX,
            int blockY,
            int blockZ,
            int sharedBytes,
            long stream,
            long parameters,
            long extra) {
        try {
            int code = (int) cuLaunchKernel.invokeExact(
                    function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, parameters, extra);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuLaunchKernel",
                        "function " + function + ", gridX " + gridX + ", gridY " + gridY + ", gridZ " + gridZ
                                + ", blockX " + blockX + ", blockY " + blockY + ", blockZ " + blockZ + ", sharedBytes "
                                + sharedBytes + ", stream " + stream + ", parameters " + parameters + ", extra "
                                + extra);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Launches a kernel whose blocks all run at once, or not at all. */
    public static void launchCooperative(
            long function,
            int gridX,
            int gridY,
            int gridZ,
            int blockX,
            int blockY,
            int blockZ,
            int sharedBytes,
            long stream,
            long parameters) {
        try {
            int code = (int) cuLaunchCooperativeKernel.invokeExact(
                    function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, parameters);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuLaunchCooperativeKernel",
                        "function " + function + ", gridX " + gridX + ", gridY " + gridY + ", gridZ " + gridZ
                                + ", blockX " + blockX + ", blockY " + blockY + ", blockZ " + blockZ + ", sharedBytes "
                                + sharedBytes + ", stream " + stream + ", parameters " + parameters);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private Modules() {}
}
