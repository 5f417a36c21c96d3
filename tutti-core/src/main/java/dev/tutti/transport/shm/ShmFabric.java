package dev.tutti.transport.shm;

import dev.tutti.memory.Memory;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** A communicator's memory, spread over the regions of its members. */
final class ShmFabric implements Fabric {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Membership membership;
    private final RegionLayout layout;
    private final Cleaner.Cleanable cleanable;
    private final long[] pieces;
    private final boolean allHere;
    private final boolean oversubscribed;
    private final boolean mustFence;
    private final AtomicReferenceArray<@Nullable Throwable> causes;

    ShmFabric(
            Membership membership,
            boolean oversubscribed,
            boolean mustFence,
            AtomicReferenceArray<@Nullable Throwable> causes) {
        this.membership = membership;
        this.layout = membership.layout;
        this.oversubscribed = oversubscribed;
        this.mustFence = mustFence;
        this.causes = causes;
        this.pieces = new long[layout.ranks()];
        boolean here = true;
        for (int member = 0; member < pieces.length; member++) {
            Region region = membership.regionOf(member);
            pieces[member] = region.base + membership.piece(member);
            here &= region instanceof OwnRegion;
        }
        this.allHere = here;
        this.cleanable = CLEANER.register(this, membership);
    }

    @Override
    public RegionLayout layout() {
        return layout;
    }

    @Override
    public long region(int rank) {
        return pieces[rank] + RegionDescriptor.regionAt(layout);
    }

    @Override
    public long scratch(int rank) {
        long at = RegionDescriptor.scratchAt(layout);
        if (Memory.getLongAcquire(pieces[rank] + RegionDescriptor.SCRATCH_MADE) == 0) {
            reserve(rank, at, layout.wholeScratchBytes(), "scratch");
            Memory.putLongRelease(pieces[rank] + RegionDescriptor.SCRATCH_MADE, 1);
        }
        return pieces[rank] + at;
    }

    @Override
    public long ring(int from, int to, long bytes) {
        if (bytes > RegionLayout.MOST_RING_BYTES) {
            throw new IllegalArgumentException("a ring has at most " + RegionLayout.MOST_RING_BYTES + " bytes");
        }
        long made = ringIfMade(from, to);
        if (made != 0) {
            return made;
        }
        reserve(to, RegionDescriptor.ringAt(layout, from), bytes, "messages");
        long word = ringWord(from, to);
        long bit = 1L << (from & 63);
        long before = Memory.getLongAcquire(word);
        while (!Memory.compareAndSetLong(word, before, before | bit)) {
            before = Memory.getLongAcquire(word);
        }
        return pieces[to] + RegionDescriptor.ringAt(layout, from);
    }

    @Override
    public long ringIfMade(int from, int to) {
        boolean made = (Memory.getLongAcquire(ringWord(from, to)) & 1L << (from & 63)) != 0;
        return made ? pieces[to] + RegionDescriptor.ringAt(layout, from) : 0;
    }

    private long ringWord(int from, int to) {
        return pieces[to] + RegionDescriptor.RINGS_MADE + (from >> 6) * 8L;
    }

    private void reserve(int rank, long at, long bytes, String what) {
        Region region = membership.regionOf(rank);
        region.reserve(
                membership.piece(rank) + at,
                RegionDescriptor.pages(bytes),
                what + " of rank " + membership.worldRanks[rank],
                false);
    }

    @Override
    public long location(long address, long bytes) {
        if (allHere) {
            return address;
        }
        Region own = membership.regionOf(membership.rank);
        long offset = address - own.base;
        return offset >= 0 && offset <= own.card.bytes() - bytes ? offset : NOWHERE;
    }

    @Override
    public long address(int rank, long location) {
        return allHere ? location : membership.regionOf(rank).base + location;
    }

    @Override
    public boolean mustFenceToSignal() {
        return mustFence;
    }

    @Override
    public boolean isOversubscribed() {
        return oversubscribed;
    }

    @Override
    public void keepCause(int rank, Throwable cause) {
        causes.compareAndSet(rank, null, cause);
    }

    @Override
    public @Nullable Throwable cause(int rank) {
        return causes.get(rank);
    }

    @Override
    public void release() {
        cleanable.clean();
    }
}
