package dev.tutti.transport.shm;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * All regions of a world as one process has them mapped. They stay until the last who could touch them has let go: the transport
 * itself, each communicator, each allocation.
 */
final class Mappings {
    final Region[] regions;
    private final AtomicInteger holders = new AtomicInteger(1);

    Mappings(int ranks) {
        this.regions = new Region[ranks];
    }

    void retain() {
        holders.incrementAndGet();
    }

    void release() {
        if (holders.decrementAndGet() == 0) {
            for (Region region : regions) {
                if (region != null) {
                    region.unmap();
                }
            }
        }
    }
}
