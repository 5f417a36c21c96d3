package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Devices;
import dev.tutti.cuda.driver.Generations;
import dev.tutti.cuda.driver.Memories;
import dev.tutti.cuda.kernel.KernelSet;
import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * One CUDA device, by its primary context, which the process shares with other libraries. The context is made when it is first
 * needed.
 *
 * <p>A kernel that fails can take the context with it. From then on everything made in it is refused with a
 * {@link StaleException}; {@link #rebuild} makes a new context.
 */
public final class CudaDevice {
    private static final int NAME_BYTES = 256;
    private static final int BUS_ID_BYTES = 32;
    private static final int PEER_ACCESS_ALREADY_ENABLED = 704;

    private final int ordinal;
    private final int handle;
    private final String name;
    private final Object lock = new Object();

    private volatile long context;
    private volatile @Nullable KernelSet kernels;

    CudaDevice(int ordinal) {
        this.ordinal = ordinal;
        this.handle = Devices.get(ordinal);
        MemorySegment text = Scratch.get();
        Devices.getName(text.address(), NAME_BYTES, handle);
        this.name = Scratch.string(text.address(), NAME_BYTES);
    }

    /**
     * The device's number.
     *
     * @return from 0
     */
    public int ordinal() {
        return ordinal;
    }

    /**
     * What its maker calls it.
     *
     * @return for example {@code NVIDIA H200}
     */
    public String name() {
        return name;
    }

    /**
     * Its place on the bus.
     *
     * @return for example {@code 0000:18:00.0}
     */
    public String pciBusId() {
        MemorySegment text = Scratch.get();
        Devices.getPciBusId(text.address(), BUS_ID_BYTES, handle);
        return Scratch.string(text.address(), BUS_ID_BYTES);
    }

    /**
     * What it can do.
     *
     * @return the record, asked anew
     */
    public CudaCapabilities capabilities() {
        return CudaCapabilities.of(this);
    }

    /**
     * How often its context was lost or rebuilt; what was made under another number is refused.
     *
     * @return from 1
     */
    public int generation() {
        return Generations.current(ordinal);
    }

    /**
     * Whether kernels of this device can read memory of another.
     *
     * @param other the other device
     * @return true for the device itself
     */
    public boolean canAccess(CudaDevice other) {
        return other == this || Devices.canAccessPeer(handle, other.handle) != 0;
    }

    /**
     * Lets kernels of this device read memory of another. Doing so twice is fine.
     *
     * @param other the other device
     */
    public void enableAccess(CudaDevice other) {
        if (other == this) {
            return;
        }
        other.enter();
        long peer = other.context;
        enter();
        int code = Devices.enablePeer(peer, 0);
        if (code != 0 && code != PEER_ACCESS_ALREADY_ENABLED) {
            throw dev.tutti.cuda.driver.Driver.failure(code, "cuCtxEnablePeerAccess", "peer " + other.ordinal);
        }
    }

    /**
     * A new stream, which does not wait for the default stream.
     *
     * @return a stream, to be closed
     */
    public CudaStream stream() {
        return CudaStream.open(this);
    }

    /**
     * The context's default stream.
     *
     * @return a stream that needs no closing
     */
    public CudaStream defaultStream() {
        return CudaStream.defaultOf(this);
    }

    /**
     * Device memory.
     *
     * @param type the elements
     * @param count how many
     * @return a buffer, to be closed
     */
    public CudaBuffer allocate(DataType type, long count) {
        return CudaBuffer.allocate(this, type, count);
    }

    /** Waits for everything in the context. */
    public void synchronise() {
        enter();
        Devices.synchronise();
    }

    /**
     * Free memory of the device.
     *
     * @return bytes
     */
    public long freeBytes() {
        enter();
        MemorySegment out = Scratch.zeroed();
        Memories.getInfo(out.address(), out.address() + Long.BYTES);
        return out.get(ValueLayout.JAVA_LONG, 0);
    }

    /**
     * Destroys the context and makes a new one: to have everything in it freed, or after it was lost. Whatever was made in it, by
     * other libraries of the process too, is gone. After a kernel that failed, drivers give a process no new context.
     *
     * @throws StaleException if the driver makes none: then the process has to be started anew
     */
    public void rebuild() {
        synchronized (lock) {
            Devices.setCurrent(0);
            if (context != 0) {
                Devices.resetPrimary(handle);
            }
            context = 0;
            kernels = null;
            String lost = Generations.isLost(ordinal) ? Generations.cause(ordinal) : null;
            try {
                context = Devices.retainPrimary(handle);
            } catch (CudaException refused) {
                throw new StaleException(this + " gets no new context"
                        + (lost == null ? "" : " after " + lost) + ": " + refused.getMessage()
                        + "; end this process and start another, which may use the device");
            }
            Generations.rebuilt(ordinal, "the context was rebuilt");
        }
        enter();
    }

    /** Makes the context the thread's. To be called before any call of the driver. */
    void enter() {
        if (Generations.isLost(ordinal)) {
            throw new StaleException("device " + ordinal + " (" + name + ") has lost its context: "
                    + Generations.cause(ordinal)
                    + "; end this process and start another: after a failure like this rebuild()"
                    + " gets no new one from the driver");
        }
        long known = context;
        Devices.setCurrent(known != 0 ? known : retain());
    }

    private long retain() {
        synchronized (lock) {
            if (context == 0) {
                context = Devices.retainPrimary(handle);
            }
            return context;
        }
    }

    /** As {@link #enter}, for something made under a generation. */
    void enter(int generation, String what) {
        requireCurrent(generation, what);
        enter();
    }

    void requireCurrent(int generation, String what) {
        int now = Generations.current(ordinal);
        if (generation != now) {
            throw new StaleException(what + " is stale: it was made in generation " + generation + " of device "
                    + ordinal + ", now is " + now + " (" + Generations.cause(ordinal) + "); make it anew");
        }
    }

    KernelSet kernels() {
        KernelSet known = kernels;
        if (known == null) {
            synchronized (lock) {
                known = kernels;
                if (known == null) {
                    known = new KernelSet(architecture());
                    kernels = known;
                }
            }
        }
        return known;
    }

    String architecture() {
        return "sm_" + attribute(Attribute.COMPUTE_MAJOR) + attribute(Attribute.COMPUTE_MINOR);
    }

    int attribute(int attribute) {
        return Devices.attribute(attribute, handle);
    }

    int handle() {
        return handle;
    }

    @Override
    public String toString() {
        return "device " + ordinal + " (" + name + ")";
    }
}
