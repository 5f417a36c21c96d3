package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.posix.Cores;
import dev.tutti.spi.RegionLayout;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * Who shares a core with this rank, where there are more ranks than cores. Every rank says on which core it last waited; that may be
 * out of date by a fraction of a millisecond, which costs time and nothing else. It is good for two things.
 *
 * <p><b>Whether to give the core away.</b> It helps if somebody that has still to come runs here. If all of those run elsewhere, it
 * is two changes of process for nothing: whoever else is here waits for the same.
 *
 * <p><b>Where to be.</b> Everybody waits for the ranks of the fullest core, and the system is slow to even cores out. Those beyond
 * a core's share, counted by rank, leave it.
 */
final class Neighbours {
    /** Asking for the core takes a tenth of what a change of process takes, and the answer seldom changes. */
    private static final long ASK_EVERY_NANOS = 200_000;

    /** How long a core has had too many before one leaves: so long that everybody has said where it is. */
    private static final long STAY_NANOS = 500_000;

    /** The system may have reasons of its own, such as other programs: no rank argues more often than this. */
    private static final long LEAVE_EVERY_NANOS = 5_000_000;

    private final int rank;
    private final long[] places;
    private final IntSupplier current;
    private final BooleanSupplier leave;
    /** One more than the number of this rank's core; 0 while it is not known. */
    private int own;

    private long askedAt;
    /** How many ranks a core has if all have as many. No limit for a rank that may use one core only, and where ranks are few. */
    private int share;
    /** When this rank leaves, if it is one too many until then. */
    private long leaveAt;

    /** Ranks of a communicator whose members say where they are in these words of memory. */
    Neighbours(int rank, long[] places, int cores, long now, IntSupplier current, BooleanSupplier leave) {
        this.rank = rank;
        this.places = places;
        this.current = current;
        this.leave = leave;
        this.share = places.length > cores ? (places.length + cores - 1) / cores : Integer.MAX_VALUE;
        this.askedAt = now - ASK_EVERY_NANOS;
        this.leaveAt = now + STAY_NANOS;
    }

    static Neighbours of(Endpoint endpoint) {
        long[] places = new long[endpoint.size];
        for (int peer = 0; peer < places.length; peer++) {
            places[peer] = endpoint.fabric.region(peer) + RegionLayout.CORE;
        }
        return new Neighbours(
                endpoint.rank,
                places,
                Runtime.getRuntime().availableProcessors(),
                System.nanoTime(),
                Cores::current,
                Cores::leave);
    }

    /** Whether a rank may need this rank's core in order to run. */
    boolean isHere(int peer) {
        int core = Memory.getIntOpaque(places[peer]);
        return core == own || core == 0 || own == 0;
    }

    /** Says where this rank is, and goes elsewhere if it is one too many here. */
    void look(long now) {
        if (now - askedAt >= ASK_EVERY_NANOS) {
            askedAt = now;
            int core = current.getAsInt() + 1;
            if (core != own) {
                own = core;
                Memory.putIntOpaque(places[rank], core);
            }
            if (!isOneTooMany()) {
                leaveAt = now + Math.max(leaveAt - now, STAY_NANOS);
            } else if (now - leaveAt > 0) {
                leave(now);
            }
        }
    }

    private boolean isOneTooMany() {
        int before = 0;
        for (int peer = 0; peer < rank; peer++) {
            before += Memory.getIntOpaque(places[peer]) == own ? 1 : 0;
        }
        return own != 0 && before >= share;
    }

    private void leave(long now) {
        if (leave.getAsBoolean()) {
            leaveAt = now + LEAVE_EVERY_NANOS;
            askedAt = now - ASK_EVERY_NANOS;
        } else {
            share = Integer.MAX_VALUE;
        }
    }
}
