package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Where counts are known only pair by pair, ranks first agree on the longest, so that all make the same number of launches: by a small call
 * of the executor's own before the other one, which gives all of them the largest of a number of each.
 */
final class Lengths {
    private final Call question = new Call();
    private final int ranks;
    private MemorySegment longest = MemorySegment.NULL;

    Lengths(int ranks) {
        this.ranks = ranks;
    }

    /** The small call that has to come before a call. */
    Call before(Call pairwise) {
        if (longest.byteSize() == 0) {
            longest = Arena.ofAuto().allocate(64, 64);
        }
        question.of(Collective.ALL_REDUCE, DataType.INT64, ReduceOp.MAX, 0, 1);
        question.input().setAddress(longest.address(), 8);
        question.output().setAddress(longest.address(), 8);
        question.uniform(ranks);
        Memory.putLong(longest.address(), pairwise.geometry().longest());
        return question;
    }

    /** Tells a call what its ranks have agreed on. */
    void tell(Call pairwise) {
        pairwise.longestBytes(Memory.getLong(longest.address()));
    }
}
