package dev.tutti.cuda;

import dev.tutti.Collective;
import java.util.Objects;
import java.util.Optional;

/** Compares what ranks called. */
final class Mismatch {
    private Mismatch() {}

    /** Says who disagrees with whom, if anybody does. */
    static Optional<String> check(long number, CudaCall[] calls) {
        CudaCall first = calls[0];
        for (int rank = 1; rank < calls.length; rank++) {
            CudaCall call = calls[rank];
            if (call.meta() != first.meta() || call.count != first.count) {
                return Optional.of(text(number, 0, first.describe(), rank, call.describe()));
            }
            if (call.extra != first.extra) {
                return Optional.of(text(
                        number,
                        0,
                        first.describe() + " with counts " + counts(first),
                        rank,
                        call.describe() + " with counts " + counts(call)));
            }
        }
        return first.count < 0 ? pairs(number, calls, first) : Optional.empty();
    }

    private static Optional<String> pairs(long number, CudaCall[] calls, CudaCall first) {
        for (int a = 0; a < calls.length; a++) {
            CudaCall one = calls[a];
            if (first.collective == Collective.ALL_TO_ALL) {
                for (int b = 0; b < calls.length; b++) {
                    long sends = Objects.requireNonNull(one.inCounts)[b];
                    long receives = Objects.requireNonNull(calls[b].outCounts)[a];
                    if (sends != receives) {
                        return Optional.of(text(
                                number, a, "sends " + sends + " to " + b, b, "receives " + receives + " from " + a));
                    }
                }
            } else {
                CudaCall root = calls[first.root];
                boolean gathers = first.collective == Collective.GATHER;
                long atRoot = Objects.requireNonNull(gathers ? root.outCounts : root.inCounts)[a];
                long here = Objects.requireNonNull(gathers ? one.in : one.out).count();
                if (atRoot != here) {
                    return Optional.of(text(number, first.root, "expects " + atRoot, a, "has " + here));
                }
            }
        }
        return Optional.empty();
    }

    private static String counts(CudaCall call) {
        return java.util.Arrays.toString(call.outCounts != null ? call.outCounts : call.inCounts);
    }

    static String text(long number, int a, String one, int b, String other) {
        return "ranks disagree in operation #" + number + ": rank " + a + ": " + one + "; rank " + b + ": " + other
                + "; all ranks must make the same calls in the same order";
    }
}
