package dev.tutti.channel;

import dev.tutti.exec.Slots;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The boards of two ranks, without anything behind them. */
final class Regions implements Fabric {
    /** Up to the end of the history. */
    private static final int REGION_BYTES = RegionLayout.INBOUND;

    private static final Slots SLOTS = new Slots(2 * REGION_BYTES);

    private final long address = SLOTS.take();
    private final boolean mustFence;
    private final AtomicReferenceArray<@Nullable Throwable> causes = new AtomicReferenceArray<>(2);

    Regions() {
        this(true);
    }

    Regions(boolean mustFence) {
        this.mustFence = mustFence;
    }

    @Override
    public RegionLayout layout() {
        return new RegionLayout(2, 1, 0, 0);
    }

    @Override
    public long region(int rank) {
        return address + (long) rank * REGION_BYTES;
    }

    @Override
    public long scratch(int rank) {
        return 0;
    }

    @Override
    public long ring(int from, int to, long bytes) {
        return 0;
    }

    @Override
    public long ringIfMade(int from, int to) {
        return 0;
    }

    @Override
    public long location(long address, long bytes) {
        return address;
    }

    @Override
    public long address(int rank, long location) {
        return location;
    }

    @Override
    public boolean mustFenceToSignal() {
        return mustFence;
    }

    @Override
    public void release() {}

    @Override
    public boolean isOversubscribed() {
        return false;
    }

    @Override
    public void keepCause(int rank, Throwable cause) {
        causes.set(rank, cause);
    }

    @Override
    public @Nullable Throwable cause(int rank) {
        return causes.get(rank);
    }
}
