package dev.tutti;

import dev.tutti.exec.Gate;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Transport;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Memory of Tutti's own that peers can reach, shared by a {@link Buffer} and its slices: who still uses it, and when it may be freed.
 *
 * <p>Blocking calls are known to the gate of their communicator, others are counted here. Both look whether it is closing after they have
 * said that they use it; {@link #close} says so first and then waits for them.
 */
final class OwnMemory {
    private static final AtomicLong IDS = new AtomicLong();
    private static final long PAUSE_NANOS = 50_000;

    private final long id = IDS.incrementAndGet();
    private final Transport transport;
    private final int worldRank;
    private final Allocation allocation;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger windows = new AtomicInteger();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean quarantined = new AtomicBoolean();

    /**
     * Memory that nobody uses yet.
     *
     * @param transport whose peers can reach it
     * @param worldRank whose it is
     */
    OwnMemory(Transport transport, int worldRank, Allocation allocation) {
        this.transport = transport;
        this.worldRank = worldRank;
        this.allocation = allocation;
    }

    boolean isReachable(Transport by, int ofWorldRank) {
        return transport == by && worldRank == ofWorldRank;
    }

    /**
     * Throws if it is closed or about to be.
     *
     * @return what the gate knows it by
     */
    long requireOpen() {
        if (closing.get()) {
            throw closed();
        }
        return id;
    }

    private IllegalStateException closed() {
        return new IllegalStateException("this buffer, " + allocation.memory().byteSize() + " bytes of rank "
                + worldRank + ", has been closed: take another from comm.allocate");
    }

    void retain() {
        inFlight.incrementAndGet();
        if (closing.get()) {
            inFlight.decrementAndGet();
            throw closed();
        }
    }

    void release() {
        inFlight.decrementAndGet();
    }

    void openWindow() {
        retain();
        windows.incrementAndGet();
        release();
    }

    void closeWindow() {
        windows.decrementAndGet();
    }

    /** Notes that a peer may still touch it after a failure, so that it must never be freed. */
    void quarantine() {
        quarantined.set(true);
    }

    boolean isQuarantined() {
        return quarantined.get();
    }

    void close() {
        if (closing.get()) {
            return;
        }
        if (windows.get() != 0) {
            throw new IllegalStateException(
                    "a window is open on this buffer of rank " + worldRank + ": close that first, on all ranks");
        }
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        Gate.awaitPassage(id);
        while (inFlight.get() != 0) {
            LockSupport.parkNanos(this, PAUSE_NANOS);
        }
        if (!quarantined.get()) {
            allocation.free();
        }
    }
}
