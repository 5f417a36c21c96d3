package dev.tutti.transport.shm;

import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.memory.Memory;
import dev.tutti.posix.PosixException;
import dev.tutti.posix.ProcessFacts;
import dev.tutti.posix.SharedMemory;
import java.io.UncheckedIOException;
import java.util.List;

/** A rank's region as this process sees it, be it its own or a peer's. */
class Region {
    /** Memory is looked at again after this much: several ranks may be reserving at the same time. */
    private static final long RESERVED_AT_ONCE = 32L << 20;

    final int rank;
    final long base;
    final Card card;
    final Directory directory;
    protected final Backing backing;
    private final MemoryBudget budget;

    Region(Card card, Backing backing, MemoryBudget budget) {
        this.rank = card.rank();
        this.card = card;
        this.backing = backing;
        this.base = backing.address();
        this.budget = budget;
        this.directory = new Directory(base);
    }

    /** Maps a peer's region. */
    static Region open(Card card, MemoryBudget budget) {
        card.requireReachable();
        Backing backing;
        try {
            backing = card.kind().equals("memfd")
                    ? MemfdBacking.open(card.pid(), card.handle(), card.bytes())
                    : FileBacking.open(card.handle(), card.bytes());
        } catch (PosixException thrown) {
            if (!ProcessFacts.isAlive(card.pid(), card.startTime())) {
                throw new PeerFailedException(
                        "rank " + card.rank() + " (process " + card.pid() + ") ended before its memory could be mapped",
                        thrown,
                        new TuttiException.Facts(null, null, List.of(card.rank())));
            }
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "cannot map the memory of rank " + card.rank() + " (process " + card.pid() + "): "
                            + thrown.getMessage() + remedy(thrown.errno()),
                    thrown);
        } catch (UncheckedIOException thrown) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "cannot map the memory of rank " + card.rank() + ": " + thrown.getMessage(),
                    thrown);
        }
        Region region = new Region(card, backing, budget);
        if (Memory.getLongAcquire(region.base + RegionDescriptor.MAGIC_AT) != RegionDescriptor.MAGIC
                || Memory.getLong(region.base + RegionDescriptor.NONCE_AT) != card.nonce()
                || Memory.getLong(region.base + RegionDescriptor.RANK_AT) != card.rank()) {
            backing.close();
            throw Card.refused(card.rank(), "what it published leads to something else; its process may have ended");
        }
        return region;
    }

    static String remedy(int errno) {
        return switch (errno) {
            case PosixException.ENOENT -> "; its process has ended";
            case PosixException.EACCES, PosixException.EPERM ->
                "; run all ranks as one user, in one container, and not as a set-uid program";
            case PosixException.ENOMEM -> "; raise the limit of address space (ulimit -v unlimited)";
            case PosixException.EMFILE -> "; raise the limit of open files (ulimit -n)";
            case PosixException.EFBIG -> "; raise the limit of file sizes (ulimit -f unlimited)";
            case PosixException.ENOSYS -> SharedMemory.isAvailable() ? "" : "; this kernel has no memfd";
            default -> "";
        };
    }

    /**
     * Makes pages, after looking whether there is memory for them.
     *
     * @param exclusive whether nobody else uses the range yet; then what cannot be had completely is given back
     */
    void reserve(long offset, long bytes, String what, boolean exclusive) {
        budget.require(bytes, what);
        long done = 0;
        try {
            while (done < bytes) {
                long piece = Math.min(RESERVED_AT_ONCE, bytes - done);
                if (done > 0) {
                    budget.require(piece, what);
                }
                backing.reserve(offset + done, piece);
                done += piece;
            }
        } catch (PosixException thrown) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "no shared memory for " + what + " (" + bytes + " bytes): " + thrown.getMessage()
                            + remedy(thrown.errno()),
                    thrown);
        } finally {
            if (exclusive && done > 0 && done < bytes) {
                backing.punch(offset, done);
            }
        }
    }

    void punch(long offset, long bytes) {
        backing.punch(offset, bytes);
    }

    boolean isReady() {
        return Memory.getLongAcquire(base + RegionDescriptor.READY_AT) != 0;
    }

    void everybodyHasIt() {
        backing.everybodyHasIt();
    }

    void unmap() {
        backing.close();
    }
}
