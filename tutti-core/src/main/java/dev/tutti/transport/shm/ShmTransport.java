package dev.tutti.transport.shm;

import dev.tutti.AbortedException;
import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.posix.ProcessFacts;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import dev.tutti.spi.Rendezvous;
import dev.tutti.spi.Transport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Ranks on one host, each of which is a thread of some process. Every rank has one region that all processes of the world map when
 * they start; {@link RegionDescriptor} shows what is in it.
 *
 * <p><b>Life.</b> {@link #open} makes the regions of this process's ranks, publishes a {@link Card} for each, maps those of all
 * others, and returns when everybody has done so. Communicators then find each other through the directories. A piece whose
 * members have all gone is given back at once; memory that a member might still touch, because it died or is stuck, is never used
 * for anything else. When the transport and all its communicators are closed, the regions are unmapped; the kernel frees them when the last
 * process has.
 */
public final class ShmTransport implements Transport {
    private static final long ALIVE_EVERY_NANOS = 100_000_000;
    private static final long FIRST_PARK_NANOS = 20_000;
    private static final long LONGEST_PARK_NANOS = 2_000_000;

    private final Mappings mappings;
    private final boolean oversubscribed;
    private final boolean mustFence;
    private final long joinTimeoutNanos;
    private final Map<Long, Shared> shared = new HashMap<>();
    private boolean closed;

    /** What the members of a communicator that are in this process share beside memory. */
    private static final class Shared {
        final AtomicReferenceArray<@Nullable Throwable> causes;
        int members;

        Shared(int ranks) {
            this.causes = new AtomicReferenceArray<>(ranks);
        }
    }

    private ShmTransport(Mappings mappings, long joinTimeoutNanos) {
        this.mappings = mappings;
        this.joinTimeoutNanos = joinTimeoutNanos;
        this.oversubscribed = mappings.regions.length > Runtime.getRuntime().availableProcessors();
        this.mustFence = !Arrays.stream(mappings.regions).allMatch(region -> region.card.sleepsWithBarrier());
    }

    /**
     * Joins a world.
     *
     * @param size how many ranks it has
     * @param localRanks those of this process
     * @param rendezvous where the others are met
     * @param timeoutNanos how long to wait for them, now and whenever a communicator is made
     */
    public static ShmTransport open(int size, int[] localRanks, Rendezvous rendezvous, long timeoutNanos) {
        return open(size, localRanks, rendezvous, timeoutNanos, false);
    }

    /** Tests use files where there is memfd. */
    static ShmTransport open(int size, int[] localRanks, Rendezvous rendezvous, long timeoutNanos, boolean asFile) {
        long deadline = System.nanoTime() + timeoutNanos;
        MemoryBudget budget = new MemoryBudget();
        Mappings mappings = new Mappings(size);
        try {
            for (int rank : localRanks) {
                OwnRegion own = OwnRegion.create(rank, asFile, budget);
                mappings.regions[rank] = own;
                rendezvous.put(Card.KEY + rank, own.card.encode());
            }
            for (int rank = 0; rank < size; rank++) {
                if (mappings.regions[rank] == null) {
                    Card card = Card.decode(rank, awaitCard(rank, rendezvous, deadline, timeoutNanos));
                    mappings.regions[rank] = map(card, budget, rendezvous);
                }
            }
            // Nobody's process may end before all have opened its memory.
            for (int rank : localRanks) {
                ((OwnRegion) mappings.regions[rank]).publishReady();
            }
            for (int rank = 0; rank < size; rank++) {
                Region region = mappings.regions[rank];
                await(
                        region,
                        deadline,
                        "map everybody's memory",
                        timeoutNanos,
                        rendezvous::requireEverybody,
                        region::isReady);
            }
            for (int rank : localRanks) {
                mappings.regions[rank].everybodyHasIt();
            }
            return new ShmTransport(mappings, timeoutNanos);
        } catch (RuntimeException thrown) {
            mappings.release();
            throw thrown;
        }
    }

    private static byte[] awaitCard(int rank, Rendezvous rendezvous, long deadline, long timeoutNanos) {
        try {
            return rendezvous.await(Card.KEY + rank, deadline);
        } catch (TuttiException failed) {
            throw failed.category() == TuttiException.Category.TIMEOUT
                    ? late("rank " + rank, rank, "share its memory", timeoutNanos, failed)
                    : failed;
        }
    }

    private static TuttiException late(
            String who, int rank, String what, long timeoutNanos, @Nullable Throwable cause) {
        return new TuttiException(
                TuttiException.Category.TIMEOUT,
                who + " did not " + what + " within " + timeoutNanos / 1_000_000
                        + " ms; is it in the same call? TUTTI_JOIN_TIMEOUT allows more time",
                cause,
                new TuttiException.Facts(null, null, List.of(rank)));
    }

    /** Maps a peer's memory. If it is not there, the peer may have given up because of somebody else: who failed first is named. */
    private static Region map(Card card, MemoryBudget budget, Rendezvous rendezvous) {
        try {
            return Region.open(card, budget);
        } catch (TuttiException failed) {
            rendezvous.requireEverybody();
            throw failed;
        }
    }

    /** A condition that a peer fulfils. */
    private interface Condition {
        boolean holds();
    }

    /**
     * Waits without burning a core; for threads of any kind.
     *
     * @param requireOthers throws, asked now and then, if another than this peer has failed, and this one with it
     */
    private static void await(
            Region peer, long deadline, String what, long timeoutNanos, Runnable requireOthers, Condition condition) {
        long parkNanos = FIRST_PARK_NANOS;
        long lookedAt = System.nanoTime();
        while (!condition.holds()) {
            long now = System.nanoTime();
            if (now - lookedAt >= ALIVE_EVERY_NANOS) {
                lookedAt = now;
                // In this order: whoever ends because of another has ended later.
                boolean alive = ProcessFacts.isAlive(peer.card.pid(), peer.card.startTime());
                requireOthers.run();
                if (!alive && !condition.holds()) {
                    throw new PeerFailedException(
                            who(peer) + " ended before it could " + what,
                            null,
                            new TuttiException.Facts(null, null, List.of(peer.rank)));
                }
            }
            if (now - deadline >= 0) {
                throw late(who(peer), peer.rank, what, timeoutNanos, null);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new AbortedException("interrupted while waiting for rank " + peer.rank + " to " + what, null);
            }
            LockSupport.parkNanos(peer, parkNanos);
            parkNanos = Math.min(2 * parkNanos, LONGEST_PARK_NANOS);
        }
    }

    private static String who(Region peer) {
        return "rank " + peer.rank + " (process " + peer.card.pid() + ")";
    }

    @Override
    public Fabric join(long id, int rank, int[] worldRanks, RegionLayout layout, Runnable stillWanted) {
        Shared here = enter(id, layout);
        Membership membership = new Membership(rank, worldRanks.clone(), layout, mappings, () -> leave(id, here));
        try {
            long deadline = System.nanoTime() + joinTimeoutNanos;
            // Own pieces first, so that ranks of one process can join one after the other on one thread.
            for (int member = 0; member < worldRanks.length; member++) {
                if (membership.regionOf(member) instanceof OwnRegion own) {
                    membership.entries[member] = own.enter(id, layout);
                }
            }
            for (int member = 0; member < worldRanks.length; member++) {
                if (membership.entries[member] == 0) {
                    membership.entries[member] = find(id, membership.regionOf(member), deadline, stillWanted);
                }
                requireSameLayout(worldRanks[member], layout, Directory.layout(membership.entries[member]));
            }
            return new ShmFabric(membership, oversubscribed, mustFence, here.causes);
        } catch (RuntimeException thrown) {
            membership.giveUp();
            throw thrown;
        }
    }

    private long find(long id, Region peer, long deadline, Runnable stillWanted) {
        long[] found = {peer.directory.find(id)};
        if (found[0] == 0) {
            long[] changes = {-1};
            await(peer, deadline, "join communicator " + Long.toHexString(id), joinTimeoutNanos, stillWanted, () -> {
                long now = peer.directory.changes();
                if (now != changes[0]) {
                    changes[0] = now;
                    found[0] = peer.directory.find(id);
                }
                if (found[0] == 0) {
                    // Costs little, and is asked more often than who is alive.
                    stillWanted.run();
                }
                return found[0] != 0;
            });
        }
        return found[0];
    }

    private static void requireSameLayout(int worldRank, RegionLayout mine, RegionLayout theirs) {
        if (!mine.equals(theirs)) {
            throw Card.refused(
                    worldRank,
                    "its settings are TUTTI_CHANNELS=" + theirs.channelsPerPeer() + ", TUTTI_PACKETS="
                            + theirs.packetBytes()
                            + ", TUTTI_SCRATCH=" + theirs.scratchBytes() + " for " + theirs.ranks()
                            + " ranks, this rank's are " + mine.channelsPerPeer() + ", " + mine.packetBytes() + ", "
                            + mine.scratchBytes() + " for " + mine.ranks() + "; give all ranks the same");
        }
    }

    private Shared enter(long id, RegionLayout layout) {
        synchronized (shared) {
            if (closed) {
                throw closed("a communicator");
            }
            Shared here = shared.computeIfAbsent(id, key -> new Shared(layout.ranks()));
            here.members++;
            return here;
        }
    }

    private static TuttiException closed(String what) {
        return new TuttiException(
                TuttiException.Category.USAGE,
                "cannot make " + what + ": the world has been closed; keep it open for as long as its ranks run",
                null);
    }

    private void leave(long id, Shared here) {
        synchronized (shared) {
            if (--here.members == 0) {
                shared.remove(id, here);
            }
        }
    }

    @Override
    public Allocation allocate(int worldRank, long bytes) {
        if (!(mappings.regions[worldRank] instanceof OwnRegion own)) {
            throw new IllegalArgumentException("rank " + worldRank + " is not in this process");
        }
        synchronized (shared) {
            if (closed) {
                throw closed("a buffer of rank " + worldRank);
            }
            mappings.retain();
        }
        try {
            long reserved = Math.max(RegionDescriptor.PAGE, bytes);
            long offset = own.carve(reserved, reserved, "a buffer");
            Arena arena = Arena.ofShared();
            MemorySegment memory = MemorySegment.ofAddress(own.base + offset).reinterpret(bytes, arena, null);
            return new Carved(own, offset, reserved, arena, memory, mappings);
        } catch (RuntimeException thrown) {
            mappings.release();
            throw thrown;
        }
    }

    /** Registered memory. Its arena turns a late access by the user into an exception. */
    private record Carved(
            OwnRegion region, long offset, long bytes, Arena arena, MemorySegment memory, Mappings mappings)
            implements Allocation {
        @Override
        public void free() {
            arena.close();
            region.give(offset, bytes);
            mappings.release();
        }
    }

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public void close() {
        synchronized (shared) {
            if (closed) {
                return;
            }
            closed = true;
        }
        mappings.release();
    }
}
