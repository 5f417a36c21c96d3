package dev.tutti.spi;

import org.jspecify.annotations.Nullable;

/**
 * The memory of all members of one communicator as one of them sees it: what a transport hands to the executor. Addresses
 * stay good for as long as this object is reachable.
 */
public interface Fabric {
    /** The {@link #location} of memory that peers cannot reach. */
    long NOWHERE = -1;

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
     * What this rank tells its peers so that they find memory of its own: an address where all share one address space, an offset
     * into a shared region elsewhere.
     *
     * @param address the first byte, in this process
     * @param bytes how many
     * @return for {@link #address} on any member, or {@link #NOWHERE} if some peer cannot reach all of it
     */
    long location(long address, long bytes);

    /**
     * Where memory that a member told of lies in this process.
     *
     * @param rank who told
     * @param location what it told: its {@link #location}
     * @return the address of the first byte
     */
    long address(int rank, long location);

    /**
     * Whether whoever writes what a sleeper waits for must fence before it looks at the flag. Else the sleeper makes that fence, on
     * all cores, before it sleeps.
     *
     * @return true if writers must fence; the same for all members
     */
    boolean mustFenceToSignal();

    /**
     * Says that this member will never touch any member's memory of this communicator again. When all have, it is used for
     * something else. Calling it twice is fine; not calling it is fine too: then that happens when this object is collected.
     */
    void release();

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
