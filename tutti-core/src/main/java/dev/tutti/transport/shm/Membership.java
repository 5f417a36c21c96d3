package dev.tutti.transport.shm;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/** One rank's part in one communicator, as far as memory goes. Does not know the fabric, so that it can outlive it. */
final class Membership implements Runnable {
    final int rank;
    final int[] worldRanks;
    final RegionLayout layout;
    final Mappings mappings;
    /** Addresses of the members' directory entries, 0 for those that were not found. */
    final long[] entries;

    private final Runnable afterwards;
    private final AtomicBoolean left = new AtomicBoolean();

    Membership(int rank, int[] worldRanks, RegionLayout layout, Mappings mappings, Runnable afterwards) {
        this.rank = rank;
        this.worldRanks = worldRanks;
        this.layout = layout;
        this.mappings = mappings;
        this.entries = new long[worldRanks.length];
        this.afterwards = afterwards;
        mappings.retain();
    }

    Region regionOf(int member) {
        return mappings.regions[worldRanks[member]];
    }

    /** Offset of a member's piece in its region. */
    long piece(int member) {
        return Directory.offset(entries[member]);
    }

    /** This rank never touches the communicator's memory again. The last one to say so gives each piece's pages back. */
    @Override
    public void run() {
        if (!left.compareAndSet(false, true)) {
            return;
        }
        try {
            for (int member = 0; member < entries.length; member++) {
                long entry = entries[member];
                if (entry != 0 && Directory.gone(entry) == layout.ranks()) {
                    regionOf(member).punch(piece(member), RegionDescriptor.pages(RegionDescriptor.pieceBytes(layout)));
                    // From here on the owner may use it for something else.
                    Directory.gone(entry);
                }
            }
        } finally {
            afterwards.run();
            mappings.release();
        }
    }

    /** Tells those who have found this rank's piece that it will not come. */
    void giveUp() {
        if (entries[rank] != 0) {
            Memory.putLongRelease(
                    regionOf(rank).base + piece(rank) + RegionDescriptor.regionAt(layout) + RegionLayout.STATE, 1);
        }
        run();
    }
}
