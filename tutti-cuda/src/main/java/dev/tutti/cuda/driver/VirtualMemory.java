package dev.tutti.cuda.driver;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Physical memory and address ranges apart, and memory of other processes. */
public final class VirtualMemory {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle cuMemGetAllocationGranularity =
            Driver.LIBRARY.function("cuMemGetAllocationGranularity", LONG, LONG, INT);

    private static final MethodHandle cuMemCreate = Driver.LIBRARY.function("cuMemCreate", LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemRelease = Driver.LIBRARY.function("cuMemRelease", LONG);

    private static final MethodHandle cuMemAddressReserve =
            Driver.LIBRARY.function("cuMemAddressReserve", LONG, LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemAddressFree = Driver.LIBRARY.function("cuMemAddressFree", LONG, LONG);

    private static final MethodHandle cuMemMap = Driver.LIBRARY.function("cuMemMap", LONG, LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemUnmap = Driver.LIBRARY.function("cuMemUnmap", LONG, LONG);

    private static final MethodHandle cuMemSetAccess =
            Driver.LIBRARY.function("cuMemSetAccess", LONG, LONG, LONG, LONG);

    private static final MethodHandle cuMemExportToShareableHandle =
            Driver.LIBRARY.function("cuMemExportToShareableHandle", LONG, LONG, INT, LONG);

    private static final MethodHandle cuMemImportFromShareableHandle =
            Driver.LIBRARY.function("cuMemImportFromShareableHandle", LONG, LONG, INT);

    private static final MethodHandle cuIpcGetMemHandle = Driver.LIBRARY.function("cuIpcGetMemHandle", LONG, LONG);

    private static final MethodHandle cuIpcCloseMemHandle = Driver.LIBRARY.function("cuIpcCloseMemHandle", LONG);

    /** Sizes must be multiples of this. */
    public static long granularity(long properties, int option) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemGetAllocationGranularity.invokeExact(out.address(), properties, option);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuMemGetAllocationGranularity", "properties " + properties + ", option " + option);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Physical memory. */
    public static long create(long bytes, long properties, long flags) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemCreate.invokeExact(out.address(), bytes, properties, flags);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuMemCreate", "bytes " + bytes + ", properties " + properties + ", flags " + flags);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Gives physical memory back, once nothing maps it. */
    public static void release(long handle) {
        try {
            int code = (int) cuMemRelease.invokeExact(handle);
            if (code != 0) {
                throw Driver.failure(code, "cuMemRelease", "handle " + handle);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** A range of addresses. */
    public static long reserve(long bytes, long alignment, long wish, long flags) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemAddressReserve.invokeExact(out.address(), bytes, alignment, wish, flags);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemAddressReserve",
                        "bytes " + bytes + ", alignment " + alignment + ", wish " + wish + ", flags " + flags);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Gives a range of addresses back. */
    public static void freeAddresses(long pointer, long bytes) {
        try {
            int code = (int) cuMemAddressFree.invokeExact(pointer, bytes);
            if (code != 0) {
                throw Driver.failure(code, "cuMemAddressFree", "pointer " + pointer + ", bytes " + bytes);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Puts physical memory at addresses. */
    public static void map(long pointer, long bytes, long offset, long handle, long flags) {
        try {
            int code = (int) cuMemMap.invokeExact(pointer, bytes, offset, handle, flags);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemMap",
                        "pointer " + pointer + ", bytes " + bytes + ", offset " + offset + ", handle " + handle
                                + ", flags " + flags);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Takes physical memory from addresses. */
    public static void unmap(long pointer, long bytes) {
        try {
            int code = (int) cuMemUnmap.invokeExact(pointer, bytes);
            if (code != 0) {
                throw Driver.failure(code, "cuMemUnmap", "pointer " + pointer + ", bytes " + bytes);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Says who may touch a range. */
    public static void setAccess(long pointer, long bytes, long descriptors, long count) {
        try {
            int code = (int) cuMemSetAccess.invokeExact(pointer, bytes, descriptors, count);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemSetAccess",
                        "pointer " + pointer + ", bytes " + bytes + ", descriptors " + descriptors + ", count "
                                + count);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** A file descriptor for physical memory. */
    public static int export(long handle, int type, long flags) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemExportToShareableHandle.invokeExact(out.address(), handle, type, flags);
            if (code != 0) {
                throw Driver.failure(
                        code,
                        "cuMemExportToShareableHandle",
                        "handle " + handle + ", type " + type + ", flags " + flags);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Physical memory behind a file descriptor. */
    public static long importHandle(long descriptor, int type) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuMemImportFromShareableHandle.invokeExact(out.address(), descriptor, type);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuMemImportFromShareableHandle", "descriptor " + descriptor + ", type " + type);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes 64 bytes that let another process open an allocation. */
    public static void ipcGet(long handle, long pointer) {
        try {
            int code = (int) cuIpcGetMemHandle.invokeExact(handle, pointer);
            if (code != 0) {
                throw Driver.failure(code, "cuIpcGetMemHandle", "handle " + handle + ", pointer " + pointer);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Closes what another process's handle opened. */
    public static void ipcClose(long pointer) {
        try {
            int code = (int) cuIpcCloseMemHandle.invokeExact(pointer);
            if (code != 0) {
                throw Driver.failure(code, "cuIpcCloseMemHandle", "pointer " + pointer);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private VirtualMemory() {}
}
