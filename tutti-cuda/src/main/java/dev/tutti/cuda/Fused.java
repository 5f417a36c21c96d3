package dev.tutti.cuda;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.kernel.KernelSet;
import dev.tutti.cuda.kernel.Module;
import dev.tutti.reduce.Fold;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A collective of all ranks on one device as launches that read every input once and write every output once. Layouts of
 * parameters are those of {@code fused.cu} and {@code copy.cu}.
 */
final class Fused implements AutoCloseable {
    private static final int INLINE_RANKS = 96;
    private static final int MOST_TASKS = 128;
    private static final int RANK_BYTES = 40;
    private static final int BLOCK_BYTES = 24;
    private static final int TASK_BYTES = 24;
    private static final int ARGS_BYTES = 32;
    private static final int SPREAD_BLOCKS = 24;
    private static final int SPREAD_TARGETS = SPREAD_BLOCKS + INLINE_RANKS * BLOCK_BYTES;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final CudaDevice device;
    private final KernelSet kernels;
    private final List<Step> steps = new ArrayList<>();
    private final List<CudaBuffer> tables = new ArrayList<>();

    private Fused(CudaDevice device) {
        this.device = device;
        this.kernels = device.kernels();
    }

    /** The launches for calls that have been checked and agree. */
    static Fused of(CudaDevice device, CudaCall[] calls, Map<String, String> functions) {
        Fused fused = new Fused(device);
        CudaCall first = calls[0];
        switch (Objects.requireNonNull(first.collective)) {
            case ALL_REDUCE, REDUCE -> fused.reduce(calls, functions);
            case REDUCE_SCATTER -> fused.reduceScatter(calls, functions);
            case SCAN, EXSCAN -> fused.scan(calls, functions);
            case BROADCAST -> fused.broadcast(calls);
            case ALL_GATHER -> fused.allGather(calls);
            case ALL_TO_ALL -> fused.allToAll(calls);
            case GATHER -> fused.gather(calls);
            case SCATTER -> fused.scatter(calls);
            case BARRIER -> {}
        }
        return fused;
    }

    /** Copies one after the other in as few launches as possible. */
    static Fused copies(CudaDevice device, List<Copy> copies) {
        Fused fused = new Fused(device);
        fused.tasks(copies);
        return fused;
    }

    /** Divides elements in place, in the type in which they are accumulated. */
    static Fused divided(CudaDevice device, CudaBuffer buffer, int divisor) {
        Fused fused = new Fused(device);
        if (buffer.count() > 0) {
            CudaCall[] calls = {CudaCall.allReduce(buffer, buffer, ReduceOp.AVG)};
            MemorySegment args = args(calls, buffer.count(), false);
            args.set(LONG, 8, divisor);
            setRank(args, calls, 0, buffer.pointer(), 0, 0);
            long function = fused.kernels.fused(buffer.type(), Fold.AVG, 1).function("fused_reduce");
            fused.add(function, args, buffer.bytes(), 1, 1);
        }
        return fused;
    }

    /** Bytes from one place to another. */
    record Copy(long from, long to, long bytes) {}

    void launch(long stream) {
        for (Step step : steps) {
            step.launch(stream);
        }
    }

    /** Whether memory of its own must outlive its launches. */
    boolean hasTables() {
        return !tables.isEmpty();
    }

    @Override
    public void close() {
        tables.forEach(CudaBuffer::close);
    }

    private void reduce(CudaCall[] calls, Map<String, String> functions) {
        CudaCall first = calls[0];
        if (first.count == 0) {
            return;
        }
        boolean all = first.collective == Collective.ALL_REDUCE;
        if (calls.length == 1 && isCopy(first)) {
            copyOwn(first);
            return;
        }
        long function = module(first, calls.length, functions).function("fused_reduce");
        MemorySegment args = args(calls, first.count, false);
        for (int rank = 0; rank < calls.length; rank++) {
            boolean gets = all || rank == first.root;
            setRank(args, calls, rank, gets ? pointer(calls[rank].out) : 0, 0, 0);
        }
        add(function, table(args, calls.length), first.count * first.type.bytes(), 1, 1);
    }

