package dev.tutti.cli.perf;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cuda.CudaBuffer;
import dev.tutti.cuda.CudaCall;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.cuda.CudaEvent;
import dev.tutti.cuda.CudaGroup;
import dev.tutti.cuda.CudaStream;
import dev.tutti.cuda.CudaWorld;
import dev.tutti.data.DataStream;
import dev.tutti.data.ExactData;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Rows of ranks that share a CUDA device: all ranks in one thread's group, timed by the device, compared on the host. */
final class CudaRows implements AutoCloseable {
    private static final byte POISON = 0x5A;
    private static final long WARM_NANOS = 100_000_000;

    private final CudaDevice device;
    private final PerfOptions options;
    private final Traffic traffic;
    private final int ranks;
    private final CudaStream stream;
    private final CudaWorld world;
    private final List<CudaBuffer> send = new ArrayList<>();
    private final List<CudaBuffer> recv = new ArrayList<>();

    CudaRows(CudaDevice device, PerfOptions options, Traffic traffic) {
        this.device = device;
        this.options = options;
        this.traffic = traffic;
        this.ranks = options.ranks();
        this.stream = device.stream();
        this.world = CudaWorld.open(device, ranks);
        long bytes = Math.max(16, options.sizes().max());
        for (int rank = 0; rank < ranks; rank++) {
            world.communicator(rank).useStream(stream);
            send.add(device.allocate(DataType.UINT8, bytes));
            recv.add(device.allocate(DataType.UINT8, bytes));
        }
    }

    /** Refuses programs that are not one launch. */
    static void requirePossible(Program program) {
        if (program == Program.ALLTOALLV || program == Program.HYPERCUBE || program == Program.BARRIER) {
            throw CommandException.usage(program.label() + " cannot be timed on a device");
        }
    }

    void run(Case what, Consumer<Row> rows) {
        if (isPlanned()) {
            CudaPlans.algorithm(what, options);
        }
        options.sizes().forEach(size -> {
            Shape shape = what.program().shape(size, what.type().bytes(), ranks, traffic);
            rows.accept(new Row(
                    what,
                    shape,
                    options.leastIterations(),
                    Steadiness.UNCHECKED,
                    measure(what, shape, false),
                    measure(what, shape, true)));
        });
    }

    /** One call of all ranks, to be made many times. */
    interface Launches extends AutoCloseable {
        void enqueue();

        void await();

        @Override
        void close();
    }

    private Row.Half measure(Case what, Shape shape, boolean wanted) {
        // A plan has no all-to-all in place: it is timed out of place twice.
        boolean inPlace = wanted && !(isPlanned() && what.program() == Program.ALLTOALL);
        try (Launches launches = launches(what, shape, inPlace);
                CudaEvent start = CudaEvent.openTimed(device);
                CudaEvent end = CudaEvent.openTimed(device)) {
            long wrong = options.check > 0 && what.program().isChecked(inPlace)
                    ? check(launches, what, shape, inPlace)
                    : Row.Half.UNCHECKED;
            warm(launches);
            start.record(stream);
            int repetitions = options.leastIterations() * options.aggregated;
            for (int i = 0; i < repetitions; i++) {
                launches.enqueue();
            }
            end.record(stream);
            end.synchronise();
            launches.await();
            double micros = end.microsSince(start) / repetitions;
            double bandwidth = micros > 0 ? shape.algorithmBytes() / micros / 1e3 : 0;
            return new Row.Half(micros, bandwidth, bandwidth * what.program().busFactor(ranks), wrong, List.of());
        }
    }

    /** Whether calls go through plans, as an algorithm was named. */
    private boolean isPlanned() {
        return options.algorithm != null || options.protocol != null;
    }

    private Launches launches(Case what, Shape shape, boolean inPlace) {
        if (isPlanned()) {
            CudaPlans plans = new CudaPlans(device, stream, options, what, shape);
            for (int rank = 0; rank < ranks; rank++) {
                addMemory(plans, what, shape, inPlace, rank);
            }
            return plans;
        }
        CudaGroup group = world.group();
        for (int rank = 0; rank < ranks; rank++) {
            add(group, what, shape, inPlace, rank);
        }
        return new Launches() {
            @Override
            public void enqueue() {
                group.enqueue();
            }

            @Override
            public void await() {
                stream.synchronise();
            }

            @Override
            public void close() {
                group.close();
            }
        };
    }

