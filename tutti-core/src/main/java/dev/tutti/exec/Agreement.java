package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Where counts are known only pair by pair, ranks first agree on the longest, so that all make the same number of launches. */
final class Agreement {
    private final Call call = new Call();
    private MemorySegment length = MemorySegment.NULL;

    /** The call that makes all ranks know the longest block of another. */
    Call about(Call pairwise, int ranks) {
        if (length.byteSize() == 0) {
            length = Arena.ofAuto().allocate(64, 64);
        }
        call.of(Collective.ALL_REDUCE, DataType.INT64, ReduceOp.MAX, 0, 1);
        call.input().setAddress(length.address(), 8);
        call.output().setAddress(length.address(), 8);
        call.uniform(ranks);
        Memory.putLong(length.address(), pairwise.geometry().longest());
        return call;
    }

    /** Tells a call what was agreed. */
    void finish(Call pairwise) {
        pairwise.longestBytes(Memory.getLong(length.address()));
    }
}