    private void scan(CudaCall[] calls, Map<String, String> functions) {
        CudaCall first = calls[0];
        boolean exclusive = first.collective == Collective.EXSCAN;
        if (first.count == 0 || (exclusive && calls.length == 1)) {
            return;
        }
        if (calls.length == 1 && isCopy(first)) {
            copyOwn(first);
            return;
        }
        long function = module(first, calls.length, functions).function("fused_scan");
        MemorySegment args = args(calls, first.count, exclusive);
        for (int rank = 0; rank < calls.length; rank++) {
            setRank(args, calls, rank, exclusive && rank == 0 ? 0 : pointer(calls[rank].out), 0, 0);
        }
        add(function, table(args, calls.length), first.count * first.type.bytes(), 1, 1);
    }

    private void reduceScatter(CudaCall[] calls, Map<String, String> functions) {
        CudaCall first = calls[0];
        int size = calls.length;
        long[] counts = first.inCounts != null ? first.inCounts : filled(size, first.count);
        long[] offsets = CudaCall.offsets(counts);
        long longest = java.util.Arrays.stream(counts).max().orElse(0);
        if (longest == 0) {
            return;
        }
        if (size == 1 && isCopy(first)) {
            copyOwn(first);
            return;
        }
        long function = module(first, size, functions).function("fused_reduce_scatter");
        MemorySegment args = args(calls, 0, false);
        for (int rank = 0; rank < size; rank++) {
            setRank(args, calls, rank, pointer(calls[rank].out), offsets[rank], counts[rank]);
        }
        add(function, table(args, size), longest * first.type.bytes(), size, 1);
    }

    private void broadcast(CudaCall[] calls) {
        CudaCall root = calls[calls[0].root];
        if (root.count == 0 || calls.length == 1) {
            return;
        }
        spread(calls, new long[] {pointer(root.in)}, new long[] {root.count}, new long[] {0});
    }

    private void allGather(CudaCall[] calls) {
        int size = calls.length;
        long[] counts = calls[0].outCounts != null ? calls[0].outCounts : filled(size, calls[0].count);
        long[] sources = new long[size];
        for (int rank = 0; rank < size; rank++) {
            sources[rank] = pointer(calls[rank].in);
        }
        spread(calls, sources, counts, CudaCall.offsets(counts));
    }

    private void spread(CudaCall[] calls, long[] sources, long[] counts, long[] offsets) {
        long width = calls[0].type.bytes();
        long longest = java.util.Arrays.stream(counts).max().orElse(0);
        if (longest == 0) {
            return;
        }
        int size = calls.length;
        boolean inline = size <= INLINE_RANKS;
        MemorySegment args = Arena.ofAuto().allocate(SPREAD_TARGETS + INLINE_RANKS * 8L, 16);
        MemorySegment blocks = inline
                ? args.asSlice(SPREAD_BLOCKS, (long) INLINE_RANKS * BLOCK_BYTES)
                : Arena.ofAuto().allocate((long) sources.length * BLOCK_BYTES, 16);
        MemorySegment targets =
                inline ? args.asSlice(SPREAD_TARGETS) : Arena.ofAuto().allocate(8L * size, 16);
        args.set(INT, 0, size);
        args.set(INT, 4, sources.length);
        for (int block = 0; block < sources.length; block++) {
            blocks.set(LONG, (long) block * BLOCK_BYTES, sources[block]);
            blocks.set(LONG, (long) block * BLOCK_BYTES + 8, counts[block] * width);
            blocks.set(LONG, (long) block * BLOCK_BYTES + 16, offsets[block] * width);
        }
        for (int rank = 0; rank < size; rank++) {
            targets.setAtIndex(LONG, rank, pointer(calls[rank].out));
        }
        if (!inline) {
            args.set(LONG, 8, upload(blocks));
            args.set(LONG, 16, upload(targets));
        }
        add(kernels.copies().function("copy_spread"), args, longest * width, sources.length, 1);
    }

