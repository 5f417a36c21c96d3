package dev.tutti.cli.plan;

import dev.tutti.data.DataStream;
import dev.tutti.data.ExactData;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Compares results with what they should be, and says which element is wrong. */
final class Comparison {
    private Comparison() {}

    /** Elements that should be those of a stream from one on; the first of them counts as number {@code at}. */
    static @Nullable String of(MemorySegment actual, DataStream expected, long from, long at) {
        long wrong = expected.firstWrong(actual, from);
        return wrong < 0
                ? null
                : "element " + (at + wrong) + " is wrong, with " + (expected.countWrong(actual, from) - 1) + " more";
    }

    /** A block from each rank, each from the same element of the rank's input on. */
    static @Nullable String ofBlocks(
            MemorySegment actual, ExactData data, int ranks, long count, long seed, long from) {
        long bytes = actual.byteSize() / ranks;
        for (int peer = 0; peer < ranks; peer++) {
            String wrong = of(actual.asSlice(peer * bytes, bytes), data.input(peer, seed), from, peer * count);
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }
}
