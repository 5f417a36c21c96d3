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
    static final int INLINE_RANKS = KernelSet.MOST_PLACES;
    private static final int BLOCK_BYTES = 24;
    private static final int TASK_BYTES = 24;
    /** Vectors that a thread should have, found by trying: the more it writes of each, the fewer. */
    private static final int FOLDED = 2;

    private static final int COPIED = 8;
    /** As many as a thread loads at once: {@code BATCH_OF} of {@code copy.cu}. */
    private static final int COPIED_APART = 4;

    private static final int SPREAD_BLOCKS = 24;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final CudaDevice device;
    private final KernelSet kernels;
    /** Null: all ranks are in this launch. */
    private final @Nullable Part part;

    private final List<Step> steps = new ArrayList<>();
    private final List<CudaBuffer> tables = new ArrayList<>();

    private Fused(CudaDevice device, @Nullable Part part) {
        this.device = device;
        this.part = part;
        this.kernels = device.kernels();
    }

    /** The launches for calls that have been checked and agree. */
    static Fused of(CudaDevice device, CudaCall[] calls, Map<String, String> functions) {
        return of(device, calls, functions, null);
    }

    /** The launches of one rank's part of such calls. */
    static Fused of(CudaDevice device, CudaCall[] calls, Map<String, String> functions, @Nullable Part part) {
        Fused fused = new Fused(device, part);
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
        fused.meetAtLeast();
        return fused;
    }

    /** Copies one after the other in as few launches as possible. */
    static Fused copies(CudaDevice device, List<Copy> copies) {
        return copies(device, copies, null);
    }

    /** The same, meeting others before and after. */
    static Fused copies(CudaDevice device, List<Copy> copies, @Nullable Part part) {
        Fused fused = new Fused(device, part);
        fused.tasks(copies);
        fused.meetAtLeast();
        return fused;
    }

    /** Compiles and loads what a call needs, which must not happen while others wait on the device. */
    static List<Long> load(CudaDevice device, CudaCall call, int ranks, Map<String, String> functions, int apart) {
        Fused fused = new Fused(device, null);
        KernelSet kernels = fused.kernels;
        List<Long> needed = new ArrayList<>();
        if (call.collective == null) {
            for (int copies : new int[] {0, KernelSet.tasks(8), Integer.MAX_VALUE}) {
                needed.add(
                        kernels.copies(KernelSet.places(ranks, copies), apart).function("copy_messages"));
            }
            return needed;
        }
        // Where no byte is to be moved ranks meet by this one.
        needed.add(kernels.copies(KernelSet.places(0, 0), apart).function("copy_tasks"));
        int places = KernelSet.places(ranks, 0);
        switch (call.collective) {
            case ALL_REDUCE, REDUCE ->
                needed.add(fused.module(call, ranks, functions, apart).function("fused_reduce"));
            case REDUCE_SCATTER ->
                needed.add(fused.module(call, ranks, functions, apart).function("fused_reduce_scatter"));
            case SCAN, EXSCAN ->
                needed.add(fused.module(call, ranks, functions, apart).function("fused_scan"));
            case BROADCAST, ALL_GATHER ->
                needed.add(kernels.copies(places, apart).function("copy_spread"));
            case ALL_TO_ALL -> {
                needed.add(kernels.copies(places, apart).function("copy_exchange"));
                needed.add(kernels.copies(KernelSet.places(0, ranks * ranks), apart)
                        .function("copy_tasks"));
            }
            case GATHER, SCATTER ->
                needed.add(kernels.copies(KernelSet.places(0, ranks), apart).function("copy_tasks"));
            case BARRIER -> {}
        }
        return needed;
    }

    /** Divides elements in place, in the type in which they are accumulated. */
    static Fused divided(CudaDevice device, CudaBuffer buffer, int divisor) {
        Fused fused = new Fused(device, null);
        if (buffer.count() > 0) {
            CudaCall[] calls = {CudaCall.allReduce(buffer, buffer, ReduceOp.AVG)};
            MemorySegment args = FoldArgs.of(calls, buffer.count(), false);
            args.set(LONG, 8, divisor);
            FoldArgs.setRank(args, calls, 0, buffer.pointer(), 0, 0);
            long function = fused.kernels
                    .fused(buffer.type(), Fold.AVG, 1, KernelSet.TOGETHER)
                    .function("fused_reduce");
            fused.add(function, args, buffer.bytes(), 1, FOLDED);
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
        if (calls.length == 1 && FoldArgs.isCopy(first)) {
            copyOwn(first);
            return;
        }
        long function = module(first, calls.length, functions).function("fused_reduce");
        MemorySegment args = FoldArgs.of(calls, first.count, false);
        for (int rank = 0; rank < calls.length; rank++) {
            boolean gets = all || rank == first.root;
            FoldArgs.setRank(args, calls, rank, gets ? pointer(calls[rank].out) : 0, 0, 0);
        }
        add(function, table(args, calls.length), first.count * first.type.bytes(), 1, vectors(FOLDED, calls.length));
    }

    private void scan(CudaCall[] calls, Map<String, String> functions) {
        CudaCall first = calls[0];
        boolean exclusive = first.collective == Collective.EXSCAN;
        if (first.count == 0 || (exclusive && calls.length == 1)) {
            return;
        }
        if (calls.length == 1 && FoldArgs.isCopy(first)) {
            copyOwn(first);
            return;
        }
        long function = module(first, calls.length, functions).function("fused_scan");
        MemorySegment args = FoldArgs.of(calls, first.count, exclusive);
        for (int rank = 0; rank < calls.length; rank++) {
            FoldArgs.setRank(args, calls, rank, exclusive && rank == 0 ? 0 : pointer(calls[rank].out), 0, 0);
        }
        add(function, table(args, calls.length), first.count * first.type.bytes(), 1, vectors(FOLDED, calls.length));
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
        if (size == 1 && FoldArgs.isCopy(first)) {
            copyOwn(first);
            return;
        }
        long function = module(first, size, functions).function("fused_reduce_scatter");
        MemorySegment args = FoldArgs.of(calls, 0, false);
        for (int rank = 0; rank < size; rank++) {
            FoldArgs.setRank(args, calls, rank, pointer(calls[rank].out), offsets[rank], counts[rank]);
        }
        add(function, table(args, size), longest * first.type.bytes(), size, vectors(COPIED, size));
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
        int places = KernelSet.places(size, 0);
        long blockBytes = (long) places * BLOCK_BYTES;
        MemorySegment args = Arena.ofAuto().allocate(SPREAD_BLOCKS + blockBytes + 8L * places, 16);
        MemorySegment blocks = inline
                ? args.asSlice(SPREAD_BLOCKS, blockBytes)
                : Arena.ofAuto().allocate((long) sources.length * BLOCK_BYTES, 16);
        MemorySegment targets = inline
                ? args.asSlice(SPREAD_BLOCKS + blockBytes)
                : Arena.ofAuto().allocate(8L * size, 16);
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
        int vectors = part != null || size < 4 ? COPIED : size < 8 ? 2 : 1;
        add(kernels.copies(places, apart()).function("copy_spread"), args, longest * width, sources.length, vectors);
    }

    private void allToAll(CudaCall[] calls) {
        int size = calls.length;
        long width = calls[0].type.bytes();
        if (calls[0].count >= 0 && size <= INLINE_RANKS) {
            long bytes = calls[0].count / size * width;
            if (bytes == 0) {
                return;
            }
            int places = KernelSet.places(size, 0);
            MemorySegment args = Arena.ofAuto().allocate(16 + 16L * places, 16);
            args.set(INT, 0, size);
            args.set(LONG, 8, bytes);
            for (int rank = 0; rank < size; rank++) {
                args.set(LONG, 16 + 8L * rank, pointer(calls[rank].in));
                args.set(LONG, 16 + 8L * (places + rank), pointer(calls[rank].out));
            }
            add(kernels.copies(places, apart()).function("copy_exchange"), args, bytes, size, size, copied(), 0);
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
        int places =
                KernelSet.places(isMessages() ? Objects.requireNonNull(part).ranks() : 0, all.size());
        int most = KernelSet.tasks(places);
        for (int from = 0; from < copies.size() || (from == 0 && isMessages()); from += most) {
            List<Copy> some = copies.subList(from, Math.min(copies.size(), from + most));
            MemorySegment args = Arena.ofAuto().allocate((long) most * TASK_BYTES, 16);
            long longest = 0;
            for (int i = 0; i < some.size(); i++) {
                Copy copy = some.get(i);
                args.set(LONG, (long) i * TASK_BYTES, copy.from());
                args.set(LONG, (long) i * TASK_BYTES + 8, copy.to());
                args.set(LONG, (long) i * TASK_BYTES + 16, copy.bytes());
                longest = Math.max(longest, copy.bytes());
            }
            String kernel = isMessages() ? "copy_messages" : "copy_tasks";
            long function = kernels.copies(places, apart()).function(kernel);
            add(function, args, longest, Math.max(1, some.size()), 1, copied(), isMessages() ? places : 0);
        }
    }

    private int copied() {
        return part == null ? COPIED : COPIED_APART;
    }

    /** Where ranks share a grid, as many as a thread loads at once: {@code BATCH} of {@code fused.cu}. */
    private int vectors(int together, int ranks) {
        int special = KernelSet.special(ranks);
        return part == null ? together : special == 2 ? 4 : special == 4 ? 2 : 1;
    }

    private void add(long function, MemorySegment args, long bytes, int rows, int vectors) {
        add(function, args, bytes, rows, 1, vectors, 0);
    }

    /** Each of the grid's rows and columns has that many bytes at most. */
    private void add(long function, MemorySegment args, long bytes, int rows, int columns, int vectors, int places) {
        if (part != null) {
            steps.add(part.step(function, args, bytes, rows, columns, vectors, places));
            return;
        }
        Grid grid = Grid.of(device, function, bytes, rows * columns, vectors);
        steps.add(new Step(function, grid.blocks(), rows, columns, grid.threads(), args));
    }

    /** Ranks that are processes meet even where no byte is to be moved. */
    private void meetAtLeast() {
        if (part != null && steps.isEmpty()) {
            int places = KernelSet.places(0, 0);
            MemorySegment nothing = Arena.ofAuto().allocate((long) KernelSet.tasks(places) * TASK_BYTES, 16);
            add(kernels.copies(places, apart()).function("copy_tasks"), nothing, 0, 1, copied());
        }
    }

    /** More ranks than a launch has room for lie in device memory instead. */
    private MemorySegment table(MemorySegment args, int size) {
        if (size > INLINE_RANKS) {
            args.set(LONG, 24, upload(args.asSlice(FoldArgs.HEAD_BYTES, (long) size * FoldArgs.RANK_BYTES)));
        }
        return args;
    }

    private long upload(MemorySegment memory) {
        CudaBuffer table = device.allocate(DataType.UINT8, memory.byteSize());
        tables.add(table);
        table.copyFrom(memory);
        return table.pointer();
    }

    private boolean isMessages() {
        return part != null && part.isMessages();
    }

    private int apart() {
        return part == null ? KernelSet.TOGETHER : part.apart();
    }

    private Module module(CudaCall call, int ranks, Map<String, String> functions) {
        return module(call, ranks, functions, apart());
    }

    private Module module(CudaCall call, int ranks, Map<String, String> functions, int apart) {
        ReduceOp op = Objects.requireNonNull(call.op);
        if (op.kind() == ReduceOp.Kind.USER) {
            return kernels.fusedUser(call.type, Objects.requireNonNull(functions.get(op.toString())), ranks, apart);
        }
        return kernels.fused(call.type, FoldArgs.fold(op), ranks, apart);
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