    /** Memory as {@link #add} has it. */
    private void addMemory(CudaPlans plans, Case what, Shape shape, boolean inPlace, int rank) {
        DataType type = what.type();
        long count = shape.count();
        Program program = what.program();
        boolean atRoot = rank == what.root();
        CudaBuffer out = view(recv.get(rank), type, shape.recvCount());
        CudaBuffer in = !inPlace && program != Program.BROADCAST
                ? view(send.get(rank), type, shape.sendCount())
                : view(recv.get(rank), type, shape.sendCount());
        if (inPlace && (program == Program.ALL_GATHER || (program == Program.GATHER && atRoot))) {
            in = out.slice(rank * count, count);
        } else if (inPlace && (program == Program.REDUCE_SCATTER || (program == Program.SCATTER && atRoot))) {
            out = in.slice(rank * count, count);
        }
        plans.add(in, out);
    }

    /** So long that the host's part is compiled: small launches cost less on the device than uncompiled code on the host. */
    private void warm(Launches launches) {
        long end = System.nanoTime() + WARM_NANOS;
        for (int i = 0; i < Math.max(3, options.warmupIterations()) || System.nanoTime() - end < 0; i++) {
            launches.enqueue();
            stream.synchronise();
        }
        launches.await();
    }

    private void add(CudaGroup group, Case what, Shape shape, boolean inPlace, int rank) {
        DataType type = what.type();
        CudaBuffer out = view(recv.get(rank), type, shape.recvCount());
        CudaBuffer in =
                inPlace ? view(recv.get(rank), type, shape.sendCount()) : view(send.get(rank), type, shape.sendCount());
        ReduceOp op = ExactData.operator(what.operator(), rank);
        boolean atRoot = rank == what.root();
        long count = shape.count();
        CudaCall call = switch (what.program()) {
            case ALL_REDUCE -> CudaCall.allReduce(in, out, op);
            case REDUCE -> CudaCall.reduce(in, atRoot ? out : null, op, what.root());
            case SCAN -> CudaCall.scan(in, out, op);
            case EXSCAN -> CudaCall.exscan(in, out, op);
            case BROADCAST -> CudaCall.broadcast(out, what.root());
            case ALL_GATHER -> CudaCall.allGather(inPlace ? out.slice(rank * count, count) : in, out);
            case GATHER ->
                CudaCall.gather(
                        inPlace && atRoot ? out.slice(rank * count, count) : in, atRoot ? out : null, what.root());
            case REDUCE_SCATTER -> CudaCall.reduceScatter(in, inPlace ? in.slice(rank * count, count) : out, op);
            case SCATTER ->
                CudaCall.scatter(
                        atRoot ? in : null, inPlace && atRoot ? in.slice(rank * count, count) : out, what.root());
            case ALLTOALL -> CudaCall.allToAll(in, out);
            case SENDRECV -> CudaCall.send(in, (rank + 1) % ranks);
            default -> throw CommandException.usage(what.program().label() + " cannot be timed on a device");
        };
        group.add(world.communicator(rank), call);
        if (what.program() == Program.SENDRECV) {
            // In place would overwrite what is being sent: the other half is only timed.
            group.add(
                    world.communicator(rank),
                    CudaCall.receive(
                            inPlace ? view(send.get(rank), type, shape.recvCount()) : out, (rank + ranks - 1) % ranks));
        }
    }

