package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Tells all ranks of a communicator a number of each, by an all-gather of the communicator's own. */
public final class PlanExchange implements PlanContext.Exchange {
    private final Execution execution;
    private final int size;
    private final long timeoutNanos;
    private final MemorySegment numbers;
    private final Call call = new Call();

    /**
     * Exchanges through an executor that is not inside a call.
     *
     * @param execution this rank's executor
     * @param size how many ranks there are
     * @param timeoutNanos how long ranks wait for each other
     */
    public PlanExchange(Execution execution, int size, long timeoutNanos) {
        this.execution = execution;
        this.size = size;
        this.timeoutNanos = timeoutNanos;
        this.numbers = Arena.ofAuto().allocate(8L * (size + 1), 64);
    }

    @Override
    public long[] allGather(long mine) {
        long own = numbers.address();
        long all = own + 8;
        Memory.putLong(own, mine);
        call.of(Collective.ALL_GATHER, DataType.INT64, null, 0, 1);
        call.input().setAddress(own, 8);
        call.output().setAddress(all, 8L * size);
        call.uniform(size);
        call.timeoutNanos(timeoutNanos);
        execution.run(call);
        long[] gathered = new long[size];
        for (int rank = 0; rank < size; rank++) {
            gathered[rank] = Memory.getLong(all + 8L * rank);
        }
        return gathered;
    }
}
