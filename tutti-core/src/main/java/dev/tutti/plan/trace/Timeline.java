package dev.tutti.plan.trace;

import java.util.Arrays;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/** What every lane did when: one span for each operation, from the moment the lane came to it to its end. */
public final class Timeline {
    private int[] ranks = new int[64];
    private int[] lanes = new int[64];
    private int[] ops = new int[64];
    private int[] inners = new int[64];
    private int[] launches = new int[64];
    private double[] starts = new double[64];
    private double[] ends = new double[64];
    private final SortedMap<Integer, Long> dropped = new TreeMap<>();
    private int size;

    /** An empty one. */
    public Timeline() {}

    /**
     * One operation of one lane.
     *
     * @param rank whose
     * @param lane which lane of the rank
     * @param op index of the operation in its lane
     * @param inner index in the loop that stands there, or -1
     * @param launch which launch, from 0
     * @param startNanos when the lane came to it; waiting is part of it
     * @param endNanos when the lane went on
     */
    public record Span(int rank, int lane, int op, int inner, int launch, double startNanos, double endNanos) {}

    /**
     * Adds a span.
     *
     * @param rank whose
     * @param lane which lane of the rank
     * @param op index of the operation in its lane
     * @param inner index in the loop that stands there, or -1
     * @param launch which launch, from 0
     * @param startNanos when the lane came to it
     * @param endNanos when the lane went on
     */
    public void add(int rank, int lane, int op, int inner, long launch, double startNanos, double endNanos) {
        if (size == ops.length) {
            ranks = Arrays.copyOf(ranks, 2 * size);
            lanes = Arrays.copyOf(lanes, 2 * size);
            ops = Arrays.copyOf(ops, 2 * size);
            inners = Arrays.copyOf(inners, 2 * size);
            launches = Arrays.copyOf(launches, 2 * size);
            starts = Arrays.copyOf(starts, 2 * size);
            ends = Arrays.copyOf(ends, 2 * size);
        }
        ranks[size] = rank;
        lanes[size] = lane;
        ops[size] = op;
        inners[size] = inner;
        launches[size] = (int) launch;
        starts[size] = startNanos;
        ends[size] = endNanos;
        size++;
    }

    /**
     * Notes that spans are missing, because whoever recorded them had no room for more.
     *
     * @param rank whose
     * @param spans how many; may be 0
     */
    public void drop(int rank, long spans) {
        if (spans > 0) {
            dropped.merge(rank, spans, Long::sum);
        }
    }

    /**
     * How many spans are missing, by rank.
     *
     * @return only ranks of which some are
     */
    public SortedMap<Integer, Long> dropped() {
        return Collections.unmodifiableSortedMap(dropped);
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
     * One span, in the order in which they were added.
     *
     * @param index 0 to size-1
     * @return the span
     */
    public Span span(int index) {
        return new Span(
                ranks[index], lanes[index], ops[index], inners[index], launches[index], starts[index], ends[index]);
    }
}
