package dev.tutti;

import dev.tutti.exec.Call;
import dev.tutti.exec.Geometry;
import dev.tutti.exec.PairCounts;
import dev.tutti.exec.Signature;
import dev.tutti.memory.Operand;
import dev.tutti.spi.Transport;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns checked arguments into calls, one method per collective. Memory is an array, a segment or a {@link Buffer};
 * {@code background} tells that another thread may run the call.
 */
final class Requests {
    /** Memory up to this size may be kept alive until the next call, so that the same call again costs less. */
    private static final long REPEATABLE_BYTES = 64 << 10;

    private final int rank;
    private final int size;
    private final long timeoutNanos;
    private final Transport transport;
    private final int worldRank;

    Requests(int rank, int size, long timeoutNanos, Transport transport, int worldRank) {
        this.rank = rank;
        this.size = size;
        this.timeoutNanos = timeoutNanos;
        this.transport = transport;
        this.worldRank = worldRank;
    }

    void barrier(Call call) {
        if (call.repeats(Collective.BARRIER, DataType.INT8, null, null, null, 0)) {
            return;
        }
        call.of(Collective.BARRIER, DataType.INT8, null, 0, 0);
        finish(call, null, null);
    }

    void allReduce(Call call, DataType type, Object in, Object out, @Nullable ReduceOp op, boolean background) {
        equalSizes(call, Collective.ALL_REDUCE, type, in, out, op, 0, background);
    }

    void scan(
            Call call,
            Collective which,
            DataType type,
            Object in,
            Object out,
            @Nullable ReduceOp op,
            boolean background) {
        if (op != null && op.kind() == ReduceOp.Kind.AVG) {
            throw new IllegalArgumentException(
                    which + " has no avg: the number of ranks differs from rank to rank; use sum");
        }
        equalSizes(call, which, type, in, out, op, 0, background);
    }

    void reduce(
            Call call,
            DataType type,
            Object in,
            @Nullable Object out,
            @Nullable ReduceOp op,
            int root,
            boolean background) {
        Arguments.requireRank(root, size, "root");
        if (rank == root) {
            equalSizes(
                    call, Collective.REDUCE, type, in, required(out, "the root needs an output"), op, root, background);
            return;
        }
        Arguments.requireOperator(op, type);
        call.of(Collective.REDUCE, type, op, root, Arguments.count(in, type, "input"));
        Arguments.describe(call.input(), in, type, "input", false, background);
        finish(call, in, null);
    }

    void broadcast(Call call, DataType type, @Nullable Object in, Object out, int root, boolean background) {
        Arguments.requireRank(root, size, "root");
        if (rank == root) {
            equalSizes(
                    call,
                    Collective.BROADCAST,
                    type,
                    required(in, "the root needs an input"),
                    out,
                    null,
                    root,
                    background);
            return;
        }
        if (call.repeats(Collective.BROADCAST, type, null, out, null, root)) {
            return;
        }
        call.of(Collective.BROADCAST, type, null, root, Arguments.count(out, type, "output"));
        Arguments.describe(call.output(), out, type, "output", true, background);
        finish(call, null, out);
    }

    void allGather(Call call, DataType type, @Nullable Object in, Object out, boolean background) {
        if (call.repeats(Collective.ALL_GATHER, type, in, out, null, 0)) {
            return;
        }
        long total = Arguments.count(out, type, "output");
        long count = in == null ? divided(total, "output") : Arguments.count(in, type, "input");
        requireTimes(total, count, "output");
        call.of(Collective.ALL_GATHER, type, null, 0, count);
        describeBoth(call, type, in, out, background);
        if (in == null) {
            block(call.input(), call.output(), rank, count, type);
        } else {
            requireApartOrAt(call.output(), rank * count * type.bytes(), call.input());
        }
        finish(call, in, out);
    }

