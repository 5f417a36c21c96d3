package dev.tutti.spi;

import org.jspecify.annotations.Nullable;

/**
 * The memory of all members of one communicator as one of them sees it: what a transport hands to the executor. Addresses
 * stay good for as long as this object is reachable.
 */
public interface Fabric {
    /**
     * Where things lie in each region; the same for all members.
     *
     * @return the layout
     */
    RegionLayout layout();

    /**
     * A member's region.
     *
     * @param rank whose
     * @return its address in this process
     */
    long region(int rank);

    /**
     * A member's scratch; made if nobody has needed it before.
     *
     * @param rank whose
     * @return its address in this process
     */
    long scratch(int rank);

    /**
     * The ring through which one member sends messages to another; made, zeroed, if nobody has needed it before.
     *
     * @param from who writes to it
     * @param to who reads it, and whose memory it is
     * @param bytes how long it is; the same for all
     * @return its address in this process, on a boundary of 128 bytes
     */
    long ring(int from, int to, long bytes);

    /**
     * Like {@link #ring}, but makes nothing.
     *
     * @param from who writes to it
     * @param to who reads it
     * @return its address in this process, or 0 if nobody has needed it before
     */
    long ringIfMade(int from, int to);

    /**
     * Whether there are more ranks on this host than cores, so that spinning would keep peers from running.
     *
     * @return true if waits should give the core away soon
     */
    boolean isOversubscribed();

    /**
     * Keeps what made a rank abort, for the others in this process.
     *
     * @param rank who aborted
     * @param cause why
     */
    void keepCause(int rank, Throwable cause);

    /**
     * What made a rank abort, if that happened in this process.
     *
     * @param rank who aborted
     * @return the cause, or null
     */
    @Nullable
    Throwable cause(int rank);
}
