package dev.tutti;

import java.util.Locale;

/**
 * The operations that all ranks of a communicator call together. Each says in how many blocks its input and output are
 * laid out: an all-gather has one block in and one per rank out, a reduce-scatter the other way round.
 */
public enum Collective {
    /** Every rank gets the reduction of all ranks' arrays. */
    ALL_REDUCE("allReduce", true, false, false, false),
    /** The root gets the reduction of all ranks' arrays. */
    REDUCE("reduce", true, true, false, false),
    /** Every rank gets the root's array. */
    BROADCAST("broadcast", false, true, false, false),
    /** Every rank gets the concatenation of all ranks' arrays. */
    ALL_GATHER("allGather", false, false, false, true),
    /** Rank r gets block r of the reduction. */
    REDUCE_SCATTER("reduceScatter", true, false, true, false),
    /** The root gets the concatenation of all ranks' arrays. */
    GATHER("gather", false, true, false, true),
    /** Rank r gets block r of the root's array. */
    SCATTER("scatter", false, true, true, false),
    /** Rank r gets block r of every rank. */
    ALL_TO_ALL("allToAll", false, false, true, true),
    /** Nobody leaves before everybody came. */
    BARRIER("barrier", false, false, false, false),
    /** Rank r gets the reduction of ranks 0 to r. */
    SCAN("scan", true, false, false, false),
    /** Rank r gets the reduction of ranks 0 to r-1; rank 0's output stays as it was. */
    EXSCAN("exscan", true, false, false, false);

    private final String label;
    private final boolean reducing;
    private final boolean rooted;
    private final boolean inputPerRank;
    private final boolean outputPerRank;

    Collective(String label, boolean reducing, boolean rooted, boolean inputPerRank, boolean outputPerRank) {
        this.label = label;
        this.reducing = reducing;
        this.rooted = rooted;
        this.inputPerRank = inputPerRank;
        this.outputPerRank = outputPerRank;
    }

    /**
     * Whether a {@link ReduceOp} takes part.
     *
     * @return true for the reducing collectives
     */
    public boolean isReducing() {
        return reducing;
    }

    /**
     * Whether one rank plays a special part.
     *
     * @return true if calls name a root
     */
    public boolean isRooted() {
        return rooted;
    }

    /**
     * Blocks of the input.
     *
     * @param ranks size of the communicator
     * @return 1, or one per rank; 0 for a barrier
     */
    public int inputBlocks(int ranks) {
        return this == BARRIER ? 0 : inputPerRank ? ranks : 1;
    }

    /**
     * Blocks of the output.
     *
     * @param ranks size of the communicator
     * @return 1, or one per rank; 0 for a barrier
     */
    public int outputBlocks(int ranks) {
        return this == BARRIER ? 0 : outputPerRank ? ranks : 1;
    }

    /**
     * Whether finishing means to have heard, directly or through others, from every rank.
     *
     * @return true if every rank's output depends on every rank
     */
    public boolean hearsFromAll() {
        return !rooted && this != SCAN && this != EXSCAN;
    }

    /**
     * The name on the command line and in plan files, for example {@code all_reduce}.
     *
     * @return the name with underscores
     */
    public String commandName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The name of the method that runs it, for example {@code allReduce}.
     *
     * @return the method's name
     */
    @Override
    public String toString() {
        return label;
    }
}
