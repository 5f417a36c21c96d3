package dev.tutti.plan.simulate;

import java.util.Arrays;
import java.util.List;

/** Signals on their way or not yet awaited, and who waits: one queue for each end of a channel and each semaphore. */
final class Tokens {
    static final int NOBODY = -1;

    private static final int NONE = -1;

    private final double[][] times;
    private final int[] head;
    private final int[] count;
    private final int[] firstWaiter;
    private final int[] nextWaiter;

    Tokens(List<Integer> initial, int lanes) {
        int queues = initial.size();
        this.times = new double[queues][];
        this.head = new int[queues];
        this.count = new int[queues];
        this.firstWaiter = new int[queues];
        this.nextWaiter = new int[lanes];
        Arrays.fill(firstWaiter, NONE);
        for (int queue = 0; queue < queues; queue++) {
            times[queue] = new double[Math.max(2, Integer.highestOneBit(Math.max(1, initial.get(queue))) * 2)];
            count[queue] = initial.get(queue);
        }
    }

    boolean has(int queue) {
        return count[queue] > 0;
    }

    double take(int queue) {
        double time = times[queue][head[queue]];
        head[queue] = (head[queue] + 1) & (times[queue].length - 1);
        count[queue]--;
        return time;
    }

    /** Gives the token to the first who waits, or keeps it. */
    int give(int queue, double time) {
        int waiter = firstWaiter[queue];
        if (waiter != NONE) {
            firstWaiter[queue] = nextWaiter[waiter];
            return waiter;
        }
        if (count[queue] == times[queue].length) {
            grow(queue);
        }
        times[queue][(head[queue] + count[queue]) & (times[queue].length - 1)] = time;
        count[queue]++;
        return NOBODY;
    }

    void await(int queue, int lane) {
        nextWaiter[lane] = NONE;
        if (firstWaiter[queue] == NONE) {
            firstWaiter[queue] = lane;
            return;
        }
        int last = firstWaiter[queue];
        while (nextWaiter[last] != NONE) {
            last = nextWaiter[last];
        }
        nextWaiter[last] = lane;
    }

    private void grow(int queue) {
        double[] old = times[queue];
        double[] larger = new double[2 * old.length];
        for (int i = 0; i < old.length; i++) {
            larger[i] = old[(head[queue] + i) & (old.length - 1)];
        }
        times[queue] = larger;
        head[queue] = 0;
    }
}
