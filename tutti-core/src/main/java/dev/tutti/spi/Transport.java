package dev.tutti.spi;

/**
 * Joins ranks so that they can reach each other's memory. A communicator asks its transport once, when it is made; after that
 * everything goes through the {@link Fabric}.
 */
public interface Transport extends AutoCloseable {
    /**
     * Makes this rank's region for a new communicator and finds those of the others. All members call it with the same id and
     * layout, in any order.
     *
     * @param id names the communicator among all of this world
     * @param rank this rank's number in it
     * @param worldRanks the members' numbers in the world, in the order of their numbers in the communicator
     * @param layout what each region must hold
     * @param stillWanted called now and then while this waits; throws if there is no use in waiting any longer
     * @return the members' memory as this rank sees it
     */
    Fabric join(long id, int rank, int[] worldRanks, RegionLayout layout, Runnable stillWanted);

    /**
     * Like the other, waiting as long as it may.
     *
     * @param id names the communicator among all of this world
     * @param rank this rank's number in it
     * @param worldRanks the members' ranks in the world, by their rank in the communicator
     * @param layout what each region must hold
     * @return the members' memory as this rank sees it
     */
    default Fabric join(long id, int rank, int[] worldRanks, RegionLayout layout) {
        return join(id, rank, worldRanks, layout, () -> {});
    }

    /**
     * Registered memory for a rank of this process. Every {@link Fabric} of this transport finds it on all members.
     *
     * @param worldRank whose
     * @param bytes how many, 0 or more
     * @return zeroed memory on a page boundary
     */
    Allocation allocate(int worldRank, long bytes);

    /**
     * The name on the command line and in messages.
     *
     * @return for example {@code local}
     */
    String name();

    @Override
    void close();
}
