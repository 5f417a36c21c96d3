package dev.tutti.cuda;

import dev.tutti.CollectiveTimeoutException;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Memories;
import dev.tutti.cuda.driver.Modules;
import dev.tutti.plan.Plan;
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
 * A plan of a file, run on a device for all its ranks: one block per lane, all in one cooperative launch. Counters, semaphores
 * and scratch are the plan's own and live from launch to launch; launches follow each other in their stream.
 *
 * {@snippet :
 * try (CudaPlan run = CudaPlan.open(device, plan)) {
 *     run.launch(stream, count, null, inputs, outputs);
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

    private final CudaDevice device;
    private final Plan plan;
    private final int generation;
    private final PlanLayout layout;
    private final List<CudaBuffer> memory = new ArrayList<>();
    private final CudaBuffer control;
    private final EventPool events;
    private final ArrayDeque<Launch> running = new ArrayDeque<>();
    private @Nullable CudaBuffer stage;
    private int launches;
    private int delays;
    private @Nullable RuntimeException broken;

    private record Launch(int flag, int slot, Completion end, CudaBuffer image) {}

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
     * @param plan the plan of a file
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
     * Puts a launch into a stream. At most eight may be on their way; then it waits for them.
     *
     * @param stream whose order counts
     * @param type the elements
     * @param count elements of one block: of the whole input of an all-reduce, of one rank's share of an all-gather
     * @param operator in place of whatever the plan says; null to do what the plan says
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
        requireUsable();
        requireBuffers(inputs, outputs);
        requireOperator(operator);
        while (running.size() >= IN_FLIGHT) {
            await(Duration.ofMinutes(5));
        }
        long bytes = count * type.bytes();
        if (layout.wouldGrow(bytes, type)) {
            await(Duration.ofMinutes(5));
        }
        stream.enter();
        layout.prepare(bytes, type, operator);
        int slot = launches++ % IN_FLIGHT;
        MemorySegment staged = staged(slot, layout.imageBytes());
        long function = device.kernels().plans(type).function("plan_run");
        int threads = threads(function);
        CudaBuffer room = CudaBuffer.allocateAsync(stream, DataType.UINT8, layout.imageBytes());
        PlanLayout.Image image = layout.next(room.pointer(), pointers(inputs), pointers(outputs));
        staged.copyFrom(image.bytes().asSlice(0, room.bytes()));
        Memories.hostToDeviceAsync(room.pointer(), staged.address(), room.bytes(), stream.handle());
        long reports = 64 + 8L * slot * layout.lanes();
        control.hostSegment().asSlice(reports, 8L * layout.lanes()).fill((byte) 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment args = arena.allocate(ARGS_BYTES, 16);
            args.set(ValueLayout.JAVA_LONG, 0, room.pointer());
            args.set(ValueLayout.JAVA_LONG, 8, control.pointer());
            args.set(ValueLayout.JAVA_LONG, 16, control.pointer() + reports);
            args.set(ValueLayout.JAVA_INT, 24, image.flag());
            args.set(ValueLayout.JAVA_INT, 28, delays);
            MemorySegment pointers = arena.allocate(ValueLayout.JAVA_LONG);
            pointers.set(ValueLayout.JAVA_LONG, 0, args.address());
            Modules.launchCooperative(
                    function, image.lanes(), 1, 1, threads, 1, 1, 0, stream.handle(), pointers.address());
        }
        if (operator != null && operator.kind() == ReduceOp.Kind.AVG) {
            for (CudaBuffer output : outputs) {
                Fused.divided(device, view(output, type), plan.ranks()).launch(stream.handle());
            }
        }
        running.add(new Launch(image.flag(), slot, new Completion(device, events, stream.handle()), room));
    }

    /**
     * Pinned memory for a launch's records: a copy from any other memory may wait for what is in the stream, and so for a launch that
     * cannot end.
     */
    private MemorySegment staged(int slot, long bytes) {
        CudaBuffer known = stage;
        if (known == null || known.bytes() < IN_FLIGHT * bytes) {
            await(Duration.ofMinutes(5));
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
            Launch oldest = running.getFirst();
            while (!oldest.end().isDone()) {
                if (System.nanoTime() - deadline > 0) {
                    throw giveUp(oldest, timeout);
                }
                LockSupport.parkNanos(this, 5_000);
            }
            running.removeFirst();
            oldest.image().close();
            Throwable error = oldest.end().error();
            if (error instanceof RuntimeException failure) {
                broken = failure;
                throw failure;
            }
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
            if (ended) {
                each.image().close();
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
                        + ", was not over after " + timeout + ": "
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
    }

    private static void requireOperator(@Nullable ReduceOp operator) {
        if (operator != null
                && (operator.kind() == ReduceOp.Kind.USER || operator.kind() == ReduceOp.Kind.PRE_MUL_SUM)) {
            throw new IllegalArgumentException(operator + " cannot stand in for a plan's operator on the device");
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
        running.forEach(each -> each.image().close());
        running.clear();
        control.close();
        if (stage != null) {
            stage.close();
        }
        memory.forEach(CudaBuffer::close);
        events.close();
    }
}
