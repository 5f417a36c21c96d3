package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.posix.Cores;
import dev.tutti.spi.RegionLayout;
import java.util.BitSet;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * Who shares a core with this rank. Every rank says on which core it last waited; that may be out of date by a fraction of a
 * millisecond, which costs time and nothing else. It is good for two things.
 *
 * <p><b>Whether to give the core away</b>, where there are more ranks than cores. It helps if somebody that has still to come runs
 * here. If all of those run elsewhere, it is two changes of process for nothing: whoever else is here waits for the same.
 *
 * <p><b>Where to be.</b> Everybody waits for the ranks of the fullest core, and the system is slow to even cores out. Those beyond
 * a core's share, counted by rank, leave it for one that has fewer. With a core for each, {@link Pace} notices who shares one.
 */
final class Neighbours {
    /** Asking for the core takes a tenth of what a change of process takes, and the answer seldom changes. */
    private static final long ASK_EVERY_NANOS = 200_000;

    /** How long a core has had too many before one leaves: so long that everybody has said where it is. */
    private static final long STAY_NANOS = 500_000;

    /** The system may have reasons of its own, such as other programs: no rank argues more often than this. */
    private static final long LEAVE_EVERY_NANOS = 5_000_000;

    /** The core of the calling thread; one class rather than two lambdas, which every first world would wait for. */
    private static final class Core implements IntSupplier, Predicate<BitSet> {
        @Override
        public int getAsInt() {
            return Cores.current();
        }

        @Override
        public boolean test(BitSet full) {
            return Cores.leave(full);
        }
    }

    private static final Core CORE = new Core();

    private final int rank;
    private final long[] places;
    private final IntSupplier current;
    private final Predicate<BitSet> leave;
    /** How many ranks a core has if all have as many. */
    private final int share;
    /** Not where ranks are few, nor if this rank may use one core only. */
    private boolean evensOut;
    /** One more than the number of this rank's core; 0 while it is not known. */
    private int own;

    private long askedAt;
    /** When this rank leaves, if it is one too many until then. */
    private long leaveAt;

    /** Ranks of a communicator whose members say where they are in these words of memory. */
    Neighbours(int rank, long[] places, int cores, long now, IntSupplier current, Predicate<BitSet> leave) {
        this.rank = rank;
        this.places = places;
        this.current = current;
        this.leave = leave;
        this.share = (places.length + cores - 1) / cores;
        this.evensOut = places.length > cores;
        this.askedAt = now - ASK_EVERY_NANOS;
        this.leaveAt = now + STAY_NANOS;
    }

    static Neighbours of(Endpoint endpoint) {
        long[] places = new long[endpoint.size];
        for (int peer = 0; peer < places.length; peer++) {
            places[peer] = endpoint.fabric.region(peer) + RegionLayout.CORE;
        }
        return new Neighbours(
                endpoint.rank, places, Runtime.getRuntime().availableProcessors(), System.nanoTime(), CORE, CORE);
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
            say();
            if (!isOneTooMany()) {
                leaveAt = now + Math.max(leaveAt - now, STAY_NANOS);
            } else if (now - leaveAt > 0) {
                evensOut = leave();
                leaveAt = now + LEAVE_EVERY_NANOS;
            }
        }
    }

    private boolean isOneTooMany() {
        return evensOut && own != 0 && ranksOn(own, rank) >= share;
    }

    /** Says where this rank is. */
    void say() {
        int core = current.getAsInt() + 1;
        if (core != own) {
            own = core;
            Memory.putIntOpaque(places[rank], core);
        }
    }

    /** Goes elsewhere, to a core that has not got its share if there is one; false if there is no other core at all. */
    boolean leave() {
        boolean left = leave.test(full());
        say();
        return left;
    }

    private BitSet full() {
        BitSet full = new BitSet();
        for (long place : places) {
            int core = Memory.getIntOpaque(place);
            if (core > 0 && ranksOn(core, places.length) >= share) {
                full.set(core - 1);
            }
        }
        return full;
    }

    /** How many of the first ranks were last on a core. */
    private int ranksOn(int core, int first) {
        int ranks = 0;
        for (int peer = 0; peer < first; peer++) {
            ranks += Memory.getIntOpaque(places[peer]) == core ? 1 : 0;
        }
        return ranks;
    }
}
