package dev.tutti;

import dev.tutti.exec.Call;
import dev.tutti.exec.Geometry;
import dev.tutti.exec.PairCounts;
import dev.tutti.exec.Signature;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** {@link Requests} in which the caller says how much each rank has. */
final class RaggedRequests extends RequestForms {
    RaggedRequests(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
    }

    void allGather(
            Call call,
            DataType type,
            @Nullable Object in,
            Object out,
            long[] counts,
            long @Nullable [] offsets,
            boolean background) {
        checkCounts(counts, "counts");
        long total = arguments.count(out, type, "output");
        call.of(Collective.ALL_GATHER, type, null, 0, sum(counts));
        describeBoth(call, type, in, out, background);
        Geometry geometry = call.geometry();
        geometry.resize(1, size);
        blocks(geometry, false, counts, offsets, total, type, "output");
        geometry.setInput(0, 0, counts[rank] * type.bytes());
        if (in == null) {
            call.input().setSlice(call.output(), geometry.outputOffset(rank), counts[rank] * type.bytes());
        } else {
            requireCount(arguments.count(in, type, "input"), counts[rank], "input", "which counts say for this rank");
            requireApartOrAt(call.output(), geometry.outputOffset(rank), call.input());
        }
        call.ragged(geometry.longest(), digest(counts), false);
        hold(call, in, out);
    }

    void reduceScatter(
            Call call, DataType type, Object in, Object out, long[] counts, @Nullable ReduceOp op, boolean background) {
        arguments.requireOperator(op, type);
        checkCounts(counts, "counts");
        long total = arguments.count(in, type, "input");
        call.of(Collective.REDUCE_SCATTER, type, op, 0, sum(counts));
        describeBoth(call, type, in, out, background);
        requireCount(arguments.count(out, type, "output"), counts[rank], "output", "which counts say for this rank");
        Geometry geometry = call.geometry();
        geometry.resize(size, 1);
        blocks(geometry, true, counts, null, total, type, "input");
        geometry.setOutput(0, 0, counts[rank] * type.bytes());
        requireApartOrAt(call.input(), geometry.inputOffset(rank), call.output());
        call.ragged(geometry.longest(), digest(counts), false);
        hold(call, in, out);
    }

    void gather(
            Call call,
            DataType type,
            Object in,
            @Nullable Object out,
            long @Nullable [] counts,
            long @Nullable [] offsets,
            int root,
            boolean background) {
        arguments.requireRank(root, "root");
        long own = arguments.count(in, type, "input");
        call.of(Collective.GATHER, type, null, root, 0);
        arguments.describe(call.input(), in, type, "input", false, background);
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
            arguments.describe(call.output(), all, type, "output", true, background);
            blocks(geometry, false, allCounts, offsets, arguments.count(all, type, "output"), type, "output");
            requireCount(own, allCounts[rank], "input", "which counts say for this rank");
            requireApartOrAt(call.output(), geometry.outputOffset(rank), call.input());
            for (int peer = 0; peer < size; peer++) {
                pairs.setReceived(peer, allCounts[peer]);
            }
        }
        call.ragged(geometry.longest(), 0, true);
        hold(call, in, rank == root ? out : null);
    }

    void scatter(
            Call call,
            DataType type,
            @Nullable Object in,
            long @Nullable [] counts,
            long @Nullable [] offsets,
            Object out,
            int root,
            boolean background) {
        arguments.requireRank(root, "root");
        long own = arguments.count(out, type, "output");
        call.of(Collective.SCATTER, type, null, root, 0);
        arguments.describe(call.output(), out, type, "output", true, background);
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
            arguments.describe(call.input(), all, type, "input", false, background);
            blocks(geometry, true, allCounts, offsets, arguments.count(all, type, "input"), type, "input");
            requireCount(own, allCounts[rank], "output", "which counts say for this rank");
            requireApartOrAt(call.input(), geometry.inputOffset(rank), call.output());
            for (int peer = 0; peer < size; peer++) {
                pairs.setSent(peer, allCounts[peer]);
            }
        }
        call.ragged(geometry.longest(), 0, true);
        hold(call, rank == root ? in : null, out);
    }

    void allToAll(
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
        if (sendCounts[rank] != receiveCounts[rank]) {
            throw arguments.wrong("sendCounts[" + rank + "] is " + sendCounts[rank] + ", receiveCounts[" + rank
                    + "] is " + receiveCounts[rank] + "; what a rank sends to itself it receives");
        }
        call.of(Collective.ALL_TO_ALL, type, null, 0, 0);
        describeBoth(call, type, in, out, background);
        Geometry geometry = call.geometry();
        geometry.resize(size, size);
        blocks(geometry, true, sendCounts, sendOffsets, arguments.count(in, type, "input"), type, "input");
        blocks(geometry, false, receiveCounts, receiveOffsets, arguments.count(out, type, "output"), type, "output");
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

    private void blocks(
            Geometry geometry,
            boolean input,
            long[] counts,
            long @Nullable [] offsets,
            long total,
            DataType type,
            String what) {
        if (offsets != null && offsets.length != size) {
            throw arguments.wrong(what + " offsets must have " + size + " entries, got " + offsets.length);
        }
        long next = 0;
        for (int block = 0; block < size; block++) {
            long offset = offsets == null ? next : offsets[block];
            if (offset < 0 || counts[block] > total - offset) {
                throw arguments.wrong("block " + block + " of the " + what + ", " + counts[block] + " elements from "
                        + offset + " on, does not fit its " + total + " elements");
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

    private void requireDisjoint(long[] counts, long[] offsets, String what) {
        Integer[] order = new Integer[counts.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Long.compare(offsets[a], offsets[b]));
        long end = 0;
        for (int block : order) {
            if (counts[block] > 0) {
                if (offsets[block] < end) {
                    throw arguments.wrong("block " + block + " of the " + what + " overlaps another");
                }
                end = offsets[block] + counts[block];
            }
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
                throw arguments.wrong("in place, block " + block
                        + " must have the same count and offset in both directions; use another output");
            }
        }
    }

    private void checkCounts(long[] counts, String what) {
        if (counts.length != size) {
            throw arguments.wrong(what + " must have " + size + " entries, got " + counts.length);
        }
        for (int peer = 0; peer < size; peer++) {
            if (counts[peer] < 0) {
                throw arguments.wrong(what + "[" + peer + "] is negative: " + counts[peer]);
            }
        }
    }

    private long sum(long[] counts) {
        long sum = 0;
        for (long count : counts) {
            sum += count;
            if (sum < 0) {
                throw arguments.wrong("counts " + Arrays.toString(counts) + " add up to more than a long holds");
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
}
