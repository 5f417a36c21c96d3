package dev.tutti.cli.perf;

import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * What tests replace.
 *
 * @param nanoClock the clock that iterations are timed by
 * @param settlingNanos how long a row may run unseen until its time is steady, and the first one a tenth of that at most; 0: not at all
 * @param tamper is given each output between the call and its check
 */
record Hooks(LongSupplier nanoClock, long settlingNanos, Tamper tamper) {
    static final Hooks NONE = new Hooks(System::nanoTime, 5_000_000_000L, (rank, what, inPlace, output) -> {});

    /** May spoil a result. */
    @FunctionalInterface
    interface Tamper {
        void touch(int rank, Case what, boolean inPlace, MemorySegment output);
    }
}
