package dev.tutti.cuda;

import dev.tutti.Collective;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Memories;
import dev.tutti.cuda.driver.Modules;
import dev.tutti.exec.Durations;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Reach;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A plan, of a file or of Tutti's own algorithms, run on a device for all its ranks: one block per lane, all in one cooperative
 * launch. Counters, semaphores and scratch are the plan's own and live from launch to launch; launches follow each other in their
 * stream.
 *
 * {@snippet :
 * try (CudaPlan run = CudaPlan.open(device, plan)) {
 *     run.launch(stream, type, count, null, inputs, outputs);
 *     run.await(Duration.ofSeconds(10));
 * }
 * }
 */
public final class CudaPlan implements AutoCloseable {
    private static final int MOST_THREADS = 512;
    private static final int LEAST_THREADS = 32;
    private static final int IN_FLIGHT = 8;
    private static final int ARGS_BYTES = 32;
    private static final long ENDING_NANOS = 20_000_000_000L;
    private static final int LISTED_LANES = 6;
    private static final int SPINS = 2000;
    private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(5);

    private final CudaDevice device;
    private final Plan plan;
    private final int generation;
    private final PlanLayout layout;
    private final List<CudaBuffer> memory = new ArrayList<>();
    private final CudaBuffer control;
    private final EventPool events;
    private final MemorySegment arguments = Arena.ofAuto().allocate(ARGS_BYTES + 8, 16);
    private final ArrayDeque<Launch> running = new ArrayDeque<>();
    private final @Nullable Image[] images = new Image[2];
    /** Images that no launch to come needs. */
    private final List<CudaBuffer> retired = new ArrayList<>();

    private @Nullable CudaBuffer stage;
    private int launches;
    private int delays;
    private @Nullable RuntimeException broken;

    private record Launch(int flag, int slot, Completion end) {}

    /** Records on the device, for launches of one half with these buffers. */
    private record Image(int version, long stream, long[] inputs, long[] outputs, long[] scalars, CudaBuffer room) {
        boolean serves(int now, long on, long[] in, long[] out, long[] scaled) {
            return version == now
                    && stream == on
                    && java.util.Arrays.equals(inputs, in)
                    && java.util.Arrays.equals(outputs, out)
                    && java.util.Arrays.equals(scalars, scaled);
        }
    }

    private CudaPlan(CudaDevice device, Plan plan) {
        this.device = device;
        this.plan = plan;
        device.enter();
        this.generation = device.generation();
        this.events = new EventPool(device);
        this.layout = new PlanLayout(plan, new PlanLayout.Memory() {
            @Override
            public long allocate(long bytes) {
                CudaBuffer buffer = device.allocate(DataType.UINT8, bytes);
                memory.add(buffer);
                buffer.fill(0, device.defaultStream());
                device.synchronise();
                return buffer.pointer();
            }

            @Override
            public void write(long address, MemorySegment data) {
                CudaBuffer.external(device, address, DataType.UINT8, data.byteSize())
                        .copyFrom(data);
            }
        });
        this.control = CudaBuffer.allocatePinned(device, DataType.UINT8, 64 + 8L * IN_FLIGHT * layout.lanes());
        control.hostSegment().fill((byte) 0);
    }

    /**
     * Makes room for a plan.
     *
     * @param device where all its ranks are
     * @param plan a plan of a file, or of an algorithm of Tutti's own
     * @return the plan, to be closed
     */
    public static CudaPlan open(CudaDevice device, Plan plan) {
        return new CudaPlan(device, plan);
    }

    /**
     * For tests: makes every lane wait a little before each of its operations, differently for each seed.
     *
     * @param seed not 0; 0 for no delays
     */
    public void delays(int seed) {
        delays = seed;
    }

    /**
     * Lanes that each rank of a plan of Tutti's own should have on a device: one block for each multiprocessor.
     *
     * @param device where all ranks are
     * @param ranks how many there are
     * @return at least 1
     */
    public static int lanes(CudaDevice device, int ranks) {
        return Math.max(1, device.attribute(Attribute.MULTIPROCESSORS) / ranks);
    }

    /**
     * Puts a launch into a stream. At most eight may be on their way; then it waits for them.
     *
     * @param stream whose order counts
     * @param type the elements
     * @param count elements of one block: of the whole input of an all-reduce, of one rank's share of an all-gather
     * @param operator in place of whatever the plan says; null to do what the plan says, or sum
     * @param inputs by rank
     * @param outputs by rank; where the plan is in place, the same memory
     */
    public void launch(
            CudaStream stream,
            DataType type,
            long count,
            @Nullable ReduceOp operator,
            List<CudaBuffer> inputs,
            List<CudaBuffer> outputs) {
        ReduceOp given =
                operator == null && layout.isBlocks() && plan.collective().isReducing() ? ReduceOp.SUM : operator;
        launch(stream, type, count, given, new long[plan.ranks()], inputs, outputs);
    }

