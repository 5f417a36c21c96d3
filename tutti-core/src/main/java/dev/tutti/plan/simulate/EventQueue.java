package dev.tutti.plan.simulate;

/** When each lane goes on: a binary heap of lanes by time, each in it at most once; of equal times the lower lane first. */
final class EventQueue {
    private final double[] times;
    private final int[] lanes;
    private int size;

    EventQueue(int lanes) {
        this.times = new double[lanes + 1];
        this.lanes = new int[lanes + 1];
    }

    boolean isEmpty() {
        return size == 0;
    }

    double firstTime() {
        return size == 0 ? Double.POSITIVE_INFINITY : times[0];
    }

    int firstLane() {
        return lanes[0];
    }

    void push(double time, int lane) {
        int at = size++;
        while (at > 0) {
            int parent = (at - 1) / 2;
            if (!isBefore(time, lane, parent)) {
                break;
            }
            times[at] = times[parent];
            lanes[at] = lanes[parent];
            at = parent;
        }
        times[at] = time;
        lanes[at] = lane;
    }

    void pop() {
        size--;
        double time = times[size];
        int lane = lanes[size];
        int at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && isBefore(times[child + 1], lanes[child + 1], child)) {
                child++;
            }
            if (isBefore(time, lane, child)) {
                break;
            }
            times[at] = times[child];
            lanes[at] = lanes[child];
            at = child;
        }
        times[at] = time;
        lanes[at] = lane;
    }

    private boolean isBefore(double time, int lane, int other) {
        return time < times[other] || (time == times[other] && lane < lanes[other]);
    }
}
