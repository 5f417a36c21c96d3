package dev.tutti.plan.simulate;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Who runs. On hosts a rank is one thread, and its lanes take turns. With more ranks than cores a rank that blocks spins for a moment and then
 * gives its core to the one that has waited longest, which costs time; if nobody waits it keeps the core. A rank that has been blocked for
 * long has gone to sleep, and must be woken.
 */
final class Cores {
    private static final int FREE = -1;

    private final boolean threads;
    private final boolean limited;
    private final Costs costs;
    private final EventQueue events;
    private final double[] busyUntil;
    /** Lanes of a rank that run, or could if the rank had a core. */
    private final int[] runnable;
    /** When a rank had nothing more to run. */
    private final double[] blockedAt;
    /** The core that a rank has, or -1. */
    private final int[] coreOf;
    /** Who has a core. */
    private final int[] holder;

    private final ArrayDeque<Integer> queue = new ArrayDeque<>();
    private final boolean[] queued;
    private final int[][] parked;
    /** Lanes that count as runnable. */
    private final boolean[] counted;

    private int entered;

    Cores(Costs costs, int ranks, int lanes, EventQueue events) {
        this.threads = costs.cores() > 0;
        this.limited = threads && ranks > costs.cores();
        this.costs = costs;
        this.events = events;
        this.busyUntil = new double[ranks];
        this.runnable = new int[ranks];
        this.blockedAt = new double[ranks];
        this.coreOf = new int[ranks];
        this.holder = new int[Math.max(1, costs.cores())];
        this.queued = new boolean[ranks];
        this.parked = new int[ranks][];
        this.counted = new boolean[lanes];
        Arrays.fill(coreOf, FREE);
        Arrays.fill(holder, FREE);
        Arrays.fill(parked, new int[0]);
    }

    /** A lane can go on at a time. */
    void ready(int rank, int lane, double time) {
        boolean asleep = limited && runnable[rank] == 0 && time - blockedAt[rank] > costs.patienceNanos();
        events.push(asleep ? time + costs.wakeNanos() : time, lane);
    }

    /** Lets a lane run: when, or -1 if it has to wait for a core; it is then called again. */
    double enter(int rank, int lane, double time) {
        if (!threads) {
            return time;
        }
        if (limited) {
            if (!counted[lane]) {
                counted[lane] = true;
                runnable[rank]++;
            }
            if (coreOf[rank] == FREE && !take(rank, lane, time)) {
                return -1;
            }
        }
        if (busyUntil[rank] > time) {
            events.push(busyUntil[rank], lane);
            return -1;
        }
        entered = lane;
        return time;
    }

    /** The rank's thread is busy until then. */
    void busy(int rank, double until) {
        busyUntil[rank] = Math.max(busyUntil[rank], until);
    }

    /** The lane that entered last waits, or is done. */
    void block(int rank, double time) {
        if (!limited) {
            return;
        }
        counted[entered] = false;
        runnable[rank]--;
        if (runnable[rank] > 0) {
            return;
        }
        blockedAt[rank] = time;
        Integer next = queue.poll();
        if (next != null) {
            unpark(next, time + costs.spinNanos());
        }
    }

    /** Has the lanes of a rank that waits for a core ask again. */
    private void unpark(int rank, double time) {
        queued[rank] = false;
        for (int lane : parked[rank]) {
            events.push(Math.max(time, busyUntil[rank]), lane);
        }
        parked[rank] = new int[0];
    }

    /** Takes a core that is free, or whose rank has spun long enough; else the lane waits, for the spinning to end or in the queue. */
    private boolean take(int rank, int lane, double time) {
        double soonest = Double.POSITIVE_INFINITY;
        int found = FREE;
        for (int core = 0; core < holder.length; core++) {
            int other = holder[core];
            double from = other == FREE
                    ? Double.NEGATIVE_INFINITY
                    : runnable[other] > 0 ? Double.POSITIVE_INFINITY : blockedAt[other] + costs.spinNanos();
            if (from < soonest) {
                soonest = from;
                found = core;
            }
        }
        if (soonest <= time) {
            if (holder[found] != FREE) {
                coreOf[holder[found]] = FREE;
                busyUntil[rank] = Math.max(busyUntil[rank], time + costs.switchNanos());
            }
            holder[found] = rank;
            coreOf[rank] = found;
            if (queued[rank]) {
                // One of its lanes was to ask again later than this one.
                queue.remove(rank);
                unpark(rank, time);
            }
            return true;
        }
        if (soonest < Double.POSITIVE_INFINITY) {
            events.push(soonest, lane);
        } else {
            park(rank, lane);
        }
        return false;
    }

    private void park(int rank, int lane) {
        if (!queued[rank]) {
            queued[rank] = true;
            queue.add(rank);
        }
        parked[rank] = Arrays.copyOf(parked[rank], parked[rank].length + 1);
        parked[rank][parked[rank].length - 1] = lane;
    }
}