    /**
     * Puts a launch into a stream, with an operator for each rank; they differ in the scalar of preMulSum only.
     *
     * @param stream whose order counts
     * @param type the elements
     * @param count elements of one block
     * @param operators by rank
     * @param inputs by rank
     * @param outputs by rank
     */
    public void launchEach(
            CudaStream stream,
            DataType type,
            long count,
            List<ReduceOp> operators,
            List<CudaBuffer> inputs,
            List<CudaBuffer> outputs) {
        long[] scalars = operators.stream()
                .mapToLong(each -> FoldArgs.scalarBits(type, each.scalar()))
                .toArray();
        launch(stream, type, count, operators.getFirst(), scalars, inputs, outputs);
    }

    private void launch(
            CudaStream stream,
            DataType type,
            long count,
            @Nullable ReduceOp operator,
            long[] scalars,
            List<CudaBuffer> inputs,
            List<CudaBuffer> outputs) {
        requireUsable();
        requireBuffers(inputs, outputs);
        requireOperator(operator);
        while (running.size() >= IN_FLIGHT) {
            awaitOldest(System.nanoTime() + DEFAULT_TIMEOUT.toNanos(), DEFAULT_TIMEOUT);
        }
        long bytes = count * type.bytes();
        if (layout.wouldGrow(bytes, type)) {
            await(DEFAULT_TIMEOUT);
        }
        stream.enter();
        layout.prepare(bytes, type, operator);
        int slot = launches++ % IN_FLIGHT;
        long function = device.kernels().plans(type).function("plan_run");
        PlanLayout.Turn turn = layout.next();
        CudaBuffer image = image(turn.half(), slot, stream, pointers(inputs), pointers(outputs), scalars);
        long reports = 64 + 8L * slot * layout.lanes();
        control.hostSegment().asSlice(reports, 8L * layout.lanes()).fill((byte) 0);
        MemorySegment args = arguments.asSlice(0, ARGS_BYTES);
        args.set(ValueLayout.JAVA_LONG, 0, image.pointer());
        args.set(ValueLayout.JAVA_LONG, 8, control.pointer());
        args.set(ValueLayout.JAVA_LONG, 16, control.pointer() + reports);
        args.set(ValueLayout.JAVA_INT, 24, turn.flag());
        args.set(ValueLayout.JAVA_INT, 28, delays);
        arguments.set(ValueLayout.JAVA_LONG, ARGS_BYTES, args.address());
        Modules.launchCooperative(
                function,
                layout.lanes(),
                1,
                1,
                threads(function),
                1,
                1,
                0,
                stream.handle(),
                arguments.address() + ARGS_BYTES);
        if (operator != null && operator.kind() == ReduceOp.Kind.AVG && !layout.isBlocks()) {
            for (CudaBuffer output : outputs) {
                Fused.divided(device, view(output, type), plan.ranks()).launch(stream.handle());
            }
        }
        running.add(new Launch(turn.flag(), slot, new Completion(device, events, stream.handle())));
    }

    /** The records on the device: those of the last launch of this half, if nothing has changed. */
    private CudaBuffer image(int half, int slot, CudaStream stream, long[] inputs, long[] outputs, long[] scalars) {
        Image known = images[half];
        if (known != null && known.serves(layout.version(), stream.handle(), inputs, outputs, scalars)) {
            return known.room();
        }
        if (known != null) {
            retired.add(known.room());
        }
        MemorySegment staged = staged(slot, layout.imageBytes());
        CudaBuffer room = CudaBuffer.allocateAsync(stream, DataType.UINT8, layout.imageBytes());
        staged.copyFrom(
                layout.image(half, room.pointer(), inputs, outputs, scalars).asSlice(0, room.bytes()));
        Memories.hostToDeviceAsync(room.pointer(), staged.address(), room.bytes(), stream.handle());
        images[half] = new Image(layout.version(), stream.handle(), inputs, outputs, scalars, room);
        return room;
    }

    /**
     * Pinned memory for a launch's records: a copy from any other memory may wait for what is in the stream, and so for a launch that
     * cannot end.
     */
    private MemorySegment staged(int slot, long bytes) {
        CudaBuffer known = stage;
        if (known == null || known.bytes() < IN_FLIGHT * bytes) {
            await(DEFAULT_TIMEOUT);
            if (known != null) {
                known.close();
            }
            known = CudaBuffer.allocatePinned(device, DataType.UINT8, IN_FLIGHT * bytes);
            stage = known;
        }
        return known.hostSegment().asSlice(slot * (known.bytes() / IN_FLIGHT), bytes);
    }

    private CudaBuffer view(CudaBuffer buffer, DataType type) {
        return CudaBuffer.external(device, buffer.pointer(), type, buffer.bytes() / type.bytes());
    }