    /** Exact data in, poison where results go, one run; counts elements that are not what they must be. */
    private long check(Launches launches, Case what, Shape shape, boolean inPlace) {
        ExactData data = what.program().isReducing()
                ? ExactData.reducing(what.type(), what.operator(), ranks)
                : ExactData.moving(what.type(), ranks);
        long seed = shape.bytes() + (inPlace ? 1 : 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Math.max(16, shape.bytes()), 64);
            for (int rank = 0; rank < ranks; rank++) {
                fill(what, shape, inPlace, rank, data.input(rank, seed), memory);
            }
            launches.enqueue();
            launches.await();
            long wrong = 0;
            for (int rank = 0; rank < ranks; rank++) {
                MemorySegment result = memory.asSlice(0, shape.bytes());
                view(recv.get(rank), DataType.UINT8, shape.bytes()).copyTo(result, stream);
                wrong += count(what, shape, inPlace, rank, data, seed, result);
            }
            return wrong;
        }
    }

    private void fill(Case what, Shape shape, boolean inPlace, int rank, DataStream elements, MemorySegment memory) {
        memory.fill(POISON);
        MemorySegment whole = memory.asSlice(0, shape.bytes());
        recvBytes(rank, shape).copyFrom(whole, stream);
        long width = shape.elementBytes();
        Program program = what.program();
        boolean gathers = program == Program.ALL_GATHER || (program == Program.GATHER && rank == what.root());
        boolean here = inPlace || program == Program.BROADCAST;
        long offset = inPlace && gathers ? rank * shape.count() * width : 0;
        MemorySegment input = memory.asSlice(0, shape.sendCount() * width);
        elements.fill(input, 0);
        if (program == Program.BROADCAST && rank != what.root()) {
            return;
        }
        CudaBuffer to = here
                ? view(recv.get(rank), DataType.UINT8, offset + input.byteSize())
                        .slice(offset, input.byteSize())
                : view(send.get(rank), DataType.UINT8, input.byteSize());
        to.copyFrom(input, stream);
    }

    private CudaBuffer recvBytes(int rank, Shape shape) {
        return view(recv.get(rank), DataType.UINT8, shape.bytes());
    }

    private long count(
            Case what, Shape shape, boolean inPlace, int rank, ExactData data, long seed, MemorySegment result) {
        long width = shape.elementBytes();
        long count = shape.count();
        boolean atRoot = rank == what.root();
        // In place a block is where it was among all blocks.
        long own = inPlace && (what.program() == Program.REDUCE_SCATTER || atRoot) ? rank * count : 0;
        return switch (what.program()) {
            case ALL_REDUCE -> data.reduced(seed).countWrong(part(result, 0, shape.recvCount(), width), 0);
            case REDUCE -> atRoot ? data.reduced(seed).countWrong(part(result, 0, shape.recvCount(), width), 0) : 0;
            case SCAN -> data.reduced(rank + 1, seed).countWrong(part(result, 0, shape.recvCount(), width), 0);
            case EXSCAN ->
                rank == 0 ? 0 : data.reduced(rank, seed).countWrong(part(result, 0, shape.recvCount(), width), 0);
            case BROADCAST -> data.input(what.root(), seed).countWrong(part(result, 0, count, width), 0);
            case REDUCE_SCATTER -> data.reduced(seed).countWrong(part(result, own, count, width), rank * count);
            case SCATTER -> data.input(what.root(), seed).countWrong(part(result, own, count, width), rank * count);
            case ALL_GATHER, GATHER -> {
                long wrong = 0;
                for (int peer = 0; (atRoot || what.program() == Program.ALL_GATHER) && peer < ranks; peer++) {
                    wrong += data.input(peer, seed).countWrong(part(result, peer * count, count, width), 0);
                }
                yield wrong;
            }
            case ALLTOALL -> {
                long wrong = 0;
                for (int peer = 0; peer < ranks; peer++) {
                    wrong += data.input(peer, seed).countWrong(part(result, peer * count, count, width), rank * count);
                }
                yield wrong;
            }
            case SENDRECV ->
                data.input((rank + ranks - 1) % ranks, seed).countWrong(part(result, 0, shape.recvCount(), width), 0);
            default -> 0;
        };
    }

    private static MemorySegment part(MemorySegment memory, long offset, long count, long width) {
        return memory.asSlice(offset * width, count * width);
    }

    private CudaBuffer view(CudaBuffer buffer, DataType type, long count) {
        return CudaBuffer.external(device, buffer.pointer(), type, count);
    }

    @Override
    public void close() {
        world.close();
        send.forEach(CudaBuffer::close);
        recv.forEach(CudaBuffer::close);
        stream.close();
    }
}
