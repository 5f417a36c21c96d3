package dev.tutti.transport;

import dev.tutti.TuttiException;
import dev.tutti.spi.Rendezvous;
import dev.tutti.spi.Transport;
import dev.tutti.transport.local.LocalTransport;
import dev.tutti.transport.shm.ShmTransport;
import java.util.List;

/**
 * Chooses how each pair of ranks reach each other, best first, and opens what a world needs. A new transport is one more
 * {@link Way}.
 */
public final class Selector {
    /** How two ranks reach each other; each way can also do what those before it do. */
    public enum Way {
        /** In the same process. */
        LOCAL,
        /** In processes that can map each other's memory. */
        SHARED_MEMORY
    }

    /**
     * Where a rank is.
     *
     * @param host tells hosts, and containers whose processes do not see each other, apart
     * @param pid its process
     */
    public record Location(String host, long pid) {}

    private Selector() {}

    /**
     * The best way between two ranks.
     *
     * @throws TuttiException if there is none
     */
    public static Way between(int one, int other, List<Location> ranks) {
        Location here = ranks.get(one);
        Location there = ranks.get(other);
        if (!here.host().equals(there.host())) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "no transport joins rank " + one + " on " + here.host() + " and rank " + other + " on "
                            + there.host() + ": ranks of a world must run on one host, in containers that share /proc",
                    null);
        }
        return here.pid() == there.pid() ? Way.LOCAL : Way.SHARED_MEMORY;
    }

    /**
     * Opens the transport that can do what every pair of ranks needs.
     *
     * @param ranks where all ranks are
     * @param localRanks those of this process
     * @param rendezvous where the others are met
     * @param timeoutNanos how long to wait for them
     */
    public static Transport open(List<Location> ranks, int[] localRanks, Rendezvous rendezvous, long timeoutNanos) {
        // Ranks of one process that joined apart do not share a local transport.
        Way needed = localRanks.length == ranks.size() ? Way.LOCAL : Way.SHARED_MEMORY;
        for (int rank = 1; rank < ranks.size(); rank++) {
            // Ways are transitive: whoever reaches rank 0 so reaches everybody who does.
            Way way = between(0, rank, ranks);
            needed = way.compareTo(needed) > 0 ? way : needed;
        }
        return switch (needed) {
            case LOCAL -> new LocalTransport(ranks.size());
            case SHARED_MEMORY -> ShmTransport.open(ranks.size(), localRanks, rendezvous, timeoutNanos);
        };
    }
}
