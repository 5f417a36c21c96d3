package dev.tutti.plan.language;

/** Where the threads of a lane meet round a synchronising operation; hosts have one thread per lane and need none of it. */
public enum DataSync {
    /** Nowhere. */
    NONE,
    /** Before it. */
    BEFORE,
    /** After it. */
    AFTER,
    /** Before and after it. */
    BOTH;

    boolean before() {
        return this == BEFORE || this == BOTH;
    }

    boolean after() {
        return this == AFTER || this == BOTH;
    }

    DataSync and(DataSync other) {
        boolean first = before() || other.before();
        boolean second = after() || other.after();
        return first ? second ? BOTH : BEFORE : second ? AFTER : NONE;
    }
}
