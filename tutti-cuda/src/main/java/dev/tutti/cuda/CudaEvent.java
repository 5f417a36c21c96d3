package dev.tutti.cuda;

import dev.tutti.cuda.driver.Driver;
import dev.tutti.cuda.driver.Streams;
import java.util.concurrent.atomic.AtomicBoolean;

/** A place in a stream that others can wait for. */
public final class CudaEvent implements AutoCloseable {
    private static final int NO_TIMING = 2;

    private final CudaDevice device;
    private final long handle;
    private final int generation;
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaEvent(CudaDevice device, long handle) {
        this.device = device;
        this.handle = handle;
        this.generation = device.generation();
    }

    /**
     * An event without time, which costs less.
     *
     * @param device where its stream is
     * @return an event, to be closed
     */
    public static CudaEvent open(CudaDevice device) {
        device.enter();
        return new CudaEvent(device, Streams.createEvent(NO_TIMING));
    }

    /**
     * An event that notes the device's time.
     *
     * @param device where its stream is
     * @return an event, to be closed
     */
    public static CudaEvent openTimed(CudaDevice device) {
        device.enter();
        return new CudaEvent(device, Streams.createEvent(0));
    }

    /**
     * From now on the event is everything that is in the stream now.
     *
     * @param stream of the same device
     */
    public void record(CudaStream stream) {
        enter();
        Streams.record(handle, stream.handle());
    }

    /**
     * Whether it has happened.
     *
     * @return true if it has, or was never recorded
     */
    public boolean isDone() {
        enter();
        int code = Streams.queryEvent(handle);
        if (code != 0 && code != Driver.NOT_READY) {
            throw Driver.failure(code, "cuEventQuery", "event " + handle);
        }
        return code == 0;
    }

    /** Waits until it has happened. */
    public void synchronise() {
        enter();
        Streams.synchroniseEvent(handle);
    }

    /**
     * Time on the device since another event; both must be timed and have happened.
     *
     * @param start the earlier one
     * @return microseconds, to about half a microsecond
     */
    public double microsSince(CudaEvent start) {
        enter();
        return Streams.elapsedMillis(start.handle, handle) * 1e3;
    }

    long handle() {
        return handle;
    }

    private void enter() {
        if (closed.get()) {
            throw new IllegalStateException("this event has been closed");
        }
        device.enter(generation, "this event");
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true) && generation == device.generation()) {
            device.enter();
            Streams.destroyEvent(handle);
        }
    }
}