    private void allToAll(CudaCall[] calls) {
        int size = calls.length;
        long width = calls[0].type.bytes();
        if (calls[0].count >= 0 && size <= INLINE_RANKS) {
            long bytes = calls[0].count / size * width;
            if (bytes == 0) {
                return;
            }
            MemorySegment args = Arena.ofAuto().allocate(16 + 16L * INLINE_RANKS, 16);
            args.set(INT, 0, size);
            args.set(LONG, 8, bytes);
            for (int rank = 0; rank < size; rank++) {
                args.set(LONG, 16 + 8L * rank, pointer(calls[rank].in));
                args.set(LONG, 16 + 8L * (INLINE_RANKS + rank), pointer(calls[rank].out));
            }
            long function = kernels.copies().function("copy_exchange");
            Grid grid = Grid.of(device, function, bytes, Math.max(1, size * (size + 1) / 2));
            steps.add(new Step(function, grid.blocks(), size, size, grid.threads(), args));
            return;
        }
        List<Copy> copies = new ArrayList<>();
        long[][] sends = new long[size][];
        long[][] receives = new long[size][];
        for (int rank = 0; rank < size; rank++) {
            CudaCall call = calls[rank];
            sends[rank] = call.inCounts != null ? call.inCounts : filled(size, call.count / size);
            receives[rank] = call.outCounts != null ? call.outCounts : filled(size, call.count / size);
            if (calls[0].count >= 0 && CudaCall.overlap(buffer(call.in), buffer(call.out))) {
                throw new IllegalArgumentException("allToAll of more than " + INLINE_RANKS
                        + " ranks on a device cannot run in place: give it another output");
            }
        }
        for (int from = 0; from < size; from++) {
            long[] offsets = CudaCall.offsets(sends[from]);
            for (int to = 0; to < size; to++) {
                long at = CudaCall.offsets(receives[to])[from];
                copies.add(new Copy(
                        pointer(calls[from].in) + offsets[to] * width,
                        pointer(calls[to].out) + at * width,
                        sends[from][to] * width));
            }
        }
        tasks(copies);
    }

    private void gather(CudaCall[] calls) {
        CudaCall root = calls[calls[0].root];
        long[] counts = root.outCounts != null ? root.outCounts : filled(calls.length, root.count);
        long[] offsets = CudaCall.offsets(counts);
        List<Copy> copies = new ArrayList<>();
        for (int rank = 0; rank < calls.length; rank++) {
            copies.add(new Copy(
                    pointer(calls[rank].in),
                    pointer(root.out) + offsets[rank] * root.type.bytes(),
                    counts[rank] * root.type.bytes()));
        }
        tasks(copies);
    }

    private void scatter(CudaCall[] calls) {
        CudaCall root = calls[calls[0].root];
        long[] counts = root.inCounts != null ? root.inCounts : filled(calls.length, root.count);
        long[] offsets = CudaCall.offsets(counts);
        List<Copy> copies = new ArrayList<>();
        for (int rank = 0; rank < calls.length; rank++) {
            copies.add(new Copy(
                    pointer(root.in) + offsets[rank] * root.type.bytes(),
                    pointer(calls[rank].out),
                    counts[rank] * root.type.bytes()));
        }
        tasks(copies);
    }

    private void copyOwn(CudaCall call) {
        tasks(List.of(
                new Copy(pointer(call.in), pointer(call.out), buffer(call.out).bytes())));
    }

    private void tasks(List<Copy> all) {
        List<Copy> copies = all.stream()
                .filter(copy -> copy.bytes() > 0 && copy.from() != copy.to())
                .toList();
        for (int from = 0; from < copies.size(); from += MOST_TASKS) {
            List<Copy> part = copies.subList(from, Math.min(copies.size(), from + MOST_TASKS));
            MemorySegment args = Arena.ofAuto().allocate((long) MOST_TASKS * TASK_BYTES, 16);
            long longest = 0;
            for (int i = 0; i < part.size(); i++) {
                Copy copy = part.get(i);
                args.set(LONG, (long) i * TASK_BYTES, copy.from());
                args.set(LONG, (long) i * TASK_BYTES + 8, copy.to());
                args.set(LONG, (long) i * TASK_BYTES + 16, copy.bytes());
                longest = Math.max(longest, copy.bytes());
            }
            add(kernels.copies().function("copy_tasks"), args, longest, part.size(), 1);
        }
    }

