package dev.tutti;

import dev.tutti.exec.Call;
import dev.tutti.memory.Operand;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns checked arguments into calls in which all ranks have equal shares, one method per collective. Memory is an array, a
 * segment or a {@link Buffer}; {@code background} tells that another thread may run the call.
 */
final class Requests extends RequestForms {
    Requests(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
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
            throw arguments.wrong(which + " has no avg: the number of ranks differs from rank to rank; use sum");
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
        arguments.requireRank(root, "root");
        if (rank == root) {
            equalSizes(
                    call, Collective.REDUCE, type, in, required(out, "the root needs an output"), op, root, background);
            return;
        }
        arguments.requireOperator(op, type);
        call.of(Collective.REDUCE, type, op, root, arguments.count(in, type, "input"));
        arguments.describe(call.input(), in, type, "input", false, background);
        finish(call, in, null);
    }

    void broadcast(Call call, DataType type, @Nullable Object in, Object out, int root, boolean background) {
        arguments.requireRank(root, "root");
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
        call.of(Collective.BROADCAST, type, null, root, arguments.count(out, type, "output"));
        arguments.describe(call.output(), out, type, "output", true, background);
        finish(call, null, out);
    }

    void allGather(Call call, DataType type, @Nullable Object in, Object out, boolean background) {
        if (call.repeats(Collective.ALL_GATHER, type, in, out, null, 0)) {
            return;
        }
        long total = arguments.count(out, type, "output");
        long count = in == null ? divided(total, "output") : arguments.count(in, type, "input");
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

    void reduceScatter(
            Call call, DataType type, Object in, @Nullable Object out, @Nullable ReduceOp op, boolean background) {
        if (call.repeats(Collective.REDUCE_SCATTER, type, in, out, op, 0)) {
            return;
        }
        arguments.requireOperator(op, type);
        long total = arguments.count(in, type, "input");
        long count = out == null ? divided(total, "input") : arguments.count(out, type, "output");
        requireTimes(total, count, "input");
        call.of(Collective.REDUCE_SCATTER, type, op, 0, count);
        arguments.describe(call.input(), in, type, "input", out == null, background);
        if (out == null) {
            block(call.output(), call.input(), rank, count, type);
        } else {
            arguments.describe(call.output(), out, type, "output", true, background);
            requireApartOrAt(call.input(), rank * count * type.bytes(), call.output());
        }
        finish(call, in, out);
    }

    void gather(Call call, DataType type, @Nullable Object in, @Nullable Object out, int root, boolean background) {
        arguments.requireRank(root, "root");
        if (rank != root) {
            Object own = required(in, "a rank that is not the root needs an input");
            call.of(Collective.GATHER, type, null, root, arguments.count(own, type, "input"));
            arguments.describe(call.input(), own, type, "input", false, background);
            finish(call, own, null);
            return;
        }
        Object all = required(out, "the root needs an output");
        long total = arguments.count(all, type, "output");
        long count = in == null ? divided(total, "output") : arguments.count(in, type, "input");
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

    void scatter(Call call, DataType type, @Nullable Object in, @Nullable Object out, int root, boolean background) {
        arguments.requireRank(root, "root");
        if (rank != root) {
            Object own = required(out, "a rank that is not the root needs an output");
            call.of(Collective.SCATTER, type, null, root, arguments.count(own, type, "output"));
            arguments.describe(call.output(), own, type, "output", true, background);
            finish(call, null, own);
            return;
        }
        Object all = required(in, "the root needs an input");
        long total = arguments.count(all, type, "input");
        long count = out == null ? divided(total, "input") : arguments.count(out, type, "output");
        requireTimes(total, count, "input");
        call.of(Collective.SCATTER, type, null, root, count);
        arguments.describe(call.input(), all, type, "input", false, background);
        if (out == null) {
            block(call.output(), call.input(), rank, count, type);
        } else {
            arguments.describe(call.output(), out, type, "output", true, background);
            requireApartOrAt(call.input(), rank * count * type.bytes(), call.output());
        }
        finish(call, all, out);
    }

    void allToAll(Call call, DataType type, Object in, Object out, boolean background) {
        if (call.repeats(Collective.ALL_TO_ALL, type, in, out, null, 0)) {
            return;
        }
        long total = arguments.count(in, type, "input");
        requireCount(arguments.count(out, type, "output"), total, "output", "which the input has");
        call.of(Collective.ALL_TO_ALL, type, null, 0, divided(total, "input"));
        describeBoth(call, type, in, out, background);
        requireApartOrSame(call);
        finish(call, in, out);
    }

    /** Several buffers of one type as if they were one. */
    void list(
            Call call, Collective collective, List<Buffer> given, @Nullable ReduceOp op, int root, boolean background) {
        // The caller may change the list before the operation is over.
        List<Buffer> buffers = List.copyOf(given);
        if (buffers.isEmpty()) {
            throw arguments.wrong("the list of buffers is empty");
        }
        DataType type = buffers.getFirst().type();
        if (collective.isReducing()) {
            arguments.requireOperator(op, type);
        }
        arguments.requireRank(root, "root");
        Operand[] parts = new Operand[buffers.size()];
        long count = 0;
        for (int i = 0; i < parts.length; i++) {
            count += arguments.count(buffers.get(i), type, "buffer " + i);
            parts[i] = new Operand();
            arguments.describe(parts[i], buffers.get(i), type, "buffer " + i, true, background);
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
            arguments.requireOperator(op, type);
        }
        long count = arguments.count(in, type, "input");
        if (in != out) {
            requireCount(arguments.count(out, type, "output"), count, "output", "which the input has");
        }
        call.of(collective, type, op, root, count);
        describeBoth(call, type, in, out, background);
        if (in != out) {
            requireApartOrSame(call);
        }
        finish(call, in, out);
    }

    private void finish(Call call, @Nullable Object in, @Nullable Object out) {
        call.uniform(size);
        hold(call, in, out);
        if (!(in instanceof List) && !(out instanceof List)) {
            call.makeRepeatable(isClosable(in) || isClosable(out));
        }
    }

    /** Whether somebody could close memory between two calls; registered memory has its own way to find out. */
    private static boolean isClosable(@Nullable Object memory) {
        MemorySegment segment = memory instanceof Buffer buffer ? buffer.backing() : null;
        if (memory instanceof MemorySegment given) {
            segment = given;
        }
        return segment != null && !Operand.cannotClose(segment);
    }

    private static void block(Operand part, Operand whole, int index, long count, DataType type) {
        part.setSlice(whole, index * count * type.bytes(), count * type.bytes());
    }

    private long divided(long total, String what) {
        if (total % size != 0) {
            throw arguments.wrong(what + " has " + total + " elements, which " + size
                    + " ranks cannot share equally; use the variant with counts");
        }
        return total / size;
    }

    private void requireTimes(long total, long count, String what) {
        if (total != count * size) {
            throw arguments.wrong(what + " has " + total + " elements, expected " + size + " ranks times " + count);
        }
    }
}
