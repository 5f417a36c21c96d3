package dev.tutti.plan.simulate;

import java.util.Arrays;

/** What every lane did when: one span for each operation, from the moment the lane came to it to its end. */
public final class Timeline {
    private int[] places = new int[64];
    private int[] ops = new int[64];
    private int[] launches = new int[64];
    private double[] starts = new double[64];
    private double[] ends = new double[64];
    private int size;

    Timeline() {}

    /**
     * One operation of one lane.
     *
     * @param rank whose
     * @param lane which lane of the rank
     * @param op index of the operation in its lane; those inside a loop have the loop's
     * @param launch which launch, from 0
     * @param startNanos when the lane came to it; waiting is part of it
     * @param endNanos when the lane went on
     */
    public record Span(int rank, int lane, int op, int launch, double startNanos, double endNanos) {}

    void add(int rank, int lane, int op, long launch, double start, double end) {
        if (size == ops.length) {
            places = Arrays.copyOf(places, 2 * size);
            ops = Arrays.copyOf(ops, 2 * size);
            launches = Arrays.copyOf(launches, 2 * size);
            starts = Arrays.copyOf(starts, 2 * size);
            ends = Arrays.copyOf(ends, 2 * size);
        }
        places[size] = (rank << 10) | lane;
        ops[size] = op;
        launches[size] = (int) launch;
        starts[size] = start;
        ends[size] = end;
        size++;
    }

    /**
     * How many spans there are.
     *
     * @return the number
     */
    public int size() {
        return size;
    }

    /**
     * One span, in the order in which they ended.
     *
     * @param index 0 to size-1
     * @return the span
     */
    public Span span(int index) {
        return new Span(
                places[index] >>> 10, places[index] & 1023, ops[index], launches[index], starts[index], ends[index]);
    }
}
