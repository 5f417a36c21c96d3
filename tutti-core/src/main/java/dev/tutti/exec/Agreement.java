package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A small call of the executor's own before another one, after which all ranks know the largest of a number of each. */
final class Agreement {
    private final Call call = new Call();
    private MemorySegment number = MemorySegment.NULL;

    /** The call that makes all ranks know the largest number. */
    Call about(long mine, int ranks) {
        if (number.byteSize() == 0) {
            number = Arena.ofAuto().allocate(64, 64);
        }
        call.of(Collective.ALL_REDUCE, DataType.INT64, ReduceOp.MAX, 0, 1);
        call.input().setAddress(number.address(), 8);
        call.output().setAddress(number.address(), 8);
        call.uniform(ranks);
        Memory.putLong(number.address(), mine);
        return call;
    }

    /** The largest number, after the call. */
    long agreed() {
        return Memory.getLong(number.address());
    }

    /** What ranks have to agree on before a call. */
    interface Question {
        /**
         * The next small call that is to run before the call, or null once all is agreed. When it is asked for, the last one is over.
         */
        @Nullable
        Call next();
    }
}
