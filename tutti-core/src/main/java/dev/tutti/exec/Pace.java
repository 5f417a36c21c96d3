package dev.tutti.exec;

/**
 * How threads of a rank pass the time until what they wait for is there: they look again and again, give the core away now and
 * then, and sleep at last. All of it is bounded by time, for a turn of a loop that takes ten nanoseconds takes a microsecond
 * before it is compiled. Only the very first turns are counted, so that a wait that is soon over never reads the clock.
 *
 * <p><b>With a core for each rank</b> whoever sleeps may find its core taken when it is woken, so sleep comes late, and a rank
 * mostly looks. Still two ranks may share a core for a while, and then looking only keeps the other from going on. Giving the core away
 * tells: if it comes back at once, nobody else wanted it, and there is no need to ask again soon. If it comes back a little later, it
 * is shared with somebody who gives it away as well, most likely the rank that is waited for: then it is given away at every
 * turn, from the first one of the next wait on; and as there is a core for each and the system leaves two together that have just run
 * together, one of them soon moves to another core, one without a rank if there is such. If it comes back after a whole time slice, somebody had it who waits for nothing; being
 * polite to those only loses time.
 *
 * <p><b>With more ranks than cores</b> what is waited for mostly needs the core: it is given away at every turn, unless all that is waited
 * for is known to run elsewhere ({@link Neighbours}); then it is kept for a moment.
 */
public final class Pace {
    private static final int TURNS = 20;
    private static final int TURNS_ON_SHARED_CORES = 1;

    /** Longer than any exchange of small messages takes. */
    private static final long LOOK_NANOS = 50_000;

    /** How long the answer counts that nobody else wants the core. */
    private static final long ALONE_NANOS = 200_000;

    private static final long SLEEP_AFTER_NANOS = 5_000_000;

    /**
     * Until when this JVM is young: its compilers want the cores, too. While one of them has a core, two ranks often share the other, so the core is
     * soon given away, at every turn. And if one of them has the core of the rank that is waited for, the system moves that rank at once to a
     * core where nobody looks, and else after milliseconds; so sleep comes as soon as no small message takes any longer.
     */
    private static final long YOUNG_UNTIL = System.nanoTime() + 3_000_000_000L;

    private static final long LOOK_WHILE_YOUNG_NANOS = 20_000;

    /** To sleep and to be woken takes 20 to 60 µs, on the core of whoever wakes, too: less would be wasted by sleeping too soon. */
    private static final long SLEEP_ON_SHARED_CORES_AFTER_NANOS = 200_000;

    /** Nothing but interrupts, deadlines and ranks that disagree waits for a sleeper to look: whatever else happens rings. */
    private static final long SHORTEST_SLEEP_NANOS = 1_000_000;

    private static final long LONGEST_SLEEP_NANOS = 500_000_000;

    /** Giving a core away that nobody else wants takes less. */
    private static final long NOBODY_NANOS = 2_000;

    /**
     * Whoever has kept the core for longer does not wait for anything. Longer than {@link #ALONE_NANOS}: else two ranks that share a core, each
     * sure to be alone, take each other for strangers, and go on so.
     */
    private static final long STRANGER_NANOS = 1_000_000;

    /**
     * How long a core is shared before a rank leaves it: at least so long, and up to four times as long. Drawn by lot, as both that share it want
     * to leave, and one is enough.
     */
    private static final long STAY_NANOS = 300_000;

    /**
     * How long a core is kept that nobody who is waited for needs: as long as a few changes of process on another core take. Whoever keeps
     * it in vain is wrong about who needs it, and does not try again for {@link #GIVE_NANOS}.
     */
    private static final long KEEP_NANOS = 5_000;

    private static final long GIVE_NANOS = 200_000;

    private final Neighbours neighbours;
    private final int turns;
    private final boolean shared;
    private final long sleepAfterNanos;

    // Any thread of the rank writes these; they need not be right.

    /** Whether the core was last shared with others who give it away. */
    private boolean crowded;

    /** When the core will have been shared for long enough; counts while it is {@link #crowded}. */
    private long leaveAt;

    /** Until when nobody else is expected to want the core. */
    private long aloneUntil;

    /** Whether a shared core is being kept, since when, and until when it is given away whoever needs it. */
    private boolean keeping;

    private long keptSince;
    private long givenUntil;

    Pace(boolean oversubscribed, Neighbours neighbours) {
        this.neighbours = neighbours;
        this.turns = oversubscribed ? TURNS_ON_SHARED_CORES : TURNS;
        this.shared = oversubscribed;
        this.sleepAfterNanos = oversubscribed ? SLEEP_ON_SHARED_CORES_AFTER_NANOS : SLEEP_AFTER_NANOS;
        this.aloneUntil = System.nanoTime();
        this.givenUntil = aloneUntil;
    }

    /** How many turns pass before the clock is read. */
    int turns() {
        return turns;
    }

    /** Whether there are more ranks than cores. */
    boolean isShared() {
        return shared;
    }

    /** How long to sleep at most before looking again: whoever has waited for a second can wait for another eighth. */
    static long sleepNanos(long waitedNanos) {
        return Math.clamp(waitedNanos / 8, SHORTEST_SLEEP_NANOS, LONGEST_SLEEP_NANOS);
    }

    /** Passes a moment of a wait that does not know who needs the core. */
    boolean pass(long since, long now) {
        return pass(since, now, true);
    }

    /**
     * Passes a moment.
     *
     * @param since when the wait began, or was last interrupted by something that happened
     * @param now {@link System#nanoTime}
     * @param coreWanted whether somebody who is waited for may need this core, if there are more ranks than cores
     * @return false, and nothing has been done, when it is time to sleep
     */
    boolean pass(long since, long now, boolean coreWanted) {
        long waited = now - since;
        boolean young = !shared && now - YOUNG_UNTIL < 0;
        if (waited >= (young ? LOOK_NANOS : sleepAfterNanos)) {
            return false;
        }
        if (young) {
            if (waited < LOOK_WHILE_YOUNG_NANOS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        } else if (shared) {
            if (coreWanted || !keeps(since, now)) {
                keeping = false;
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        } else if (!crowded && (waited < LOOK_NANOS || now - aloneUntil < 0)) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
            long took = System.nanoTime() - now;
            meet(took > NOBODY_NANOS && took < STRANGER_NANOS, now + took);
        }
        return true;
    }

    /** Whether a core that nobody seems to need is kept for another moment. */
    boolean keeps(long since, long now) {
        if (now - givenUntil < 0) {
            return false;
        }
        if (!keeping || now == since) {
            keeping = true;
            keptSince = now;
        } else if (now - keptSince > KEEP_NANOS) {
            givenUntil = now + GIVE_NANOS;
            return false;
        }
        return true;
    }

    private void meet(boolean others, long now) {
        if (others && !crowded) {
            leaveAt = now + STAY_NANOS + Math.floorMod(Signature.mix(now), 3 * STAY_NANOS);
        } else if (others && now - leaveAt > 0) {
            neighbours.leave();
            others = false;
        } else if (!others) {
            neighbours.say();
        }
        crowded = others;
        aloneUntil = now + ALONE_NANOS;
    }
}
