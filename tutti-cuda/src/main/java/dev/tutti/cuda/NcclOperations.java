package dev.tutti.cuda;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nccl.NcclCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Calls as NCCL knows them: what it has no call for is made of sends and receives, or of a gather and a local fold. */
final class NcclOperations implements AutoCloseable {
    private static final int INT8 = 0;
    private static final int SUM = 0;
    private static final int PROD = 1;
    private static final int MAX = 2;
    private static final int MIN = 3;
    private static final int AVG = 4;
    private static final int HOST_IMMEDIATE = 1;

    private final NcclCommunicator owner;
    private final Map<String, Integer> scaled = new HashMap<>();
    private final List<CudaBuffer> kept = new ArrayList<>();
    private @Nullable CudaBuffer nothing;

    NcclOperations(NcclCommunicator owner) {
        this.owner = owner;
    }

    private static boolean isKnown(DataType type) {
        return type.number() <= DataType.FLOAT8E5M2.number();
    }

    private static boolean isScan(CudaCall call) {
        return call.collective == Collective.SCAN || call.collective == Collective.EXSCAN;
    }

    /** Refuses what NCCL cannot do, before anything is sent. */
    void requirePossible(CudaCall call) {
        if (call.op == null) {
            return;
        }
        if (!isKnown(call.type) && !isScan(call)) {
            throw new IllegalArgumentException("NCCL cannot reduce " + call.type);
        }
        switch (call.op.kind()) {
            case AND, OR, XOR, USER -> {
                if (!isScan(call) || call.op.kind() == ReduceOp.Kind.USER) {
                    throw new IllegalArgumentException("NCCL has no " + call.op);
                }
            }
            case PRE_MUL_SUM -> {
                if (call.type.bytes() == 1 && !call.type.isInteger()) {
                    throw new IllegalArgumentException("NCCL has no " + call.op + " of " + call.type);
                }
            }
            default -> {}
        }
    }

    /** Puts calls into the stream, as one group. */
    void run(List<CudaCall> calls) {
        List<Runnable> after = new ArrayList<>();
        List<Integer> operators = new ArrayList<>();
        for (CudaCall call : calls) {
            operators.add(call.op == null || isScan(call) ? SUM : operator(call));
        }
        require(NcclCalls.groupStart(), "ncclGroupStart");
        boolean grouped = false;
        try {
            for (int i = 0; i < calls.size(); i++) {
                one(calls.get(i), operators.get(i), after);
            }
            grouped = true;
        } finally {
            int code = NcclCalls.groupEnd();
            if (grouped) {
                owner.settle(code, "ncclGroupEnd");
            }
        }
        after.forEach(Runnable::run);
    }

    private void one(CudaCall call, int operator, List<Runnable> after) {
        long comm = owner.handle();
        long stream = owner.stream().handle();
        int type = isKnown(call.type) ? call.type.number() : INT8;
        int root = call.root;
        if (call.collective == null) {
            message(call);
            return;
        }
        switch (call.collective) {
            case ALL_REDUCE ->
                require(
                        NcclCalls.allReduce(in(call), out(call), call.count, type, operator, comm, stream),
                        "ncclAllReduce");
            case REDUCE ->
                require(
                        NcclCalls.reduce(
                                in(call),
                                owner.rank() == root ? out(call) : in(call),
                                call.count,
                                type,
                                operator,
                                root,
                                comm,
                                stream),
                        "ncclReduce");
            case BROADCAST -> {
                long bytes = call.count * call.type.bytes();
                require(NcclCalls.broadcast(in(call), out(call), bytes, INT8, root, comm, stream), "ncclBroadcast");
            }
            case REDUCE_SCATTER -> {
                if (call.inCounts == null) {
                    require(
                            NcclCalls.reduceScatter(in(call), out(call), call.count, type, operator, comm, stream),
                            "ncclReduceScatter");
                } else {
                    reduceScatterV(call, type, operator);
                }
            }
            case ALL_GATHER -> allGather(call);
            case GATHER -> gather(call);
            case SCATTER -> scatter(call);
            case ALL_TO_ALL -> allToAll(call);
            case SCAN, EXSCAN -> scan(call, after);
            case BARRIER -> {
                CudaBuffer word = nothing;
                if (word == null) {
                    word = owner.device().allocate(DataType.INT8, 1);
                    word.fill(0, owner.stream());
                    nothing = word;
                }
                require(
                        NcclCalls.allReduce(word.pointer(), word.pointer(), 1, INT8, SUM, comm, stream),
                        "ncclAllReduce");
            }
        }
    }

