package dev.tutti.spi;

import java.lang.foreign.MemorySegment;

/**
 * Registered memory of one rank: its peers can reach it where it lies. What is never freed stays until the world ends; memory
 * that a peer might still touch after a failure is left alone like that on purpose.
 */
public interface Allocation {
    /**
     * The memory, zeroed when it was handed out.
     *
     * @return native memory that any thread of this process may use until it is freed
     */
    MemorySegment memory();

    /** Gives the memory back. Neither this rank nor a peer may touch it from now on. Called at most once. */
    void free();
}
