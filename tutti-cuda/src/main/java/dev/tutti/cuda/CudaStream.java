package dev.tutti.cuda;

import dev.tutti.cuda.driver.Driver;
import dev.tutti.cuda.driver.Streams;
import java.util.concurrent.atomic.AtomicBoolean;

/** A queue of work of one device; what is in it runs in order. */
public final class CudaStream implements AutoCloseable {
    private static final int NON_BLOCKING = 1;

    private final CudaDevice device;
    private final long handle;
    private final int generation;
    private final boolean owned;
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaStream(CudaDevice device, long handle, boolean owned) {
        this.device = device;
        this.handle = handle;
        this.owned = owned;
        this.generation = device.generation();
    }

    static CudaStream open(CudaDevice device) {
        device.enter();
        return new CudaStream(device, Streams.create(NON_BLOCKING, 0), true);
    }

    static CudaStream defaultOf(CudaDevice device) {
        device.enter();
        return new CudaStream(device, 0, false);
    }

    /**
     * A stream that another library made in the device's primary context, for example PyTorch's. It stays that library's.
     *
     * @param device where it is
     * @param handle the {@code CUstream}
     * @return a view of it
     */
    public static CudaStream ofHandle(CudaDevice device, long handle) {
        device.enter();
        return new CudaStream(device, handle, false);
    }

    /**
     * Where it is.
     *
     * @return the device
     */
    public CudaDevice device() {
        return device;
    }

    /**
     * The driver's handle, for other libraries.
     *
     * @return a {@code CUstream}
     */
    public long handle() {
        return handle;
    }

    /** Waits until it is empty. */
    public void synchronise() {
        enter();
        Streams.synchronise(handle);
    }

    /**
     * Whether everything in it is done.
     *
     * @return true if it is empty
     */
    public boolean isEmpty() {
        enter();
        int code = Streams.query(handle);
        if (code != 0 && code != Driver.NOT_READY) {
            throw Driver.failure(code, "cuStreamQuery", "stream " + handle);
        }
        return code == 0;
    }

    /**
     * Makes what comes next wait for an event.
     *
     * @param event of any stream of the process
     */
    public void await(CudaEvent event) {
        enter();
        Streams.await(handle, event.handle(), 0);
    }

    boolean isOpen() {
        return !closed.get() && generation == device.generation();
    }

    boolean isCapturing() {
        return Streams.isCapturing(handle) != 0;
    }

    void enter() {
        if (closed.get()) {
            throw new IllegalStateException("this stream has been closed");
        }
        device.enter(generation, "this stream");
    }

    @Override
    public void close() {
        if (owned && closed.compareAndSet(false, true) && generation == device.generation()) {
            device.enter();
            Streams.destroy(handle);
        }
    }
}