    void allGatherV(
            Call call,
            DataType type,
            @Nullable Object in,
            Object out,
            long[] counts,
            long @Nullable [] offsets,
            boolean background) {
        checkCounts(counts, "counts");
        long total = Arguments.count(out, type, "output");
        call.of(Collective.ALL_GATHER, type, null, 0, sum(counts));
        describeBoth(call, type, in, out, background);
        Geometry geometry = call.geometry();
        geometry.resize(1, size);
        blocks(geometry, false, counts, offsets, total, type, "output");
        geometry.setInput(0, 0, counts[rank] * type.bytes());
        if (in == null) {
            call.input().setSlice(call.output(), geometry.outputOffset(rank), counts[rank] * type.bytes());
        } else {
            requireCount(Arguments.count(in, type, "input"), counts[rank], "input", "counts[" + rank + "]");
            requireApartOrAt(call.output(), geometry.outputOffset(rank), call.input());
        }
        call.ragged(geometry.longest(), digest(counts), false);
        hold(call, in, out);
    }

    void reduceScatter(
            Call call, DataType type, Object in, @Nullable Object out, @Nullable ReduceOp op, boolean background) {
        if (call.repeats(Collective.REDUCE_SCATTER, type, in, out, op, 0)) {
            return;
        }
        Arguments.requireOperator(op, type);
        long total = Arguments.count(in, type, "input");
        long count = out == null ? divided(total, "input") : Arguments.count(out, type, "output");
        requireTimes(total, count, "input");
        call.of(Collective.REDUCE_SCATTER, type, op, 0, count);
        Arguments.describe(call.input(), in, type, "input", out == null, background);
        if (out == null) {
            block(call.output(), call.input(), rank, count, type);
        } else {
            Arguments.describe(call.output(), out, type, "output", true, background);
            requireApartOrAt(call.input(), rank * count * type.bytes(), call.output());
        }
        finish(call, in, out);
    }

    void reduceScatterV(
            Call call, DataType type, Object in, Object out, long[] counts, @Nullable ReduceOp op, boolean background) {
        Arguments.requireOperator(op, type);
        checkCounts(counts, "counts");
        long total = Arguments.count(in, type, "input");
        call.of(Collective.REDUCE_SCATTER, type, op, 0, sum(counts));
        describeBoth(call, type, in, out, background);
        requireCount(Arguments.count(out, type, "output"), counts[rank], "output", "counts[" + rank + "]");
        Geometry geometry = call.geometry();
        geometry.resize(size, 1);
        blocks(geometry, true, counts, null, total, type, "input");
        geometry.setOutput(0, 0, counts[rank] * type.bytes());
        requireApartOrAt(call.input(), geometry.inputOffset(rank), call.output());
        call.ragged(geometry.longest(), digest(counts), false);
        hold(call, in, out);
    }

    void gather(Call call, DataType type, @Nullable Object in, @Nullable Object out, int root, boolean background) {
        Arguments.requireRank(root, size, "root");
        if (rank != root) {
            Object own = required(in, "a rank that is not the root needs an input");
            call.of(Collective.GATHER, type, null, root, Arguments.count(own, type, "input"));
            Arguments.describe(call.input(), own, type, "input", false, background);
            finish(call, own, null);
            return;
        }
        Object all = required(out, "the root needs an output");
        long total = Arguments.count(all, type, "output");
        long count = in == null ? divided(total, "output") : Arguments.count(in, type, "input");
        requireTimes(total, count, "output");
        call.of(Collective.GATHER, type, null, root, count);
        describeBoth(call, type, in, all, background);
        if (in == null) {
            block(call.input(), call.output(), rank, count, type);
        } else {
            requireApartOrAt(call.output(), rank * count * type.bytes(), call.input());
        }
        finish(call, in, all);
    }

    void gatherV(
            Call call,
            DataType type,
            Object in,
            @Nullable Object out,
            long @Nullable [] counts,
            long @Nullable [] offsets,
            int root,
            boolean background) {
        Arguments.requireRank(root, size, "root");
        long own = Arguments.count(in, type, "input");
        call.of(Collective.GATHER, type, null, root, 0);
        Arguments.describe(call.input(), in, type, "input", false, background);
        PairCounts pairs = call.pairCounts();
        pairs.reset(size);
        Geometry geometry = call.geometry();
        geometry.resize(1, rank == root ? size : 0);
        geometry.setInput(0, 0, own * type.bytes());
        pairs.setSent(root, own);
        if (rank == root) {
            Object all = required(out, "the root needs an output");
            long[] allCounts = required(counts, "the root needs counts");
            checkCounts(allCounts, "counts");
            Arguments.describe(call.output(), all, type, "output", true, background);
            blocks(geometry, false, allCounts, offsets, Arguments.count(all, type, "output"), type, "output");
            requireCount(own, allCounts[rank], "input", "counts[" + rank + "]");
            requireApartOrAt(call.output(), geometry.outputOffset(rank), call.input());
            for (int peer = 0; peer < size; peer++) {
                pairs.setReceived(peer, allCounts[peer]);
            }
        }
        call.ragged(geometry.longest(), 0, true);
        hold(call, in, rank == root ? out : null);
    }

