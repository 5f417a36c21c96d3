package dev.tutti.cli.perf;

import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * What tests replace.
 *
 * @param nanoClock the clock that iterations are timed by
 * @param trainingNanos how long the first case may run unseen until its code is compiled
 * @param tamper is given each output between the call and its check
 */
record Hooks(LongSupplier nanoClock, long trainingNanos, Tamper tamper) {
    static final Hooks NONE = new Hooks(System::nanoTime, 500_000_000, (rank, what, inPlace, output) -> {});

    /** May spoil a result. */
    @FunctionalInterface
    interface Tamper {
        void touch(int rank, Case what, boolean inPlace, MemorySegment output);
    }
}
