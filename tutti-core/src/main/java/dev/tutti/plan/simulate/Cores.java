package dev.tutti.plan.simulate;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Who runs. On hosts a rank is one thread: its lanes take turns, and with more ranks than cores a rank that blocks gives its core to
 * the one that has waited longest, which costs time unless it was there before.
 */
final class Cores {
    private static final int FREE = -1;

    private final boolean threads;
    private final boolean limited;
    private final double switchNanos;
    private final EventQueue events;
    private final double[] busyUntil;
    /** Lanes of a rank that run, or could if the rank had a core. */
    private final int[] runnable;
    /** The core that a rank has, or -1. */
    private final int[] coreOf;
    /** Who has a core now, and who had it last. */
    private final int[] holder;

    private final int[] last;
    private final ArrayDeque<Integer> queue = new ArrayDeque<>();
    private final boolean[] queued;
    private final int[][] parked;
    /** Lanes that count as runnable. */
    private final boolean[] counted;

    Cores(Costs costs, int ranks, int lanes, EventQueue events) {
        this.threads = costs.cores() > 0;
        this.limited = threads && ranks > costs.cores();
        this.switchNanos = costs.switchNanos();
        this.events = events;
        this.busyUntil = new double[ranks];
        this.runnable = new int[ranks];
        this.coreOf = new int[ranks];
        this.holder = new int[Math.max(1, costs.cores())];
        this.last = new int[holder.length];
        this.queued = new boolean[ranks];
        this.parked = new int[ranks][];
        this.counted = new boolean[lanes];
        Arrays.fill(coreOf, FREE);
        Arrays.fill(holder, FREE);
        Arrays.fill(last, FREE);
        Arrays.fill(parked, new int[0]);
    }

    /** A lane can go on at a time. */
    void ready(int rank, int lane, double time) {
        events.push(time, lane);
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
            if (coreOf[rank] == FREE && !take(rank, time)) {
                park(rank, lane);
                return -1;
            }
        }
        if (busyUntil[rank] > time) {
            events.push(busyUntil[rank], lane);
            return -1;
        }
        this.entered = lane;
        return time;
    }

    private int entered;

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
        int core = coreOf[rank];
        coreOf[rank] = FREE;
        holder[core] = FREE;
        Integer next = queue.poll();
        if (next != null) {
            queued[next] = false;
            give(core, next, time);
            for (int lane : parked[next]) {
                events.push(Math.max(time, busyUntil[next]), lane);
            }
            parked[next] = new int[0];
        }
    }

    private boolean take(int rank, double time) {
        int free = FREE;
        for (int core = 0; core < holder.length; core++) {
            if (holder[core] == FREE && (free == FREE || last[core] == rank)) {
                free = core;
            }
        }
        if (free == FREE) {
            return false;
        }
        give(free, rank, time);
        return true;
    }

    private void give(int core, int rank, double time) {
        holder[core] = rank;
        coreOf[rank] = core;
        if (last[core] != rank && last[core] != FREE) {
            busyUntil[rank] = Math.max(busyUntil[rank], time + switchNanos);
        }
        last[core] = rank;
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