    private void add(long function, MemorySegment args, long bytes, int parts, int depth) {
        Grid grid = Grid.of(device, function, bytes, parts);
        steps.add(new Step(function, grid.blocks(), parts, depth, grid.threads(), args));
    }

    private static MemorySegment args(CudaCall[] calls, long count, boolean exclusive) {
        int size = calls.length;
        int special = KernelSet.special(size);
        int places = special != 0 ? special : Math.max(size, INLINE_RANKS);
        MemorySegment args = Arena.ofAuto().allocate(ARGS_BYTES + (long) places * RANK_BYTES, 16);
        args.set(LONG, 0, count);
        args.set(LONG, 8, size);
        args.set(INT, 16, size);
        args.set(INT, 20, exclusive ? 1 : 0);
        return args;
    }

    private static void setRank(MemorySegment args, CudaCall[] calls, int rank, long out, long offset, long count) {
        long at = ARGS_BYTES + (long) rank * RANK_BYTES;
        args.set(LONG, at, pointer(calls[rank].in));
        args.set(LONG, at + 8, out);
        args.set(LONG, at + 16, scalar(calls[rank]));
        args.set(LONG, at + 24, offset);
        args.set(LONG, at + 32, count);
    }

    /** More ranks than a launch has room for lie in device memory instead. */
    private MemorySegment table(MemorySegment args, int size) {
        if (size > INLINE_RANKS) {
            args.set(LONG, 24, upload(args.asSlice(ARGS_BYTES, (long) size * RANK_BYTES)));
        }
        return args;
    }

    private long upload(MemorySegment memory) {
        CudaBuffer table = device.allocate(DataType.UINT8, memory.byteSize());
        tables.add(table);
        table.copyFrom(memory);
        return table.pointer();
    }

    private Module module(CudaCall call, int ranks, Map<String, String> functions) {
        ReduceOp op = Objects.requireNonNull(call.op);
        if (op.kind() == ReduceOp.Kind.USER) {
            return kernels.fusedUser(call.type, Objects.requireNonNull(functions.get(op.toString())), ranks);
        }
        return kernels.fused(call.type, fold(op), ranks);
    }

    static Fold fold(ReduceOp op) {
        return switch (op.kind()) {
            case SUM -> Fold.SUM;
            case PROD -> Fold.PROD;
            case MIN -> Fold.MIN;
            case MAX -> Fold.MAX;
            case AND -> Fold.AND;
            case OR -> Fold.OR;
            case XOR -> Fold.XOR;
            case AVG -> Fold.AVG;
            case PRE_MUL_SUM -> Fold.MUL_SUM;
            case USER -> throw new IllegalArgumentException("a function of the user's has no fold");
        };
    }

    private static boolean isCopy(CudaCall call) {
        ReduceOp.Kind kind = Objects.requireNonNull(call.op).kind();
        return kind != ReduceOp.Kind.AVG && kind != ReduceOp.Kind.PRE_MUL_SUM;
    }

    private static long scalar(CudaCall call) {
        ReduceOp op = Objects.requireNonNull(call.op);
        return op.kind() == ReduceOp.Kind.PRE_MUL_SUM ? scalarBits(call.type, op.scalar()) : 0;
    }

    /** The scalar in the type in which elements are accumulated. */
    static long scalarBits(DataType type, double scalar) {
        if (type == DataType.FLOAT64) {
            return Double.doubleToRawLongBits(scalar);
        }
        return type.isInteger() ? (long) scalar : Float.floatToRawIntBits((float) scalar) & 0xFFFFFFFFL;
    }

    private static CudaBuffer buffer(@Nullable CudaBuffer buffer) {
        return Objects.requireNonNull(buffer);
    }

    private static long pointer(@Nullable CudaBuffer buffer) {
        return buffer(buffer).pointer();
    }

    private static long[] filled(int size, long value) {
        long[] all = new long[size];
        java.util.Arrays.fill(all, value);
        return all;
    }
}
