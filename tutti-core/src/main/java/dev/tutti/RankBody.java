package dev.tutti;

/** What each rank of a {@link World} runs. */
@FunctionalInterface
public interface RankBody {
    /**
     * Runs one rank.
     *
     * @param comm the communicator of all ranks
     * @throws Exception whatever goes wrong; the other ranks then end with it as their cause
     */
    void run(Communicator comm) throws Exception;

    /**
     * What each rank of a {@link World} computes.
     *
     * @param <T> the result
     */
    @FunctionalInterface
    interface Returning<T> {
        /**
         * Runs one rank.
         *
         * @param comm the communicator of all ranks
         * @return this rank's result
         * @throws Exception whatever goes wrong; the other ranks then end with it as their cause
         */
        T call(Communicator comm) throws Exception;
    }
}
