package dev.tutti.matrix;

import dev.tutti.Collective;

/** The calls that there are: collectives, with their variants for lists and for counts. */
enum Operation {
    BARRIER(Collective.BARRIER),
    ALL_REDUCE(Collective.ALL_REDUCE),
    ALL_REDUCE_LIST(Collective.ALL_REDUCE),
    REDUCE(Collective.REDUCE),
    BROADCAST(Collective.BROADCAST),
    BROADCAST_LIST(Collective.BROADCAST),
    ALL_GATHER(Collective.ALL_GATHER),
    ALL_GATHER_V(Collective.ALL_GATHER),
    REDUCE_SCATTER(Collective.REDUCE_SCATTER),
    REDUCE_SCATTER_V(Collective.REDUCE_SCATTER),
    GATHER(Collective.GATHER),
    GATHER_V(Collective.GATHER),
    SCATTER(Collective.SCATTER),
    SCATTER_V(Collective.SCATTER),
    ALL_TO_ALL(Collective.ALL_TO_ALL),
    ALL_TO_ALL_V(Collective.ALL_TO_ALL),
    SCAN(Collective.SCAN),
    EXSCAN(Collective.EXSCAN);

    final Collective collective;

    Operation(Collective collective) {
        this.collective = collective;
    }

    boolean isRagged() {
        return name().endsWith("_V");
    }

    boolean isList() {
        return name().endsWith("_LIST");
    }

    /** Whether passing the same memory as input and output is one of the ways to call it. */
    boolean hasInPlace() {
        return this != BARRIER && !isRagged();
    }

    boolean hasOutOfPlace() {
        return !isList();
    }
}
