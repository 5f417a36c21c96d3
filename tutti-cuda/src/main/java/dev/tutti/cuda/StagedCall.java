package dev.tutti.cuda;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A collective call cut into pieces: the same range of every block. */
final class StagedCall {
    private final CudaCall call;
    private final int rank;
    private final int size;
    /** Elements of each block of the input and of the output on this rank; one block for most calls, none for no memory. */
    private final long[] in;

    private final long[] out;

    /**
     * Bytes that lie together.
     *
     * @param device where on the device
     * @param staged where in pinned memory
     */
    record Run(long device, long staged, long bytes) {}

    /** One piece: what comes down, what goes up, how many elements of each block there are. */
    record Piece(long[] in, long[] out, List<Run> down, List<Run> up) {
        long inCount() {
            return CallChecks.sum(in);
        }

        long outCount() {
            return CallChecks.sum(out);
        }
    }

    StagedCall(CudaCall call, int rank, int size) {
        this.call = call;
        this.rank = rank;
        this.size = size;
        boolean atRoot = rank == call.root;
        switch (Objects.requireNonNull(call.collective)) {
            case ALL_REDUCE, SCAN, EXSCAN -> {
                in = one(call.count);
                out = one(call.count);
            }
            case REDUCE -> {
                in = one(call.count);
                out = atRoot ? one(call.count) : new long[0];
            }
            case BROADCAST -> {
                in = atRoot ? one(call.count) : new long[0];
                out = one(call.count);
            }
            case ALL_GATHER -> {
                out = call.outCounts != null ? call.outCounts : filled(call.count);
                in = one(out[rank]);
            }
            case REDUCE_SCATTER -> {
                in = call.inCounts != null ? call.inCounts : filled(call.count);
                out = one(in[rank]);
            }
            case GATHER -> {
                in = one(Objects.requireNonNull(call.in).count());
                out = !atRoot ? new long[0] : call.outCounts != null ? call.outCounts : filled(call.count);
            }
            case SCATTER -> {
                in = !atRoot ? new long[0] : call.inCounts != null ? call.inCounts : filled(call.count);
                out = one(Objects.requireNonNull(call.out).count());
            }
            case ALL_TO_ALL -> {
                in = call.inCounts != null ? call.inCounts : filled(call.count / size);
                out = call.outCounts != null ? call.outCounts : filled(call.count / size);
            }
            default -> throw new IllegalStateException("nothing to move in " + call);
        }
    }

    DataType type() {
        return call.type;
    }

    /** Blocks of the side that has more, on the rank that has most: all ranks cut alike. */
    int blocks() {
        return switch (Objects.requireNonNull(call.collective)) {
            case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL -> size;
            default -> 1;
        };
    }

    /** Elements of the longest block that this rank knows of. */
    long longest() {
        long longest = 0;
        for (long each : in) {
            longest = Math.max(longest, each);
        }
        for (long each : out) {
            longest = Math.max(longest, each);
        }
        return longest;
    }

    /** Whether other ranks may have longer blocks than this one knows of. */
    boolean hasPairCounts() {
        return call.count < 0;
    }

    /** Elements {@code from} to {@code to} of every block that has them. */
    Piece piece(long from, long to) {
        return new Piece(clamped(in, from, to), clamped(out, from, to), runs(call.in, in, from, to), up(from, to));
    }

    private List<Run> up(long from, long to) {
        boolean stays = call.collective == dev.tutti.Collective.EXSCAN && rank == 0;
        return stays ? List.of() : runs(call.out, out, from, to);
    }

    private List<Run> runs(@Nullable CudaBuffer buffer, long[] counts, long from, long to) {
        List<Run> runs = new ArrayList<>();
        long width = call.type.bytes();
        long block = 0;
        long staged = 0;
        for (long count : counts) {
            long length = Math.max(0, Math.min(count, to) - from);
            if (length > 0) {
                long pointer = Objects.requireNonNull(buffer).pointer();
                runs.add(new Run(pointer + (block + from) * width, staged, length * width));
                staged += length * width;
            }
            block += count;
        }
        return runs;
    }

    private static long[] clamped(long[] counts, long from, long to) {
        long[] clamped = new long[counts.length];
        java.util.Arrays.setAll(clamped, i -> Math.max(0, Math.min(counts[i], to) - from));
        return clamped;
    }

    /** The hosts' collective on one piece. */
    void run(Communicator host, Piece piece, Buffer from, Buffer to) {
        boolean atRoot = rank == call.root;
        switch (Objects.requireNonNull(call.collective)) {
            case ALL_REDUCE -> host.allReduce(from, to, Objects.requireNonNull(call.op));
            case REDUCE -> host.reduce(from, atRoot ? to : null, Objects.requireNonNull(call.op), call.root);
            case BROADCAST -> host.broadcast(atRoot ? from : null, to, call.root);
            case SCAN -> host.scan(from, to, Objects.requireNonNull(call.op));
            case EXSCAN -> host.exscan(from, to, Objects.requireNonNull(call.op));
            case ALL_GATHER -> host.allGatherV(from, to, piece.out(), null);
            case REDUCE_SCATTER -> host.reduceScatterV(from, to, piece.in(), Objects.requireNonNull(call.op));
            case GATHER -> host.gatherV(from, atRoot ? to : null, atRoot ? piece.out() : null, null, call.root);
            case SCATTER -> host.scatterV(atRoot ? from : null, atRoot ? piece.in() : null, null, to, call.root);
            case ALL_TO_ALL -> host.allToAllV(from, piece.in(), null, to, piece.out(), null);
            case BARRIER -> host.barrier();
        }
    }

    private static long[] one(long count) {
        return new long[] {count};
    }

    private long[] filled(long count) {
        long[] counts = new long[size];
        java.util.Arrays.fill(counts, count);
        return counts;
    }
}
