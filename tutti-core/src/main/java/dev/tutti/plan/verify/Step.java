package dev.tutti.plan.verify;

import dev.tutti.plan.Op;

/**
 * One thing that a lane does or waits for: operations that do several (a wait for two channels, a put of three pairs, a loop)
 * are several steps.
 */
final class Step {
    /** What the step does. */
    enum Kind {
        SIGNAL,
        WAIT,
        RELEASE,
        ACQUIRE,
        BARRIER,
        DATA
    }

    final Kind kind;
    final int rank;
    final int lane;
    /** Position of the operation in its lane, as plan files count: a loop is one operation. */
    final int index;
    /** Position inside the loop, or -1. */
    final int inner;

    final int iteration;
    final Op op;
    /** Counter, semaphore or barrier. */
    final int id;
    /** Lanes that meet at the barrier. */
    final int lanes;

    final Region[] sources;
    final Region[] destinations;
    /** What folds the sources; the empty string is the call's own operator. */
    final String operator;

    final boolean finishes;
    /** Whether packets are copied with their flags, arrived or not. */
    final boolean raw;

    private Step(
            Kind kind,
            Place place,
            int id,
            int lanes,
            Region[] sources,
            Region[] destinations,
            String operator,
            boolean raw) {
        this.kind = kind;
        this.rank = place.rank;
        this.lane = place.lane;
        this.index = place.index;
        this.inner = place.inner;
        this.iteration = place.iteration;
        this.op = place.op;
        this.id = id;
        this.lanes = lanes;
        this.sources = sources;
        this.destinations = destinations;
        this.operator = operator;
        this.finishes = place.op.finishes();
        this.raw = raw;
    }

    /** Where in the plan a step comes from. */
    record Place(int rank, int lane, int index, int inner, int iteration, Op op) {}

    static Step sync(Kind kind, Place place, int id) {
        return new Step(kind, place, id, 0, Region.NONE, Region.NONE, "", false);
    }

    static Step barrier(Place place, int id, int lanes) {
        return new Step(Kind.BARRIER, place, id, lanes, Region.NONE, Region.NONE, "", false);
    }

    static Step data(Place place, Region[] sources, Region[] destinations, String operator, boolean raw) {
        return new Step(Kind.DATA, place, -1, 0, sources, destinations, operator, raw);
    }

    @Override
    public String toString() {
        String where = "rank " + rank + " lane " + lane + " op " + index;
        if (inner >= 0) {
            where += "." + inner + " (iteration " + iteration + ")";
        }
        return where + " [" + op + "]";
    }
}
