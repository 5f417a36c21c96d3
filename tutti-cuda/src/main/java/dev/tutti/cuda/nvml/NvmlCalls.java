package dev.tutti.cuda.nvml;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The functions of NVML. */
public final class NvmlCalls {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle nvmlSystemGetDriverVersion =
            Nvml.LIBRARY.function("nvmlSystemGetDriverVersion", LONG, INT);

    private static final MethodHandle nvmlDeviceGetHandleByPciBusId =
            Nvml.LIBRARY.function("nvmlDeviceGetHandleByPciBusId_v2", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetUtilizationRates =
            Nvml.LIBRARY.function("nvmlDeviceGetUtilizationRates", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetTemperature =
            Nvml.LIBRARY.function("nvmlDeviceGetTemperature", LONG, INT, LONG);

    private static final MethodHandle nvmlDeviceGetPowerUsage =
            Nvml.LIBRARY.function("nvmlDeviceGetPowerUsage", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetMemoryInfo =
            Nvml.LIBRARY.function("nvmlDeviceGetMemoryInfo", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetClockInfo =
            Nvml.LIBRARY.function("nvmlDeviceGetClockInfo", LONG, INT, LONG);

    private static final MethodHandle nvmlDeviceGetTotalEccErrors =
            Nvml.LIBRARY.function("nvmlDeviceGetTotalEccErrors", LONG, INT, INT, LONG);

    private static final MethodHandle nvmlDeviceGetNvLinkState =
            Nvml.LIBRARY.function("nvmlDeviceGetNvLinkState", LONG, INT, LONG);

    private static final MethodHandle nvmlDeviceGetCurrPcieLinkGeneration =
            Nvml.LIBRARY.function("nvmlDeviceGetCurrPcieLinkGeneration", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetCurrPcieLinkWidth =
            Nvml.LIBRARY.function("nvmlDeviceGetCurrPcieLinkWidth", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetMaxPcieLinkGeneration =
            Nvml.LIBRARY.function("nvmlDeviceGetMaxPcieLinkGeneration", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetMaxPcieLinkWidth =
            Nvml.LIBRARY.function("nvmlDeviceGetMaxPcieLinkWidth", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetNvLinkVersion =
            Nvml.LIBRARY.function("nvmlDeviceGetNvLinkVersion", LONG, INT, LONG);

    private static final MethodHandle nvmlDeviceGetNvLinkRemotePciInfo =
            Nvml.LIBRARY.function("nvmlDeviceGetNvLinkRemotePciInfo_v2", LONG, INT, LONG);

    private static final MethodHandle nvmlDeviceGetSupportedEventTypes =
            Nvml.LIBRARY.function("nvmlDeviceGetSupportedEventTypes", LONG, LONG);

    private static final MethodHandle nvmlDeviceGetTopologyCommonAncestor =
            Nvml.LIBRARY.function("nvmlDeviceGetTopologyCommonAncestor", LONG, LONG, LONG);

    private static final MethodHandle nvmlEventSetCreate = Nvml.LIBRARY.function("nvmlEventSetCreate", LONG);

    private static final MethodHandle nvmlDeviceRegisterEvents =
            Nvml.LIBRARY.function("nvmlDeviceRegisterEvents", LONG, LONG, LONG);

    private static final MethodHandle nvmlEventSetWait = Nvml.LIBRARY.function("nvmlEventSetWait_v2", LONG, LONG, INT);

    private static final MethodHandle nvmlEventSetFree = Nvml.LIBRARY.function("nvmlEventSetFree", LONG);

    /** Writes the driver's version. */
    public static void getDriverVersion(long text, int length) {
        try {
            int code = (int) nvmlSystemGetDriverVersion.invokeExact(text, length);
            if (code != 0) {
                throw Nvml.failure(code, "nvmlSystemGetDriverVersion", "text " + text + ", length " + length);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** The device at a place on the bus. */
    public static long byPciBusId(long text) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) nvmlDeviceGetHandleByPciBusId.invokeExact(text, out.address());
            if (code != 0) {
                throw Nvml.failure(code, "nvmlDeviceGetHandleByPciBusId", "text " + text);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes percent of time busy: processors, memory. */
    public static int utilisation(long device, long rates) {
        try {
            return (int) nvmlDeviceGetUtilizationRates.invokeExact(device, rates);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes degrees. */
    public static int temperature(long device, int sensor, long celsius) {
        try {
            return (int) nvmlDeviceGetTemperature.invokeExact(device, sensor, celsius);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes milliwatts. */
    public static int power(long device, long milliwatts) {
        try {
            return (int) nvmlDeviceGetPowerUsage.invokeExact(device, milliwatts);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes three counts of bytes. */
    public static int memory(long device, long totalFreeUsed) {
        try {
            return (int) nvmlDeviceGetMemoryInfo.invokeExact(device, totalFreeUsed);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes a clock; 1: processors, 2: memory. */
    public static int clock(long device, int kind, long megahertz) {
        try {
            return (int) nvmlDeviceGetClockInfo.invokeExact(device, kind, megahertz);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes a count of memory errors. */
    public static int eccErrors(long device, int kind, int counter, long errors) {
        try {
            return (int) nvmlDeviceGetTotalEccErrors.invokeExact(device, kind, counter, errors);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes whether a link is up. */
    public static int nvLinkState(long device, int link, long active) {
        try {
            return (int) nvmlDeviceGetNvLinkState.invokeExact(device, link, active);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the generation in use. */
    public static int pcieGeneration(long device, long generation) {
        try {
            return (int) nvmlDeviceGetCurrPcieLinkGeneration.invokeExact(device, generation);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the lanes in use. */
    public static int pcieWidth(long device, long lanes) {
        try {
            return (int) nvmlDeviceGetCurrPcieLinkWidth.invokeExact(device, lanes);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the best generation that device and slot can do. */
    public static int mostPcieGeneration(long device, long generation) {
        try {
            return (int) nvmlDeviceGetMaxPcieLinkGeneration.invokeExact(device, generation);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the most lanes that device and slot can do. */
    public static int mostPcieWidth(long device, long lanes) {
        try {
            return (int) nvmlDeviceGetMaxPcieLinkWidth.invokeExact(device, lanes);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes a link's version. */
    public static int nvLinkVersion(long device, int link, long version) {
        try {
            return (int) nvmlDeviceGetNvLinkVersion.invokeExact(device, link, version);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the nvmlPciInfo_t of whatever is at the other end of a link. */
    public static int nvLinkRemote(long device, int link, long pciInfo) {
        try {
            return (int) nvmlDeviceGetNvLinkRemotePciInfo.invokeExact(device, link, pciInfo);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the kinds of events that a device can tell of. */
    public static int supportedEvents(long device, long kinds) {
        try {
            return (int) nvmlDeviceGetSupportedEventTypes.invokeExact(device, kinds);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes how far apart two devices are. */
    public static int commonAncestor(long device, long other, long level) {
        try {
            return (int) nvmlDeviceGetTopologyCommonAncestor.invokeExact(device, other, level);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** A set of events. */
    public static long createEvents() {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) nvmlEventSetCreate.invokeExact(out.address());
            if (code != 0) {
                throw Nvml.failure(code, "nvmlEventSetCreate", "");
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Adds events of a device to a set. */
    public static int registerEvents(long device, long kinds, long set) {
        try {
            return (int) nvmlDeviceRegisterEvents.invokeExact(device, kinds, set);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Waits for an event and writes it. */
    public static int awaitEvent(long set, long event, int millis) {
        try {
            return (int) nvmlEventSetWait.invokeExact(set, event, millis);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees a set. */
    public static int freeEvents(long set) {
        try {
            return (int) nvmlEventSetFree.invokeExact(set);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private NvmlCalls() {}
}
