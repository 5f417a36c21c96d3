package dev.tutti.cuda.driver;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Device memory, pinned host memory, and copies. */
public final class Memories {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle cuMemAlloc = Driver.LIBRARY.function("cuMemAlloc_v2", LONG, LONG);

    private static final MethodHandle cuMemFree = Driver.LIBRARY.function("cuMemFree_v2", LONG);

    private static final MethodHandle cuMemAllocAsync = Driver.LIBRARY.function("cuMemAllocAsync", LONG, LONG, LONG);

    private static final MethodHandle cuMemFreeAsync = Driver.LIBRARY.function("cuMemFreeAsync", LONG, LONG);

    private static final MethodHandle cuMemHostAlloc = Driver.LIBRARY.function("cuMemHostAlloc", LONG, LONG, INT);

    private static final MethodHandle cuMemFreeHost = Driver.LIBRARY.function("cuMemFreeHost", LONG);

    private static final MethodHandle cuMemHostRegister =
            Driver.LIBRARY.function("cuMemHostRegister_v2", LONG, LONG, INT);

    private static final MethodHandle cuMemHostUnregister = Driver.LIBRARY.function("cuMemHostUnregister", LONG);

    private static final MethodHandle cuMemHostGetDevicePointer =
            Driver.LIBRARY.function("cuMemHostGetDevicePointer_v2", LONG, LONG, INT);

    private static final MethodHandle cuMemcpyAsync = Driver.LIBRARY.function("cuMemcpyAsync", LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemcpyDtoDAsync =
            Driver.LIBRARY.function("cuMemcpyDtoDAsync_v2", LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemcpyHtoDAsync =
            Driver.LIBRARY.function("cuMemcpyHtoDAsync_v2", LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemcpyDtoHAsync =
            Driver.LIBRARY.function("cuMemcpyDtoHAsync_v2", LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemsetD8Async =
            Driver.LIBRARY.function("cuMemsetD8Async", LONG, INT, LONG, LONG);

    private static final MethodHandle cuMemGetInfo = Driver.LIBRARY.function("cuMemGetInfo_v2", LONG, LONG);

    private static final MethodHandle cuMemGetAddressRange =
            Driver.LIBRARY.function("cuMemGetAddressRange_v2", LONG, LONG, LONG);

    private static final MethodHandle cuPointerGetAttribute =
            Driver.LIBRARY.function("cuPointerGetAttribute", LONG, INT, LONG);

    /** Device memory. */
    public static long alloc(long bytes) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemAlloc.invokeExact(out.address(), bytes);
            if (code != 0) {
                throw Driver.failure(code, "cuMemAlloc", "bytes " + bytes);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees what {@link #alloc} gave. */
    public static void free(long pointer) {
        try {
            int code = (int) cuMemFree.invokeExact(pointer);
            if (code != 0) {
                throw Driver.failure(code, "cuMemFree", "pointer " + pointer);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Device memory of the device's pool, in stream order. */
    public static long allocAsync(long bytes, long stream) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemAllocAsync.invokeExact(out.address(), bytes, stream);
            if (code != 0) {
                throw Driver.failure(code, "cuMemAllocAsync", "bytes " + bytes + ", stream " + stream);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Gives memory back to its pool, in stream order. */
    public static void freeAsync(long pointer, long stream) {
        try {
            int code = (int) cuMemFreeAsync.invokeExact(pointer, stream);
            if (code != 0) {
                throw Driver.failure(code, "cuMemFreeAsync", "pointer " + pointer + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Pinned host memory. */
    public static long hostAlloc(long bytes, int flags) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemHostAlloc.invokeExact(out.address(), bytes, flags);
            if (code != 0) {
                throw Driver.failure(code, "cuMemHostAlloc", "bytes " + bytes + ", flags " + flags);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees pinned host memory. */
    public static void hostFree(long pointer) {
        try {
            int code = (int) cuMemFreeHost.invokeExact(pointer);
            if (code != 0) {
                throw Driver.failure(code, "cuMemFreeHost", "pointer " + pointer);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Pins host memory that is there already. */
    public static void hostRegister(long pointer, long bytes, int flags) {
        try {
            int code = (int) cuMemHostRegister.invokeExact(pointer, bytes, flags);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuMemHostRegister", "pointer " + pointer + ", bytes " + bytes + ", flags " + flags);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Undoes {@link #hostRegister}. */
    public static void hostUnregister(long pointer) {
        try {
            int code = (int) cuMemHostUnregister.invokeExact(pointer);
            if (code != 0) {
                throw Driver.failure(code, "cuMemHostUnregister", "pointer " + pointer);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Where the device sees pinned host memory. */
    public static long hostDevicePointer(long host, int flags) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemHostGetDevicePointer.invokeExact(out.address(), host, flags);
            if (code != 0) {
                throw Driver.failure(code, "cuMemHostGetDevicePointer", "host " + host + ", flags " + flags);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Copies between any two memories. */
    public static void copyAsync(long to, long from, long bytes, long stream) {
        try {
            int code = (int) cuMemcpyAsync.invokeExact(to, from, bytes, stream);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemcpyAsync",
                        "to " + to + ", from " + from + ", bytes " + bytes + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Copies within a device. */
    public static void deviceToDeviceAsync(long to, long from, long bytes, long stream) {
        try {
            int code = (int) cuMemcpyDtoDAsync.invokeExact(to, from, bytes, stream);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemcpyDtoDAsync",
                        "to " + to + ", from " + from + ", bytes " + bytes + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Copies to a device. */
    public static void hostToDeviceAsync(long to, long from, long bytes, long stream) {
        try {
            int code = (int) cuMemcpyHtoDAsync.invokeExact(to, from, bytes, stream);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemcpyHtoDAsync",
                        "to " + to + ", from " + from + ", bytes " + bytes + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Copies from a device. */
    public static void deviceToHostAsync(long to, long from, long bytes, long stream) {
        try {
            int code = (int) cuMemcpyDtoHAsync.invokeExact(to, from, bytes, stream);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemcpyDtoHAsync",
                        "to " + to + ", from " + from + ", bytes " + bytes + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Sets every byte. */
    public static void fillAsync(long pointer, int value, long bytes, long stream) {
        try {
            int code = (int) cuMemsetD8Async.invokeExact(pointer, value, bytes, stream);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemsetD8Async",
                        "pointer " + pointer + ", value " + value + ", bytes " + bytes + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes free and total bytes. */
    public static void getInfo(long free, long total) {
        try {
            int code = (int) cuMemGetInfo.invokeExact(free, total);
            if (code != 0) {
                throw Driver.failure(code, "cuMemGetInfo", "free " + free + ", total " + total);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes base and size of the allocation that a pointer lies in. */
    public static void getAddressRange(long base, long bytes, long pointer) {
        try {
            int code = (int) cuMemGetAddressRange.invokeExact(base, bytes, pointer);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuMemGetAddressRange", "base " + base + ", bytes " + bytes + ", pointer " + pointer);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes something about a pointer; returns the code. */
    public static int getPointerAttribute(long value, int attribute, long pointer) {
        try {
            return (int) cuPointerGetAttribute.invokeExact(value, attribute, pointer);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private Memories() {}
}
