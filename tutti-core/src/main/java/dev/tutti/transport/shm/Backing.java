package dev.tutti.transport.shm;

/** Where the bytes of a region are: a memfd, or a file where there is none. */
interface Backing extends AutoCloseable {
    /** Where it is mapped in this process. */
    long address();

    long bytes();

    /** Makes pages for a range; those that exist keep what is in them. */
    void reserve(long offset, long bytes);

    /** Gives the pages of a range back, as far as the system can. The range reads as zeros afterwards. */
    void punch(long offset, long bytes);

    /** How a peer opens it: a descriptor's number or a path. */
    String handle();

    /** Everybody has it: removes its name, if it has one. */
    void everybodyHasIt();

    /** Ends the mapping; nobody in this process may touch it any more. */
    @Override
    void close();
}
