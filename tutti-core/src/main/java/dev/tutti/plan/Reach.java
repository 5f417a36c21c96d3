package dev.tutti.plan;

/**
 * Whose input and output a plan's operations touch. Scratch may be anybody's in any plan; what users pass may go away as soon as
 * they get it back, so a rank may touch a peer's only while that peer is inside the same operation.
 */
public enum Reach {
    /** Only the acting rank's own. */
    OWN,
    /**
     * Peers' too. The plan says nothing about when that is allowed: the executor lets all ranks meet before the first operation and
     * after the last.
     */
    PEERS,
    /**
     * Peers' too, and the plan sees to it itself: a rank waits for a signal from whom it reaches before it does so, and for one
     * from whoever reaches it before it ends.
     */
    GUARDED
}