    void scatter(Call call, DataType type, @Nullable Object in, @Nullable Object out, int root, boolean background) {
        Arguments.requireRank(root, size, "root");
        if (rank != root) {
            Object own = required(out, "a rank that is not the root needs an output");
            call.of(Collective.SCATTER, type, null, root, Arguments.count(own, type, "output"));
            Arguments.describe(call.output(), own, type, "output", true, background);
            finish(call, null, own);
            return;
        }
        Object all = required(in, "the root needs an input");
        long total = Arguments.count(all, type, "input");
        long count = out == null ? divided(total, "input") : Arguments.count(out, type, "output");
        requireTimes(total, count, "input");
        call.of(Collective.SCATTER, type, null, root, count);
        Arguments.describe(call.input(), all, type, "input", false, background);
        if (out == null) {
            block(call.output(), call.input(), rank, count, type);
        } else {
            Arguments.describe(call.output(), out, type, "output", true, background);
            requireApartOrAt(call.input(), rank * count * type.bytes(), call.output());
        }
        finish(call, all, out);
    }

    void scatterV(
            Call call,
            DataType type,
            @Nullable Object in,
            long @Nullable [] counts,
            long @Nullable [] offsets,
            Object out,
            int root,
            boolean background) {
        Arguments.requireRank(root, size, "root");
        long own = Arguments.count(out, type, "output");
        call.of(Collective.SCATTER, type, null, root, 0);
        Arguments.describe(call.output(), out, type, "output", true, background);
        PairCounts pairs = call.pairCounts();
        pairs.reset(size);
        Geometry geometry = call.geometry();
        geometry.resize(rank == root ? size : 0, 1);
        geometry.setOutput(0, 0, own * type.bytes());
        pairs.setReceived(root, own);
        if (rank == root) {
            Object all = required(in, "the root needs an input");
            long[] allCounts = required(counts, "the root needs counts");
            checkCounts(allCounts, "counts");
            Arguments.describe(call.input(), all, type, "input", false, background);
            blocks(geometry, true, allCounts, offsets, Arguments.count(all, type, "input"), type, "input");
            requireCount(own, allCounts[rank], "output", "counts[" + rank + "]");
            requireApartOrAt(call.input(), geometry.inputOffset(rank), call.output());
            for (int peer = 0; peer < size; peer++) {
                pairs.setSent(peer, allCounts[peer]);
            }
        }
        call.ragged(geometry.longest(), 0, true);
        hold(call, rank == root ? in : null, out);
    }

    void allToAll(Call call, DataType type, Object in, Object out, boolean background) {
        if (call.repeats(Collective.ALL_TO_ALL, type, in, out, null, 0)) {
            return;
        }
        long total = Arguments.count(in, type, "input");
        requireCount(Arguments.count(out, type, "output"), total, "output", "the input's");
        call.of(Collective.ALL_TO_ALL, type, null, 0, divided(total, "input"));
        describeBoth(call, type, in, out, background);
        requireApartOrSame(call);
        finish(call, in, out);
    }

    void allToAllV(
            Call call,
            DataType type,
            Object in,
            long[] sendCounts,
            long @Nullable [] sendOffsets,
            Object out,
            long[] receiveCounts,
            long @Nullable [] receiveOffsets,
            boolean background) {
        checkCounts(sendCounts, "sendCounts");
        checkCounts(receiveCounts, "receiveCounts");
        requireCount(sendCounts[rank], receiveCounts[rank], "sendCounts[" + rank + "]", "receiveCounts[" + rank + "]");
        call.of(Collective.ALL_TO_ALL, type, null, 0, 0);
        describeBoth(call, type, in, out, background);
        Geometry geometry = call.geometry();
        geometry.resize(size, size);
        blocks(geometry, true, sendCounts, sendOffsets, Arguments.count(in, type, "input"), type, "input");
        blocks(geometry, false, receiveCounts, receiveOffsets, Arguments.count(out, type, "output"), type, "output");
        requireApartOrSame(call);
        requireSameBlocksInPlace(call);
        PairCounts pairs = call.pairCounts();
        pairs.reset(size);
        for (int peer = 0; peer < size; peer++) {
            pairs.setSent(peer, sendCounts[peer]);
            pairs.setReceived(peer, receiveCounts[peer]);
        }
        call.ragged(geometry.longest(), 0, true);
        hold(call, in, out);
    }