    private void message(CudaCall call) {
        CudaBuffer buffer = Objects.requireNonNull(call.sends ? call.in : call.out);
        move(call.sends, buffer.pointer(), buffer.bytes(), call.root);
    }

    private void move(boolean sends, long pointer, long bytes, int peer) {
        if (bytes > 0) {
            long stream = owner.stream().handle();
            require(
                    sends
                            ? NcclCalls.send(pointer, bytes, INT8, peer, owner.handle(), stream)
                            : NcclCalls.receive(pointer, bytes, INT8, peer, owner.handle(), stream),
                    sends ? "ncclSend" : "ncclRecv");
        }
    }

    private void allGather(CudaCall call) {
        long width = call.type.bytes();
        if (call.outCounts == null) {
            require(
                    NcclCalls.allGather(
                            in(call),
                            out(call),
                            call.count * width,
                            INT8,
                            owner.handle(),
                            owner.stream().handle()),
                    "ncclAllGather");
            return;
        }
        long[] offsets = CudaCall.offsets(call.outCounts);
        for (int from = 0; from < owner.size(); from++) {
            long bytes = call.outCounts[from] * width;
            if (bytes > 0) {
                long to = out(call) + offsets[from] * width;
                require(
                        NcclCalls.broadcast(
                                from == owner.rank() ? in(call) : to,
                                to,
                                bytes,
                                INT8,
                                from,
                                owner.handle(),
                                owner.stream().handle()),
                        "ncclBroadcast");
            }
        }
    }

    private void reduceScatterV(CudaCall call, int type, int operator) {
        long[] counts = Objects.requireNonNull(call.inCounts);
        long[] offsets = CudaCall.offsets(counts);
        for (int to = 0; to < owner.size(); to++) {
            if (counts[to] > 0) {
                long from = in(call) + offsets[to] * call.type.bytes();
                require(
                        NcclCalls.reduce(
                                from,
                                to == owner.rank() ? out(call) : from,
                                counts[to],
                                type,
                                operator,
                                to,
                                owner.handle(),
                                owner.stream().handle()),
                        "ncclReduce");
            }
        }
    }

    private void gather(CudaCall call) {
        move(true, in(call), buffer(call.in).bytes(), call.root);
        if (owner.rank() == call.root) {
            long[] counts = call.outCounts != null ? call.outCounts : filled(call.count);
            long[] offsets = CudaCall.offsets(counts);
            for (int from = 0; from < owner.size(); from++) {
                long width = call.type.bytes();
                move(false, out(call) + offsets[from] * width, counts[from] * width, from);
            }
        }
    }

    private void scatter(CudaCall call) {
        if (owner.rank() == call.root) {
            long[] counts = call.inCounts != null ? call.inCounts : filled(call.count);
            long[] offsets = CudaCall.offsets(counts);
            for (int to = 0; to < owner.size(); to++) {
                long width = call.type.bytes();
                move(true, in(call) + offsets[to] * width, counts[to] * width, to);
            }
        }
        move(false, out(call), buffer(call.out).bytes(), call.root);
    }

    private void allToAll(CudaCall call) {
        long width = call.type.bytes();
        long[] sends = call.inCounts != null ? call.inCounts : filled(call.count / owner.size());
        long[] receives = call.outCounts != null ? call.outCounts : filled(call.count / owner.size());
        long from = in(call);
        if (CudaCall.overlap(buffer(call.in), buffer(call.out))) {
            // Blocks would be overwritten before they are sent.
            CudaBuffer copy = temporary(call.type, call.count);
            copy.copyFrom(buffer(call.in), owner.stream());
            from = copy.pointer();
        }
        long[] fromOffsets = CudaCall.offsets(sends);
        long[] toOffsets = CudaCall.offsets(receives);
        for (int peer = 0; peer < owner.size(); peer++) {
            move(true, from + fromOffsets[peer] * width, sends[peer] * width, peer);
            move(false, out(call) + toOffsets[peer] * width, receives[peer] * width, peer);
        }
    }

