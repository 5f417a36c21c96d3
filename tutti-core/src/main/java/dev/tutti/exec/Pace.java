package dev.tutti.exec;

/**
 * How threads of a rank pass the time until what they wait for is there: they look again and again for a moment, then give the
 * core away between looks, then sleep. All of it is bounded by time, for a turn of a loop that takes ten nanoseconds takes a
 * microsecond before it is compiled. Only the very first turns are counted, so that a wait that is soon over never reads the clock.
 *
 * <p>A core that was given away and came back a little later is shared with somebody who does the same, most likely the very rank
 * that is waited for. Then looking again and again only keeps that rank from going on, so the next wait begins by giving the core
 * away; as soon as it comes back at once, nobody else wants it.
 */
public final class Pace {
    private static final int TURNS = 20;
    private static final int TURNS_ON_SHARED_CORES = 1;

    /** Longer than any exchange of small messages takes; a rank that has been put off its core is away for longer than this. */
    private static final long LOOK_NANOS = 50_000;

    /** To sleep and to be woken takes 20 to 60 µs, on the core of whoever wakes, too: less would be wasted by sleeping too soon. */
    private static final long SLEEP_AFTER_NANOS = 200_000;

    /** Giving a core away that nobody else wants takes less. */
    private static final long NOBODY_NANOS = 2_000;

    /** Whoever has kept the core for longer does not wait for anything. */
    private static final long STRANGER_NANOS = 500_000;

    private final int turns;
    private final long lookNanos;

    /** Whether the core was last shared with others who give it away. Any thread of the rank writes it; it need not be right. */
    private boolean crowded;

    Pace(boolean oversubscribed) {
        this.turns = oversubscribed ? TURNS_ON_SHARED_CORES : TURNS;
        this.lookNanos = oversubscribed ? 0 : LOOK_NANOS;
    }

    /** How many turns pass before the clock is read. */
    int turns() {
        return turns;
    }

    /**
     * Passes a moment.
     *
     * @param since when the wait began, or was last interrupted by something that happened
     * @param now {@link System#nanoTime}
     * @return false, and nothing has been done, when it is time to sleep
     */
    boolean pass(long since, long now) {
        long waited = now - since;
        if (waited < lookNanos && !crowded) {
            Thread.onSpinWait();
        } else if (waited < SLEEP_AFTER_NANOS) {
            Thread.yield();
            long took = System.nanoTime() - now;
            crowded = took > NOBODY_NANOS && took < STRANGER_NANOS;
        } else {
            return false;
        }
        return true;
    }
}
