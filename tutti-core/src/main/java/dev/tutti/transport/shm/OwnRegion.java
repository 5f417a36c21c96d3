package dev.tutti.transport.shm;

import dev.tutti.TuttiException;
import dev.tutti.memory.Memory;
import dev.tutti.posix.PosixException;
import dev.tutti.posix.SharedMemory;
import dev.tutti.spi.RegionLayout;
import java.io.UncheckedIOException;
import java.security.SecureRandom;

/** The region of a rank of this process: here pieces are carved from it, and taken back. */
final class OwnRegion extends Region {
    /** Addresses cost nothing; all that a rank can ever share must fit. */
    private static final long MOST_BYTES = 64L << 30;

    private static final long LEAST_BYTES = 16L << 20;

    private final Extents extents;

    private OwnRegion(Card card, Backing backing, MemoryBudget budget) {
        super(card, backing, budget);
        this.extents = new Extents(RegionDescriptor.PIECES_AT, backing.bytes());
    }

    static OwnRegion create(int rank, boolean asFile, MemoryBudget budget) {
        long bytes = Math.min(MOST_BYTES, budget.longestFile() & -RegionDescriptor.PAGE);
        if (bytes < LEAST_BYTES) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "rank " + rank + " cannot share memory: files may have " + bytes + " bytes at most, and it needs "
                            + LEAST_BYTES + "; raise the limit of file sizes (ulimit -f unlimited)",
                    null);
        }
        String name = "tutti-rank-" + rank;
        boolean file = asFile || !SharedMemory.isAvailable();
        Backing backing;
        try {
            backing = file ? FileBacking.create(name, bytes) : MemfdBacking.create(name, bytes);
        } catch (PosixException thrown) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "rank " + rank + " cannot share memory: " + thrown.getMessage() + remedy(thrown.errno()),
                    thrown);
        } catch (UncheckedIOException thrown) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "rank " + rank + " cannot share memory by a file, and there is no memfd ("
                            + SharedMemory.unavailabilityCause() + "): " + thrown.getMessage()
                            + "; set -Djava.io.tmpdir to a folder that has room",
                    thrown);
        }
        Card card = Card.of(rank, new SecureRandom().nextLong(), file ? "file" : "memfd", backing);
        OwnRegion region = new OwnRegion(card, backing, budget);
        try {
            region.reserve(0, 2L * RegionDescriptor.PAGE, "the header of rank " + rank + "'s region", true);
            region.writeHeader();
            return region;
        } catch (RuntimeException thrown) {
            backing.close();
            throw thrown;
        }
    }

    private void writeHeader() {
        Memory.putLong(base + RegionDescriptor.VERSION_AT, RegionDescriptor.VERSION);
        Memory.putLong(base + RegionDescriptor.UID_AT, card.uid());
        Memory.putLong(base + RegionDescriptor.PID_AT, card.pid());
        Memory.putLong(base + RegionDescriptor.START_TIME_AT, card.startTime());
        Memory.putLong(base + RegionDescriptor.NONCE_AT, card.nonce());
        Memory.putLong(base + RegionDescriptor.RANK_AT, rank);
        Memory.putLong(base + RegionDescriptor.BYTES_AT, card.bytes());
        Memory.putLongRelease(base + RegionDescriptor.MAGIC_AT, RegionDescriptor.MAGIC);
    }

    void publishReady() {
        Memory.putLongRelease(base + RegionDescriptor.READY_AT, 1);
    }

    /** This rank's entry for a communicator; made by whichever rank of the process joins it first. */
    synchronized long enter(long id, RegionLayout layout) {
        long found = directory.find(id);
        if (found != 0) {
            return found;
        }
        sweep();
        int index = directory.freeEntry();
        reserve(
                RegionDescriptor.DIRECTORY_AT,
                RegionDescriptor.pages(Directory.end(index) - RegionDescriptor.DIRECTORY_AT),
                "the directory of rank " + rank,
                false);
        long offset = carve(RegionDescriptor.pieceBytes(layout), RegionDescriptor.scratchAt(layout), "a communicator");
        directory.publish(index, id, offset, layout);
        return directory.find(id);
    }

    /** Takes addresses, and makes pages for the first of them. */
    synchronized long carve(long bytes, long reservedBytes, String what) {
        long offset = extents.take(RegionDescriptor.pages(bytes));
        if (offset < 0) {
            sweep();
            offset = extents.take(RegionDescriptor.pages(bytes));
        }
        if (offset < 0) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "the region of rank " + rank + " has no room for " + what + " of " + bytes
                            + " bytes: the longest free"
                            + " range has " + extents.longest() + " of its " + card.bytes()
                            + "; free buffers or close communicators",
                    null);
        }
        try {
            reserve(offset, RegionDescriptor.pages(reservedBytes), what + " of rank " + rank, true);
            return offset;
        } catch (RuntimeException thrown) {
            extents.give(offset, RegionDescriptor.pages(bytes));
            throw thrown;
        }
    }

    /** Takes addresses back, and gives their pages back. Nobody may touch them any more. */
    void give(long offset, long bytes) {
        punch(offset, RegionDescriptor.pages(bytes));
        synchronized (this) {
            extents.give(offset, RegionDescriptor.pages(bytes));
        }
    }

    /** Finds pieces that all members have left; their pages have gone already. */
    private void sweep() {
        long[] piece = new long[2];
        for (int next = directory.takeAbandoned(piece, 0); next != 0; next = directory.takeAbandoned(piece, next)) {
            extents.give(piece[0], RegionDescriptor.pages(piece[1]));
        }
    }
}
