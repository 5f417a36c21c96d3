package dev.tutti.transport.shm;

import dev.tutti.TuttiException;
import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;

/**
 * The directory of a region: which communicator's piece lies where. The owner writes it, one thread at a time; peers read it
 * at any time without waiting for anybody. The only thing that peers write is the count of those who have gone.
 */
final class Directory {
    private static final long FREE = 0;
    private static final long IN_USE = 1;

    private final long base;

    Directory(long base) {
        this.base = base;
    }

    private long entry(int index) {
        return base + RegionDescriptor.DIRECTORY_AT + (long) index * RegionDescriptor.ENTRY_BYTES;
    }

    private int used() {
        return (int) Memory.getLongAcquire(base + RegionDescriptor.USED_AT);
    }

    /** Changes whenever something was published. */
    long changes() {
        return Memory.getLongAcquire(base + RegionDescriptor.CHANGES_AT);
    }

    /** Address of the entry of a communicator; 0 if there is none yet. */
    long find(long id) {
        int used = used();
        for (int i = 0; i < used; i++) {
            long entry = entry(i);
            // Pairs with the release in publish. Whoever looks for an id is a member that has not gone: what it finds
            // stays.
            if (Memory.getLongAcquire(entry + RegionDescriptor.STATE) == IN_USE
                    && Memory.getLongOpaque(entry + RegionDescriptor.ID) == id) {
                return entry;
            }
        }
        return 0;
    }

    /** Finds room for an entry; the owner, who has to have reserved all pages before {@link #end}. */
    int freeEntry() {
        int used = used();
        for (int i = 0; i < used; i++) {
            if (Memory.getLongAcquire(entry(i) + RegionDescriptor.STATE) == FREE) {
                return i;
            }
        }
        if (used == RegionDescriptor.ENTRIES) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "a rank can be in " + RegionDescriptor.ENTRIES
                            + " open communicators at a time; close those that are no longer needed",
                    null);
        }
        return used;
    }

    /** Offset of the first byte behind an entry. */
    static long end(int index) {
        return RegionDescriptor.DIRECTORY_AT + (index + 1L) * RegionDescriptor.ENTRY_BYTES;
    }

    /** The owner only. */
    void publish(int index, long id, long offset, RegionLayout layout) {
        long entry = entry(index);
        Memory.putLong(entry + RegionDescriptor.OFFSET, offset);
        Memory.putLong(entry + RegionDescriptor.BYTES, RegionDescriptor.pieceBytes(layout));
        Memory.putLong(entry + RegionDescriptor.RANKS_AND_CHANNELS, ranksAndChannels(layout));
        Memory.putLong(entry + RegionDescriptor.PACKET_BYTES, layout.packetBytes());
        Memory.putLong(entry + RegionDescriptor.SCRATCH_BYTES, layout.scratchBytes());
        Memory.putLong(entry + RegionDescriptor.GONE, 0);
        Memory.putLongRelease(entry + RegionDescriptor.ID, id);
        Memory.putLongRelease(entry + RegionDescriptor.STATE, IN_USE);
        if (index == used()) {
            Memory.putLongRelease(base + RegionDescriptor.USED_AT, index + 1L);
        }
        Memory.putLongRelease(base + RegionDescriptor.CHANGES_AT, changes() + 1);
    }

    private static long ranksAndChannels(RegionLayout layout) {
        return (long) layout.channelsPerPeer() << 32 | layout.ranks();
    }

    static long offset(long entry) {
        return Memory.getLong(entry + RegionDescriptor.OFFSET);
    }

    /** What a member laid its piece out for. */
    static RegionLayout layout(long entry) {
        long both = Memory.getLong(entry + RegionDescriptor.RANKS_AND_CHANNELS);
        return new RegionLayout(
                (int) both,
                (int) (both >>> 32),
                Memory.getLong(entry + RegionDescriptor.PACKET_BYTES),
                Memory.getLong(entry + RegionDescriptor.SCRATCH_BYTES));
    }

    /** One member more will never touch the piece again. Returns how many that are now. */
    static long gone(long entry) {
        return Memory.getAndAddLong(entry + RegionDescriptor.GONE, 1) + 1;
    }

    /** Takes the next piece that nobody can touch any more out of the directory; 0 if there is none. The owner only. */
    int takeAbandoned(long[] offsetAndBytes, int from) {
        int used = used();
        for (int i = from; i < used; i++) {
            long entry = entry(i);
            if (Memory.getLongAcquire(entry + RegionDescriptor.STATE) == IN_USE
                    && Memory.getLongAcquire(entry + RegionDescriptor.GONE)
                            > (int) Memory.getLong(entry + RegionDescriptor.RANKS_AND_CHANNELS)) {
                offsetAndBytes[0] = offset(entry);
                offsetAndBytes[1] = Memory.getLong(entry + RegionDescriptor.BYTES);
                Memory.putLongRelease(entry + RegionDescriptor.STATE, FREE);
                return i + 1;
            }
        }
        return 0;
    }

    int live() {
        int live = 0;
        for (int i = 0; i < used(); i++) {
            live += Memory.getLongAcquire(entry(i) + RegionDescriptor.STATE) == IN_USE ? 1 : 0;
        }
        return live;
    }
}