    /** Several buffers of one type as if they were one. */
    void list(
            Call call, Collective collective, List<Buffer> given, @Nullable ReduceOp op, int root, boolean background) {
        // The caller may change the list before the operation is over.
        List<Buffer> buffers = List.copyOf(given);
        if (buffers.isEmpty()) {
            throw new IllegalArgumentException("the list of buffers is empty");
        }
        DataType type = buffers.getFirst().type();
        if (collective.isReducing()) {
            Arguments.requireOperator(op, type);
        }
        Arguments.requireRank(root, size, "root");
        Operand[] parts = new Operand[buffers.size()];
        long count = 0;
        for (int i = 0; i < parts.length; i++) {
            count += Arguments.count(buffers.get(i), type, "buffer " + i);
            parts[i] = new Operand();
            Arguments.describe(parts[i], buffers.get(i), type, "buffer " + i, true, background);
        }
        call.of(collective, type, op, root, count);
        boolean readsInput = collective != Collective.BROADCAST || rank == root;
        if (readsInput) {
            call.input().setParts(parts);
        }
        call.output().setParts(parts);
        finish(call, null, buffers);
    }

    private void equalSizes(
            Call call,
            Collective collective,
            DataType type,
            Object in,
            Object out,
            @Nullable ReduceOp op,
            int root,
            boolean background) {
        if (call.repeats(collective, type, in, out, op, root)) {
            return;
        }
        if (collective.isReducing()) {
            Arguments.requireOperator(op, type);
        }
        long count = Arguments.count(in, type, "input");
        if (in != out) {
            requireCount(Arguments.count(out, type, "output"), count, "output", "the input's");
        }
        call.of(collective, type, op, root, count);
        describeBoth(call, type, in, out, background);
        if (in != out) {
            requireApartOrSame(call);
        }
        finish(call, in, out);
    }

    private void describeBoth(Call call, DataType type, @Nullable Object in, Object out, boolean background) {
        Arguments.describe(call.output(), out, type, "output", true, background);
        if (in == out) {
            call.input().set(call.output());
        } else if (in != null) {
            Arguments.describe(call.input(), in, type, "input", false, background);
        }
    }

    private void finish(Call call, @Nullable Object in, @Nullable Object out) {
        call.uniform(size);
        hold(call, in, out);
        if (call.longestBytes() <= REPEATABLE_BYTES && isRepeatable(in) && isRepeatable(out)) {
            call.makeRepeatable();
        }
    }

    /** Segments that can be closed have to be looked at each time. */
    private static boolean isRepeatable(@Nullable Object memory) {
        if (memory instanceof Buffer buffer) {
            return buffer.backing() == null || Operand.cannotClose(buffer.backing());
        }
        return memory instanceof MemorySegment segment ? Operand.cannotClose(segment) : !(memory instanceof List);
    }

    private void hold(Call call, @Nullable Object in, @Nullable Object out) {
        call.timeoutNanos(timeoutNanos);
        call.hold(in, out);
        call.registered((in != null || out != null) && isRegistered(in) && isRegistered(out));
    }

    private boolean isRegistered(@Nullable Object memory) {
        return memory == null || (memory instanceof Buffer buffer && buffer.isRegistered(transport, worldRank));
    }

    private static void block(Operand part, Operand whole, int index, long count, DataType type) {
        part.setSlice(whole, index * count * type.bytes(), count * type.bytes());
    }

