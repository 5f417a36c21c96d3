package dev.tutti.cuda.driver;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Opens memory of another process: the one function that takes its handle by value. */
public final class Ipc {
    /** Size of a handle. */
    public static final int HANDLE_BYTES = 64;

    private static final MemoryLayout HANDLE = MemoryLayout.structLayout(
            MemoryLayout.sequenceLayout(HANDLE_BYTES, ValueLayout.JAVA_BYTE).withName("reserved"));

    private static final MethodHandle cuIpcOpenMemHandle = Driver.LIBRARY.of(
            "cuIpcOpenMemHandle_v2",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, HANDLE, ValueLayout.JAVA_INT));

    private static final int LAZY_PEER_ACCESS = 1;

    private Ipc() {}

    /** Where this process sees the allocation behind another one's handle. */
    public static long open(MemorySegment handle) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuIpcOpenMemHandle.invokeExact(out.address(), handle, LAZY_PEER_ACCESS);
            if (code != 0) {
                throw Driver.failure(code, "cuIpcOpenMemHandle", "a handle of another process");
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }
}
