package dev.tutti.plan.simulate;

import java.util.Arrays;

/**
 * Launches back to back on every rank. A rank begins the next one when its lanes are done with the last; Tutti's own plans also wait
 * until everybody has finished the one before the last, unless finishing a launch already proves that.
 */
final class Launches {
    /** Starts a rank's lanes. */
    interface Starter {
        void start(int rank, double time);
    }

    private final int ranks;
    private final long total;
    private final long rounds;
    private final boolean gated;
    private final int[] lanes;
    private final int[] running;
    private final long[] launch;
    private final double[] doneAt;
    /** Ranks that have finished a launch, and when the last of them did. */
    private final int[] finished;

    private final double[] ends;
    private final double[] parkedAt;
    private int done;

    Launches(int[] lanes, long calls, long rounds, boolean gated) {
        this.ranks = lanes.length;
        this.total = Math.multiplyExact(calls, rounds);
        this.rounds = rounds;
        this.gated = gated;
        this.lanes = lanes;
        this.running = lanes.clone();
        this.launch = new long[ranks];
        this.doneAt = new double[ranks];
        this.finished = new int[Math.toIntExact(total)];
        this.ends = new double[finished.length];
        this.parkedAt = new double[ranks];
        Arrays.fill(parkedAt, -1);
    }

    void begin(Starter starter) {
        for (int rank = 0; rank < ranks; rank++) {
            starter.start(rank, 0);
        }
    }

    long of(int rank) {
        return launch[rank];
    }

    boolean isLastWindow(int rank) {
        return launch[rank] % rounds == rounds - 1;
    }

    boolean areDone() {
        return done == ranks;
    }

    /** When the last rank finished a launch. */
    double end(long number) {
        return ends[(int) number];
    }

    long total() {
        return total;
    }

    void laneless(int rank, double time, Starter starter) {
        running[rank] = 1;
        laneDone(rank, time, starter);
    }

    void laneDone(int rank, double time, Starter starter) {
        doneAt[rank] = Math.max(doneAt[rank], time);
        if (--running[rank] > 0) {
            return;
        }
        int number = (int) launch[rank];
        double end = doneAt[rank];
        running[rank] = lanes[rank];
        finished[number]++;
        ends[number] = Math.max(ends[number], end);
        launch[rank]++;
        if (launch[rank] == total) {
            done++;
        } else if (mayBegin(launch[rank])) {
            starter.start(rank, Math.max(end, gateTime(launch[rank])));
        } else {
            parkedAt[rank] = end;
        }
        if (gated && finished[number] == ranks) {
            for (int other = 0; other < ranks; other++) {
                if (parkedAt[other] >= 0 && mayBegin(launch[other])) {
                    double from = Math.max(parkedAt[other], gateTime(launch[other]));
                    parkedAt[other] = -1;
                    starter.start(other, from);
                }
            }
        }
    }

    private boolean mayBegin(long number) {
        return !gated || number < 2 || finished[(int) number - 2] == ranks;
    }

    private double gateTime(long number) {
        return !gated || number < 2 ? 0 : ends[(int) number - 2];
    }
}
