package dev.tutti.cuda;

import dev.tutti.Collective;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Refuses calls that make no sense, before anything is posted. */
final class CallChecks {
    private CallChecks() {}

    /** Checks what depends on the communicator, before anything is posted. */
    static void check(CudaCall call, int rank, int size) {
        Collective collective = call.collective;
        CudaBuffer in = call.in;
        CudaBuffer out = call.out;
        long count = call.count;
        int root = call.root;
        if ((collective == null || collective.isRooted()) && (root < 0 || root >= size)) {
            throw new IllegalArgumentException(
                    (collective == null ? "peer" : "root") + " must be in 0.." + (size - 1) + ", got " + root);
        }
        if (collective == null) {
            return;
        }
        requireLength(call.inCounts, size);
        requireLength(call.outCounts, size);
        boolean atRoot = rank == root;
        switch (collective) {
            case REDUCE -> requirePresent(atRoot, out, "output");
            case ALL_GATHER -> {
                if (call.outCounts != null) {
                    requireCount(Objects.requireNonNull(in), call.outCounts[rank], "input");
                } else {
                    requireCount(Objects.requireNonNull(out), count * size, "output");
                }
            }
            case REDUCE_SCATTER -> {
                if (call.inCounts != null) {
                    requireCount(Objects.requireNonNull(out), call.inCounts[rank], "output");
                } else {
                    requireCount(Objects.requireNonNull(in), count * size, "input");
                }
            }
            case GATHER -> {
                requirePresent(atRoot, out, "output");
                if (atRoot && count < 0) {
                    requireCounts(call.outCounts);
                } else if (atRoot) {
                    requireCount(Objects.requireNonNull(out), count * size, "output");
                }
            }
            case SCATTER -> {
                requirePresent(atRoot, in, "input");
                if (atRoot && count < 0) {
                    requireCounts(call.inCounts);
                } else if (atRoot) {
                    requireCount(Objects.requireNonNull(in), count * size, "input");
                }
            }
            case ALL_TO_ALL -> {
                if (count >= 0 && count % size != 0) {
                    throw new IllegalArgumentException(
                            "allToAll of " + count + " elements does not divide among " + size + " ranks");
                }
            }
            default -> {}
        }
    }

    private static void requirePresent(boolean needed, @Nullable CudaBuffer buffer, String what) {
        if (needed && buffer == null) {
            throw new IllegalArgumentException("the root needs an " + what);
        }
    }

    private static void requireCounts(long @Nullable [] counts) {
        if (counts == null) {
            throw new IllegalArgumentException("the root needs counts");
        }
    }

    private static void requireCount(CudaBuffer buffer, long wanted, String what) {
        if (buffer.count() != wanted) {
            throw new IllegalArgumentException(what + " must have " + wanted + " elements, has " + buffer.count());
        }
    }

    private static void requireLength(long @Nullable [] counts, int size) {
        if (counts != null && counts.length != size) {
            throw new IllegalArgumentException("counts must have " + size + " entries, has " + counts.length);
        }
    }

    /** Counts of the caller's, against its memory. */
    static void counts(long @Nullable [] counts, @Nullable CudaBuffer buffer, String what) {
        if (counts == null) {
            return;
        }
        for (long each : counts) {
            if (each < 0) {
                throw new IllegalArgumentException("counts must not be negative, got " + each);
            }
        }
        if (buffer != null && sum(counts) > buffer.count()) {
            throw new IllegalArgumentException(
                    what + " has " + buffer.count() + " elements, counts add up to " + sum(counts));
        }
    }

    static void sameType(CudaBuffer in, CudaBuffer out) {
        if (in.type() != out.type()) {
            throw new IllegalArgumentException("input is " + in.type() + ", output " + out.type());
        }
    }

    static void same(CudaBuffer in, CudaBuffer out) {
        sameType(in, out);
        if (in.count() != out.count()) {
            throw new IllegalArgumentException("input has " + in.count() + " elements, output " + out.count());
        }
    }

    static long sum(long[] counts) {
        long sum = 0;
        for (long each : counts) {
            sum = Math.addExact(sum, each);
        }
        return sum;
    }
}
