package dev.tutti.plan.language;

import dev.tutti.plan.Code;
import java.util.List;

/** A counter between lanes of one rank. */
public final class Semaphore {
    private final ProgramRank rank;
    private final int id;

    Semaphore(ProgramRank rank, int id) {
        this.rank = rank;
        this.id = id;
    }

    /**
     * Takes one, waiting until there is one.
     *
     * @param lane which lane
     * @param sync where its threads meet
     */
    public void acquire(int lane, DataSync sync) {
        rank.append(lane, Step.control(Code.ACQUIRE, null, List.of(id), sync));
    }

    /**
     * Gives one.
     *
     * @param lane which lane
     * @param sync where its threads meet
     */
    public void release(int lane, DataSync sync) {
        rank.append(lane, Step.control(Code.RELEASE, null, List.of(id), sync));
    }
}
