package dev.tutti.cuda;

import dev.tutti.cuda.driver.Streams;
import java.util.ArrayDeque;

/** Events of one device, used again and again: making one costs more than recording it. */
final class EventPool implements AutoCloseable {
    private static final int NO_TIMING = 2;

    private final CudaDevice device;
    private final int generation;
    private final ArrayDeque<Long> free = new ArrayDeque<>();
    private boolean closed;

    EventPool(CudaDevice device) {
        this.device = device;
        this.generation = device.generation();
    }

    synchronized long take() {
        Long known = free.poll();
        return known != null ? known : Streams.createEvent(NO_TIMING);
    }

    synchronized void give(long event) {
        if (!closed) {
            free.add(event);
        } else if (generation == device.generation()) {
            device.enter();
            Streams.destroyEvent(event);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (generation == device.generation()) {
            device.enter();
            free.forEach(Streams::destroyEvent);
        }
        free.clear();
    }
}