    /** Everybody's input comes here; the fold is local, in rank order, as for ranks that share a device. */
    private void scan(CudaCall call, List<Runnable> after) {
        if (call.count == 0) {
            return;
        }
        CudaBuffer all = temporary(call.type, call.count * owner.size());
        require(
                NcclCalls.allGather(
                        in(call),
                        all.pointer(),
                        call.count * call.type.bytes(),
                        INT8,
                        owner.handle(),
                        owner.stream().handle()),
                "ncclAllGather");
        int first = call.collective == Collective.SCAN ? owner.rank() + 1 : owner.rank();
        if (first > 0) {
            after.add(() -> {
                CudaCall[] parts = new CudaCall[first];
                for (int from = 0; from < first; from++) {
                    parts[from] = CudaCall.reduce(
                            all.slice(from * call.count, call.count),
                            buffer(call.out),
                            Objects.requireNonNull(call.op),
                            first - 1);
                }
                Fused.of(owner.device(), parts, Map.of()).launch(owner.stream().handle());
            });
        }
    }

    /** Two numbers of every rank. */
    long[] exchange(long a, long b) {
        try (CudaBuffer mine = owner.device().allocate(DataType.INT64, 2);
                CudaBuffer all = owner.device().allocate(DataType.INT64, 2L * owner.size())) {
            mine.copyFrom(new long[] {a, b}, owner.stream());
            owner.start(CudaCall.allGather(mine, all)).await();
            long[] numbers = new long[2 * owner.size()];
            all.copyTo(numbers, owner.stream());
            return numbers;
        }
    }

    private CudaBuffer temporary(DataType type, long count) {
        // In stream order, so that it is given back when the work before it is done.
        CudaBuffer memory = CudaBuffer.allocateAsync(owner.stream(), type, count);
        kept.add(memory);
        if (kept.size() > 8) {
            kept.removeFirst().close();
        }
        return memory;
    }

    private int operator(CudaCall call) {
        ReduceOp op = Objects.requireNonNull(call.op);
        return switch (op.kind()) {
            case SUM -> SUM;
            case PROD -> PROD;
            case MAX -> MAX;
            case MIN -> MIN;
            case AVG -> AVG;
            case PRE_MUL_SUM ->
                scaled.computeIfAbsent(call.type + " " + op.scalar(), key -> create(call.type, op.scalar()));
            default -> throw new IllegalArgumentException("NCCL has no " + op);
        };
    }

    private int create(DataType type, double scalar) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment value = arena.allocate(8, 8);
            value.set(ValueLayout.JAVA_LONG, 0, bits(type, scalar));
            require(
                    NcclCalls.createPreMulSum(
                            made.address(), value.address(), type.number(), HOST_IMMEDIATE, owner.handle()),
                    "ncclRedOpCreatePreMulSum");
            return made.get(ValueLayout.JAVA_INT, 0);
        }
    }

    private static long bits(DataType type, double scalar) {
        return switch (type) {
            case FLOAT64 -> Double.doubleToRawLongBits(scalar);
            case FLOAT32 -> Float.floatToRawIntBits((float) scalar);
            case FLOAT16 -> Float.floatToFloat16((float) scalar);
            case BFLOAT16 ->
                (Float.floatToRawIntBits((float) scalar)
                                + 0x7FFF
                                + ((Float.floatToRawIntBits((float) scalar) >>> 16) & 1))
                        >>> 16;
            default -> (long) scalar;
        };
    }

    private static void require(int code, String call) {
        if (code != 0 && code != Nccl.IN_PROGRESS) {
            throw Nccl.failure(code, call, "");
        }
    }

    private long[] filled(long value) {
        long[] all = new long[owner.size()];
        java.util.Arrays.fill(all, value);
        return all;
    }

    private static CudaBuffer buffer(@Nullable CudaBuffer buffer) {
        return Objects.requireNonNull(buffer);
    }

    private static long in(CudaCall call) {
        return buffer(call.in).pointer();
    }

    private static long out(CudaCall call) {
        return buffer(call.out).pointer();
    }

    @Override
    public void close() {
        kept.forEach(CudaBuffer::close);
        scaled.values().forEach(operator -> NcclCalls.destroyOperator(operator, owner.handle()));
        if (nothing != null) {
            nothing.close();
        }
    }
}
