package dev.tutti.cuda;

import dev.tutti.cuda.nvml.Nvml;
import dev.tutti.cuda.nvml.NvmlCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads the state of devices again and again, and tells of errors that the driver reports. One daemon thread does both, until the
 * monitor is closed.
 *
 * {@snippet :
 * try (CudaMonitor monitor = CudaMonitor.open(Cuda.devices(), Duration.ofSeconds(1), new CudaMonitor.Listener() {
 *     public void happened(CudaMonitor.Event event) {
 *         log(event);
 *     }
 * })) {
 *     train();
 * }
 * }
 */
public final class CudaMonitor implements AutoCloseable {
    private static final int EVENT_BYTES = 32;
    private static final int TIMEOUT = 10;
    private static final long MOST_MILLIS = 100;
    private static final System.Logger LOG = System.getLogger(CudaMonitor.class.getName());

    /** What is told. Called on the monitor's thread; what it throws is logged and changes nothing. */
    public interface Listener {
        /**
         * The state of a device was read.
         *
         * @param device which
         * @param health how it is
         */
        default void sampled(CudaDevice device, CudaHealth health) {}

        /**
         * The driver reported an error.
         *
         * @param event which, and where
         */
        default void happened(Event event) {}
    }

    /** What the driver reports. */
    public enum Kind {
        /** A memory error that was corrected. */
        CORRECTED_ERROR(1),
        /** A memory error that could not be corrected. */
        UNCORRECTED_ERROR(2),
        /** An error with a number of NVIDIA's, called Xid. */
        XID(8);

        private final long bit;

        Kind(long bit) {
            this.bit = bit;
        }

        static @Nullable Kind of(long bit) {
            for (Kind each : values()) {
                if (each.bit == bit) {
                    return each;
                }
            }
            return null;
        }
    }

    /**
     * An error that the driver reported.
     *
     * @param device where
     * @param kind of error
     * @param number the Xid, else 0
     */
    public record Event(CudaDevice device, Kind kind, long number) {
        /**
         * What NVIDIA says about the number.
         *
         * @return a few words; empty if it is not one of the usual ones
         */
        public String meaning() {
            return kind != Kind.XID
                    ? ""
                    : switch ((int) number) {
                        case 13 -> "a kernel failed: an instruction or an address was wrong";
                        case 31 -> "a kernel used memory that is not there";
                        case 43, 45 -> "a process's work was thrown away after an error in it";
                        case 48 -> "memory error that could not be corrected";
                        case 61, 62 -> "the device's own controller failed";
                        case 63, 64 -> "a row of memory is being replaced";
                        case 74 -> "NVLink error";
                        case 79 -> "the device has fallen off the bus";
                        case 92 -> "many corrected memory errors";
                        case 94, 95 -> "memory error, contained (94) or not (95)";
                        case 119, 120 -> "the device's firmware does not answer";
                        default -> "";
                    };
        }

        @Override
        public String toString() {
            String what = kind == Kind.XID
                    ? "Xid " + number
                    : kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            return device + ": " + what + (meaning().isEmpty() ? "" : " (" + meaning() + ")");
        }
    }

    private final Map<Long, CudaDevice> devices = new LinkedHashMap<>();
    private final long intervalNanos;
    private final Listener listener;
    private final Thread thread;
    private long events;
    private volatile @Nullable String noEvents;
    private volatile boolean closed;

    private CudaMonitor(List<CudaDevice> watched, Duration interval, Listener listener) {
        this.intervalNanos = interval.toNanos();
        this.listener = listener;
        for (CudaDevice device : watched) {
            devices.put(Nvml.device(device.pciBusId()), device);
        }
        this.noEvents = register();
        this.thread = Thread.ofPlatform().daemon().name("tutti-cuda-monitor").unstarted(this::run);
    }

    /**
     * Begins to look.
     *
     * @param devices which
     * @param interval from one reading to the next
     * @param listener who is told
     * @return the monitor, to be closed
     * @throws UnsupportedOperationException if there is no NVML
     */
    public static CudaMonitor open(List<CudaDevice> devices, Duration interval, Listener listener) {
        if (interval.isNegative() || interval.isZero()) {
            throw new IllegalArgumentException("interval must be more than 0, got " + interval);
        }
        String cause = Nvml.unavailabilityCause();
        if (cause != null) {
            throw new UnsupportedOperationException(cause);
        }
        CudaMonitor monitor = new CudaMonitor(devices, interval, Objects.requireNonNull(listener, "listener"));
        monitor.thread.start();
        return monitor;
    }

    /**
     * Why errors are not told of.
     *
     * @return what is missing; null if they are
     */
    public @Nullable String eventsUnavailabilityCause() {
        return noEvents;
    }

    private @Nullable String register() {
        events = NvmlCalls.createEvents();
        boolean any = false;
        String cause = "the devices tell of no errors";
        for (Map.Entry<Long, CudaDevice> each : devices.entrySet()) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
                long handle = each.getKey();
                long kinds = CudaHealth.number(out, to -> NvmlCalls.supportedEvents(handle, to));
                long wanted = 0;
                for (Kind kind : Kind.values()) {
                    wanted |= kinds & kind.bit;
                }
                int code = kinds == CudaHealth.UNKNOWN || wanted == 0
                        ? -1
                        : NvmlCalls.registerEvents(handle, wanted, events);
                any |= code == 0;
                if (code > 0) {
                    cause = Nvml.failure(code, "nvmlDeviceRegisterEvents", each.getValue() + ", kinds " + wanted)
                            .getMessage();
                }
            }
        }
        return any ? null : cause;
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(EVENT_BYTES, 8);
            long next = System.nanoTime();
            while (!closed) {
                long left = next - System.nanoTime();
                if (left <= 0) {
                    next += intervalNanos * (1 + -left / intervalNanos);
                    devices.forEach((handle, device) -> tell(() -> listener.sampled(device, CudaHealth.of(handle))));
                    continue;
                }
                long millis = Math.clamp(left / 1_000_000, 1, MOST_MILLIS);
                if (noEvents != null) {
                    LockSupport.parkNanos(this, millis * 1_000_000);
                    continue;
                }
                int code = NvmlCalls.awaitEvent(events, event.address(), (int) millis);
                if (code == 0) {
                    tell(event);
                } else if (code != TIMEOUT) {
                    noEvents = Nvml.failure(code, "nvmlEventSetWait", "").getMessage();
                }
            }
        }
    }

    private void tell(MemorySegment event) {
        CudaDevice device = devices.get(event.get(ValueLayout.JAVA_LONG, 0));
        Kind kind = Kind.of(event.get(ValueLayout.JAVA_LONG, 8));
        if (device != null && kind != null) {
            long number = kind == Kind.XID ? event.get(ValueLayout.JAVA_LONG, 16) : 0;
            tell(() -> listener.happened(new Event(device, kind, number)));
        }
    }

    private static void tell(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException thrown) {
            LOG.log(System.Logger.Level.WARNING, "a listener of a CUDA monitor failed", thrown);
        }
    }

    /** Ends it; when this returns the listener is not called any more. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive() && thread != Thread.currentThread()) {
            try {
                thread.join();
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        NvmlCalls.freeEvents(events);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
