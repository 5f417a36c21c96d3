package dev.tutti.plan.simulate;

/**
 * Links between ranks. A transfer takes the links of its route one behind the other: it may enter a link when its head has left
 * the one before and the link has finished earlier transfers, and holds it for bytes / bandwidth. So ports serve in the order of
 * arrival, one transfer at a time, which gives the same throughput as sharing them fairly.
 */
interface Network {
    /** How many links there are. */
    int links();

    /** Time that a byte takes on a link. */
    double nanosPerByte(int link);

    /**
     * Writes the links from one rank to another into an array, ports of the sender first, those of the receiver last.
     *
     * @return how many links
     */
    int route(int from, int to, int[] links);

    /** From the first byte's leaving to its arrival when all links are free. */
    double latencyNanos(int from, int to);

    /** The most links that a route has. */
    int longestRoute();

    /** Moving all ranks by this many places, round the end, gives the same network again; the number of ranks if nothing less. */
    int period();

    /** The link that stands for this one when all ranks are moved by multiples of the period to the first ones. */
    int represent(int link, int period);

    /** What a link is, for people. */
    String describe(int link);
}
