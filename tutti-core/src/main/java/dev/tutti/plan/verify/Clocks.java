package dev.tutti.plan.verify;

import dev.tutti.plan.verify.Cells.Cell;
import java.util.Arrays;

/** For each thread what it knows to have happened: of every thread, up to which of its ticks. */
final class Clocks {
    static final int ENTERED = 0;
    static final int LEFT = 1;

    private final Run run;
    private final int[][] clock;
    /** For each thread, which of its steps a tick belongs to. */
    private final int[][] stepAt;
    /** What callers knew when they entered and left: [phase][rank][launch]. */
    private final int[][][][] published;

    Clocks(Run run, int threads) {
        this.run = run;
        this.clock = new int[threads][threads];
        this.stepAt = new int[threads][16];
        this.published = new int[2][run.script.ranks][run.script.launches][];
    }

    void tick(int thread) {
        if (clock.length == 0) {
            return;
        }
        int now = ++clock[thread][thread];
        if (now >= stepAt[thread].length) {
            stepAt[thread] = Arrays.copyOf(stepAt[thread], 2 * now);
        }
        stepAt[thread][now] = run.taken[thread] + 1;
    }

    int own(int thread) {
        return clock[thread][thread];
    }

    int[] snapshot(int thread) {
        return clock.length == 0 ? NONE : clock[thread].clone();
    }

    private static final int[] NONE = {};

    /** Whether a thread knows that another has come to one of its ticks. */
    boolean knows(int thread, int other, int tick) {
        return other == Cell.NOBODY || clock[thread][other] >= tick;
    }

    void join(int thread, int[] known) {
        if (clock.length == 0) {
            return;
        }
        int[] mine = clock[thread];
        for (int i = 0; i < mine.length; i++) {
            mine[i] = Math.max(mine[i], known[i]);
        }
    }

    void join(int thread, int other) {
        if (clock.length > 0) {
            join(thread, clock[other]);
        }
    }

    void publish(int rank, int launch, int phase) {
        published[phase][rank][launch] = snapshot(rank);
    }

    void joinAll(int thread, int launch, int phase) {
        for (int rank = 0; rank < published[phase].length; rank++) {
            join(thread, published[phase][rank][launch]);
        }
    }

    /** Whether a rank's caller knows that another rank has entered a launch. */
    boolean knowsEntry(int rank, int other, int launch) {
        int[] entry = published[ENTERED][other][launch];
        return entry != null && clock[rank][other] >= entry[other];
    }

    /** How many of its steps a thread must have taken to have come to a tick. */
    int stepsUntil(int thread, int tick) {
        return tick == 0 ? 0 : stepAt[thread][tick];
    }
}