    private void blocks(
            Geometry geometry,
            boolean input,
            long[] counts,
            long @Nullable [] offsets,
            long total,
            DataType type,
            String what) {
        if (offsets != null && offsets.length != size) {
            throw new IllegalArgumentException(what + " offsets must have " + size + " entries, got " + offsets.length);
        }
        long next = 0;
        for (int block = 0; block < size; block++) {
            long offset = offsets == null ? next : offsets[block];
            if (offset < 0 || counts[block] > total - offset) {
                throw new IllegalArgumentException("block " + block + " of the " + what + ", " + counts[block]
                        + " elements from " + offset + " on, does not fit its " + total + " elements");
            }
            if (input) {
                geometry.setInput(block, offset * type.bytes(), counts[block] * type.bytes());
            } else {
                geometry.setOutput(block, offset * type.bytes(), counts[block] * type.bytes());
            }
            next += counts[block];
        }
        if (!input && offsets != null) {
            requireDisjoint(counts, offsets, what);
        }
    }

    private static void requireDisjoint(long[] counts, long[] offsets, String what) {
        Integer[] order = new Integer[counts.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Long.compare(offsets[a], offsets[b]));
        long end = 0;
        for (int block : order) {
            if (counts[block] > 0) {
                if (offsets[block] < end) {
                    throw new IllegalArgumentException("block " + block + " of the " + what + " overlaps another");
                }
                end = offsets[block] + counts[block];
            }
        }
    }

    private static void requireApartOrSame(Call call) {
        Operand in = call.input();
        Operand out = call.output();
        if (!in.isSame(out) && in.overlaps(0, in.bytes(), out, 0, out.bytes())) {
            throw new IllegalArgumentException(
                    "input and output overlap: they must be apart, or begin at the same place");
        }
    }

    /** In place, a block that is longer or elsewhere on its way out would come back over one that has yet to leave. */
    private void requireSameBlocksInPlace(Call call) {
        if (!call.input().isSame(call.output())) {
            return;
        }
        Geometry blocks = call.geometry();
        for (int block = 0; block < size; block++) {
            if (blocks.inputBytes(block) != blocks.outputBytes(block)
                    || blocks.inputOffset(block) != blocks.outputOffset(block)) {
                throw new IllegalArgumentException("in place, block " + block
                        + " must have the same count and offset in both directions; use another output");
            }
        }
    }

    private void requireApartOrAt(Operand whole, long at, Operand part) {
        if (whole.overlaps(0, whole.bytes(), part, 0, part.bytes()) && !whole.overlaps(at, 1, part, 0, 1)) {
            throw new IllegalArgumentException(
                    "input and output overlap: they must be apart, or one must be block " + rank + " of the other");
        }
    }

    private long divided(long total, String what) {
        if (total % size != 0) {
            throw new IllegalArgumentException(what + " has " + total + " elements, which " + size
                    + " ranks cannot share equally; use the variant with counts");
        }
        return total / size;
    }

    private void requireTimes(long total, long count, String what) {
        if (total != count * size) {
            throw new IllegalArgumentException(
                    what + " has " + total + " elements, expected " + size + " ranks times " + count);
        }
    }

    private static void requireCount(long actual, long expected, String what, String source) {
        if (actual != expected) {
            throw new IllegalArgumentException(what + " has " + actual + " elements, " + source + " say " + expected);
        }
    }

    private void checkCounts(long[] counts, String what) {
        if (counts.length != size) {
            throw new IllegalArgumentException(what + " must have " + size + " entries, got " + counts.length);
        }
        for (int peer = 0; peer < size; peer++) {
            if (counts[peer] < 0) {
                throw new IllegalArgumentException(what + "[" + peer + "] is negative: " + counts[peer]);
            }
        }
    }

    private static long sum(long[] counts) {
        long sum = 0;
        for (long count : counts) {
            sum += count;
            if (sum < 0) {
                throw new IllegalArgumentException(
                        "counts " + Arrays.toString(counts) + " add up to more than a long holds");
            }
        }
        return sum;
    }

    private static long digest(long[] counts) {
        long digest = counts.length;
        for (long count : counts) {
            digest = Signature.mix(digest ^ count);
        }
        return digest >>> 32 == 0 ? ~digest : digest;
    }

    private static <T> T required(@Nullable T value, String what) {
        if (value == null) {
            throw new IllegalArgumentException(what);
        }
        return value;
    }
}
