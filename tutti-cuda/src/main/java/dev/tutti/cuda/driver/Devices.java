package dev.tutti.cuda.driver;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Devices and their primary contexts. */
public final class Devices {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle cuDeviceGetCount = Driver.LIBRARY.function("cuDeviceGetCount", LONG);

    private static final MethodHandle cuDeviceGet = Driver.LIBRARY.function("cuDeviceGet", LONG, INT);

    private static final MethodHandle cuDeviceGetAttribute =
            Driver.LIBRARY.function("cuDeviceGetAttribute", LONG, INT, INT);

    private static final MethodHandle cuDeviceTotalMem = Driver.LIBRARY.function("cuDeviceTotalMem_v2", LONG, INT);

    private static final MethodHandle cuDeviceCanAccessPeer =
            Driver.LIBRARY.function("cuDeviceCanAccessPeer", LONG, INT, INT);

    private static final MethodHandle cuDevicePrimaryCtxRetain =
            Driver.LIBRARY.function("cuDevicePrimaryCtxRetain", LONG, INT);

    private static final MethodHandle cuDevicePrimaryCtxReset =
            Driver.LIBRARY.function("cuDevicePrimaryCtxReset_v2", INT);

    private static final MethodHandle cuCtxSetCurrent = Driver.LIBRARY.function("cuCtxSetCurrent", LONG);

    private static final MethodHandle cuCtxSynchronize = Driver.LIBRARY.function("cuCtxSynchronize");

    private static final MethodHandle cuCtxEnablePeerAccess =
            Driver.LIBRARY.function("cuCtxEnablePeerAccess", LONG, INT);

    private static final MethodHandle cuDeviceGetName = Driver.LIBRARY.function("cuDeviceGetName", LONG, INT, INT);

    private static final MethodHandle cuDeviceGetUuid = Driver.LIBRARY.function("cuDeviceGetUuid_v2", LONG, INT);

    private static final MethodHandle cuDeviceGetPCIBusId =
            Driver.LIBRARY.function("cuDeviceGetPCIBusId", LONG, INT, INT);

    /** How many devices there are. */
    public static int count() {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuDeviceGetCount.invokeExact(out.address());
            if (code != 0) {
                throw Driver.failure(code, "cuDeviceGetCount", "");
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** The handle of a device. */
    public static int get(int ordinal) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuDeviceGet.invokeExact(out.address(), ordinal);
            if (code != 0) {
                throw Driver.failure(code, "cuDeviceGet", "ordinal " + ordinal);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** An attribute by its number, see {@link Attribute}. */
    public static int attribute(int attribute, int device) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuDeviceGetAttribute.invokeExact(out.address(), attribute, device);
            if (code != 0) {
                throw Driver.failure(code, "cuDeviceGetAttribute", "attribute " + attribute + ", device " + device);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** All of its memory. */
    public static long totalBytes(int device) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuDeviceTotalMem.invokeExact(out.address(), device);
            if (code != 0) {
                throw Driver.failure(code, "cuDeviceTotalMem", "device " + device);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Whether a device can read the memory of another, 0 or 1. */
    public static int canAccessPeer(int device, int peer) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuDeviceCanAccessPeer.invokeExact(out.address(), device, peer);
            if (code != 0) {
                throw Driver.failure(code, "cuDeviceCanAccessPeer", "device " + device + ", peer " + peer);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** The context that everybody in the process shares. */
    public static long retainPrimary(int device) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuDevicePrimaryCtxRetain.invokeExact(out.address(), device);
            if (code != 0) {
                throw Driver.failure(code, "cuDevicePrimaryCtxRetain", "device " + device);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Destroys everything in the shared context. */
    public static void resetPrimary(int device) {
        try {
            int code = (int) cuDevicePrimaryCtxReset.invokeExact(device);
            if (code != 0) {
                throw Driver.failure(code, "cuDevicePrimaryCtxReset", "device " + device);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Makes a context the thread's. */
    public static void setCurrent(long context) {
        try {
            int code = (int) cuCtxSetCurrent.invokeExact(context);
            if (code != 0) {
                throw Driver.failure(code, "cuCtxSetCurrent", "context " + context);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Waits for everything in the thread's context. */
    public static void synchronise() {
        try {
            int code = (int) cuCtxSynchronize.invokeExact();
            if (code != 0) {
                throw Driver.failure(code, "cuCtxSynchronize", "");
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Lets the thread's context read a peer's memory; returns the code, as being enabled already is one. */
    public static int enablePeer(long peerContext, int flags) {
        try {
            return (int) cuCtxEnablePeerAccess.invokeExact(peerContext, flags);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the name of a device. */
    public static void getName(long text, int length, int device) {
        try {
            int code = (int) cuDeviceGetName.invokeExact(text, length, device);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuDeviceGetName", "text " + text + ", length " + length + ", device " + device);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the 16 bytes that identify a device. */
    public static void getUuid(long uuid, int device) {
        try {
            int code = (int) cuDeviceGetUuid.invokeExact(uuid, device);
            if (code != 0) {
                throw Driver.failure(code, "cuDeviceGetUuid", "uuid " + uuid + ", device " + device);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the place of a device on its bus. */
    public static void getPciBusId(long text, int length, int device) {
        try {
            int code = (int) cuDeviceGetPCIBusId.invokeExact(text, length, device);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuDeviceGetPCIBusId", "text " + text + ", length " + length + ", device " + device);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private Devices() {}
}