    /** Blocks as large as possible with all lanes on the device at once. */
    private int threads(long function) {
        int processors = device.attribute(Attribute.MULTIPROCESSORS);
        int least = 0;
        for (int threads = MOST_THREADS; threads >= LEAST_THREADS; threads /= 2) {
            least = processors * Modules.blocksPerProcessor(function, threads, 0);
            if (least >= layout.lanes()) {
                return threads;
            }
        }
        throw new IllegalArgumentException("plan " + plan.name() + " has " + layout.lanes() + " lanes on "
                + plan.ranks() + " ranks, and " + device + " runs at most " + least
                + " blocks at once: lanes wait for each other, so all must be there; use fewer ranks or instances");
    }

    /**
     * Waits for all launches. If they are not over in time, the lanes are told to give up, and this says where each stood.
     *
     * @param timeout how long to wait at most
     */
    public void await(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!running.isEmpty()) {
            awaitOldest(deadline, timeout);
        }
        retired.forEach(CudaBuffer::close);
        retired.clear();
    }

    private void awaitOldest(long deadline, Duration timeout) {
        Launch oldest = running.getFirst();
        for (int spins = 0; !oldest.end().isDone(); spins++) {
            if (System.nanoTime() - deadline > 0) {
                throw giveUp(oldest, timeout);
            }
            if (spins > SPINS) {
                LockSupport.parkNanos(this, 5_000);
            }
        }
        running.removeFirst();
        Throwable error = oldest.end().error();
        if (error instanceof RuntimeException failure) {
            broken = failure;
            throw failure;
        }
    }

    private RuntimeException giveUp(Launch stuck, Duration timeout) {
        control.hostSegment().set(ValueLayout.JAVA_INT, 0, 1);
        long deadline = System.nanoTime() + ENDING_NANOS;
        boolean ended = true;
        for (Launch each : running) {
            while (ended && !each.end().isDone()) {
                ended = System.nanoTime() - deadline < 0;
                LockSupport.parkNanos(this, 50_000);
            }
        }
        StringJoiner where = new StringJoiner("; ");
        int waiting = 0;
        for (int lane = 0; lane < layout.lanes(); lane++) {
            long at = 8 + (long) stuck.slot() * layout.lanes() + lane;
            long report = control.hostSegment().getAtIndex(ValueLayout.JAVA_LONG, at);
            if (report >= 2 && waiting++ < LISTED_LANES) {
                where.add(layout.describe(lane, (int) (report - 2)));
            }
        }
        running.clear();
        RuntimeException late = new CollectiveTimeoutException(
                "plan '" + plan.name() + "' on " + device + ", launch " + Integer.toUnsignedString(stuck.flag())
                        + ", was not over after " + Durations.text(timeout.toNanos()) + ": "
                        + (waiting == 0 ? "no lane said where it stands" : waiting + " lanes cannot go on: " + where)
                        + (ended ? "" : "; the device does not answer"),
                null);
        broken = late;
        return late;
    }

    private void requireBuffers(List<CudaBuffer> inputs, List<CudaBuffer> outputs) {
        if (inputs.size() != plan.ranks() || outputs.size() != plan.ranks()) {
            throw new IllegalArgumentException("plan " + plan.name() + " is for " + plan.ranks() + " ranks, got "
                    + inputs.size() + " inputs and " + outputs.size() + " outputs");
        }
        if (layout.isBlocks() && plan.collective() == Collective.ALL_TO_ALL) {
            for (int rank = 0; rank < plan.ranks(); rank++) {
                if (CudaCall.overlap(inputs.get(rank), outputs.get(rank))) {
                    throw new IllegalArgumentException("rank " + rank + ": " + plan.name()
                            + " cannot run in place on the device: give it another output");
                }
            }
        }
    }

    private void requireOperator(@Nullable ReduceOp operator) {
        if (operator == null) {
            return;
        }
        boolean scales = operator.kind() == ReduceOp.Kind.PRE_MUL_SUM;
        // A plan of a file does not say which input is fresh, and one that reads peers' inputs does not multiply them.
        if (operator.kind() == ReduceOp.Kind.USER || (scales && (!layout.isBlocks() || plan.reach() != Reach.OWN))) {
            throw new IllegalArgumentException(operator + " cannot be a plan's operator on the device: " + plan);
        }
    }

    private static long[] pointers(List<CudaBuffer> buffers) {
        return buffers.stream().mapToLong(CudaBuffer::pointer).toArray();
    }

    private void requireUsable() {
        if (broken != null) {
            throw broken;
        }
        device.requireCurrent(generation, "this plan's memory");
    }

    @Override
    public void close() {
        if (generation == device.generation()) {
            device.synchronise();
        }
        running.clear();
        retired.forEach(CudaBuffer::close);
        for (Image image : images) {
            if (image != null) {
                image.room().close();
            }
        }
        control.close();
        if (stage != null) {
            stage.close();
        }
        memory.forEach(CudaBuffer::close);
        events.close();
    }
}
