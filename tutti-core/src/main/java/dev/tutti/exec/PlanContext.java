package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.RegionLayout;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What one rank keeps of one plan of a file from launch to launch: counters, semaphores, the packets' flag, and scratch, all the plan's
 * own. Launches follow each other without any barrier: the plan's own signals keep them apart, or its two halves of scratch.
 *
 * <p>All ranks make their contexts, grow them and launch in the same order. Only making and growing meet ({@link Exchange}).
 */
public final class PlanContext implements PlanResolver.Counters {
    /** What a plan may take of scratch per rank where nothing else is said; longer messages go through in windows. */
    public static final long SCRATCH_BYTES = 64L << 20;

    private static final int PROGRAMS = 16;

    /** Tells everybody one number of each rank. */
    @FunctionalInterface
    public interface Exchange {
        /**
         * A number from each rank.
         *
         * @param mine this rank's
         * @return all ranks', in rank order
         */
        long[] allGather(long mine);
    }

    private record Key(long bytes, long stride, DataType type, ReduceOp.@Nullable Kind operator) {}

    private final Plan plan;
    private final RankPlan part;
    private final Endpoint endpoint;
    private final LongFunction<Allocation> registered;
    private final PlanMemory memory;
    private final LaneMachine machine;
    private final PlanWaits waits;
    private final boolean writesInput;
    private final boolean reachesPeers;
    private final long scratchBytes;
    private final PlanDoor door;

    private final long[] counters;
    private final Map<Integer, Integer> barriers = new HashMap<>();
    private final int[] semaphores;
    private final long[] arrivals;
    private final long[] bases;

    private final Map<Key, PlanProgram> programs = new LinkedHashMap<>(PROGRAMS, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, PlanProgram> eldest) {
            return size() > PROGRAMS;
        }
    };

    private @Nullable PlanProgram running;
    private @Nullable PlanRecorder recorder;

    /**
     * Makes this rank's context; all ranks of the plan do so together.
     *
     * @param plan what to run
     * @param parent the communicator's endpoint
     * @param registered gives zeroed memory of this rank that peers can reach
     * @param exchange tells peers where it is
     * @param scratchBytes how much scratch it may take per rank
     */
    public PlanContext(
            Plan plan, Endpoint parent, LongFunction<Allocation> registered, Exchange exchange, long scratchBytes) {
        if (plan.ranks() != parent.size) {
            throw new IllegalArgumentException(
                    "plan " + plan.name() + " is for " + plan.ranks() + " ranks, there are " + parent.size);
        }
        this.plan = plan;
        this.scratchBytes = scratchBytes;
        this.part = plan.rank(parent.rank);
        this.registered = registered;
        int folds = part.operations().mapToInt(op -> op.sources().size()).max().orElse(1);
        this.endpoint = new Endpoint(parent, part.channels().size() + 1, Math.max(folds, 1));
        this.machine = new LaneMachine(endpoint);
        this.memory = new PlanMemory(plan, parent.rank, parent.fabric, registered, exchange);
        this.semaphores = part.semaphores().stream().mapToInt(Integer::intValue).toArray();
        part.operations()
                .filter(op -> op.barrier() != null)
                .forEach(op -> barriers.putIfAbsent(
                        Objects.requireNonNull(op.barrier()).id(), barriers.size()));
        this.arrivals = new long[barriers.size()];
        this.bases = new long[4 * plan.ranks()];
        this.writesInput = plan.all().stream()
                .flatMap(RankPlan::operations)
                .flatMap(op -> op.destinations().stream())
                .anyMatch(chunk -> chunk.space() == Space.INPUT);
        this.reachesPeers = plan.all().stream().anyMatch(RankPlan::reachesPeersBuffers);
        this.door = new PlanDoor(parent.rank, memory.share(PlanDoor.bytes(plan.ranks())), parent.bell);
        this.counters = memory.share((part.channels().size() + 1L) * RegionLayout.LINE);
        this.waits = new PlanWaits(plan, endpoint, machine, semaphores, arrivals, this);
    }

    /** The same number in every process for equal plans. */
    public static long digest(Plan plan) {
        return PlanCalls.digest(plan);
    }

    /** The plan. */
    public Plan plan() {
        return plan;
    }

    /**
     * The longest part of a block that one launch takes.
     *
     * @param blockBytes bytes of a block
     * @param elementBytes bytes of an element
     * @return blockBytes, or less where scratch would be too large
     */
    public long window(long blockBytes, int elementBytes) {
        PlanSizes sizes = PlanSizes.of(plan, blockBytes, elementBytes);
        long slot = memory.longestSlot(scratchBytes, sizes.granule());
        if (sizes.slotBytes() <= slot) {
            return blockBytes;
        }
        return Math.min(blockBytes, slot * part.chunksPerBlock());
    }

    /**
     * Gets ready for messages of one length; all ranks do so together, as scratch may have to grow.
     *
     * @param bytes bytes of the part of each block that a launch takes
     * @param stride from one block to the next
     * @param type of the elements
     * @param operator in place of whatever the plan says; null to do what the plan says
     */
    public void prepare(long bytes, long stride, DataType type, @Nullable ReduceOp operator) {
        PlanSizes sizes = PlanSizes.window(plan, bytes, stride, type.bytes());
        if (sizes.slotBytes() > memory.slotBytes()) {
            grow(sizes.slotBytes());
        }
        endpoint.elementShift = Integer.numberOfTrailingZeros(type.bytes());
        endpoint.function = operator == null || operator.function() == null
                ? null
                : operator.function().body();
        Key key = new Key(bytes, stride, type, operator == null ? null : operator.kind());
        running = programs.computeIfAbsent(
                key, absent -> PlanResolver.resolve(part, sizes, memory.slotBytes(), type, operator, this));
    }

    /** Makes scratch for messages of up to this many bytes per block, so that {@link #prepare} need not meet for them. */
    public void reserve(long blockBytes) {
        int elementBytes = Long.BYTES;
        long window = window(blockBytes, elementBytes);
        long slot = PlanSizes.of(plan, window, elementBytes).slotBytes();
        if (slot > memory.slotBytes()) {
            grow(slot);
        }
    }

    private void grow(long slotBytes) {
        programs.clear();
        memory.grow(slotBytes);
    }

    /**
     * Starts a launch; {@link #step} moves it.
     *
     * @param inputs where each rank's input is in this process; only those that the plan reaches are looked at
     * @param outputs the same for outputs
     */
    public void start(long[] inputs, long[] outputs) {
        endpoint.launch++;
        if ((int) endpoint.launch == 0) {
            throw new IllegalStateException("flags wrap: meet and clear first");
        }
        int half = memory.halves() == 2 && (endpoint.launch & 1) == 0 ? 1 : 0;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            bases[PlanProgram.base(Records.INPUT, rank)] = inputs[rank];
            bases[PlanProgram.base(Records.OUTPUT, rank)] = outputs[rank];
            bases[PlanProgram.base(Records.PLAN_SCRATCH, rank)] = memory.plain(rank, half);
            bases[PlanProgram.base(Records.PLAN_PACKETS, rank)] = memory.packets(rank, half);
        }
        PlanProgram program = Objects.requireNonNull(running, "prepare first");
        machine.start(program.bind(half, bases), semaphores, arrivals);
        waits.begin(program);
        if (recorder != null) {
            recorder.begin(endpoint.rank, program);
        }
    }

    /** Whether the next launch would take flag 0. Then all ranks meet, clear their packets, meet again, and go on with flag 2. */
    boolean isWrapping() {
        return (int) endpoint.launch == -1;
    }

    /**
     * Clears this rank's packets, between two meetings, so that no old one can be taken for a new one. After flag 2^32 - 1 comes 2: halves go
     * on alternating.
     */
    void clearPackets() {
        memory.clearPackets();
        endpoint.launch += 2;
    }

    /** Goes on as if so many launches had been made; all ranks alike. */
    public void skipTo(long launch) {
        endpoint.launch = launch;
    }

    PlanDoor door() {
        return door;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** Whether ranks reach into each other's inputs or outputs, so that they must know where those are. */
    boolean reachesPeers() {
        return reachesPeers;
    }

    /** Whether the plan writes to what it calls input. */
    boolean writesInput() {
        return writesInput;
    }

    LongFunction<Allocation> registered() {
        return registered;
    }

    /** Moves all lanes as far as they go without waiting; returns whether any moved. */
    public boolean step() {
        return machine.step();
    }

    /** Moves one lane by at most so many bytes and operations; returns whether it moved. */
    public boolean step(int lane, long bytes, int operations) {
        return machine.step(lane, bytes, operations);
    }

    /** How many lanes this rank has. */
    public int lanes() {
        return part.lanes().size();
    }

    /** Whether a lane has nothing left to do in this launch. */
    public boolean isDone(int lane) {
        return machine.isDone(lane);
    }

    /** Whether the launch is over on this rank. */
    public boolean isDone() {
        return machine.isDone();
    }

    /** Runs a launch to its end on this thread. */
    public void run(long[] inputs, long[] outputs) {
        if (isWrapping()) {
            wrap();
        }
        start(inputs, outputs);
        endpoint.stall.describe(waits);
        PlanRecorder recording = recorder;
        try {
            int turns = 0;
            while (!machine.isDone()) {
                boolean moved = recording == null ? machine.step() : recording.step(machine);
                turns = moved ? 0 : endpoint.stall.pause(turns);
            }
        } finally {
            endpoint.stall.describe(null);
        }
    }

    private void wrap() {
        meet();
        clearPackets();
        meet();
    }

    private void meet() {
        door.arrive(0, 0);
        int turns = 0;
        while (door.missing() >= 0) {
            turns = endpoint.stall.pause(turns);
        }
    }

    /** Has {@link #run} record when each lane came to each operation and when it went on; null: no longer. */
    public void record(@Nullable PlanRecorder into) {
        recorder = into;
    }

    /** Gives all memory back. Nobody may be in a launch of this plan, nor will be. */
    public void free() {
        memory.free();
    }

    /** Where the lanes of this rank stand and what they wait for, in words. */
    public String describe() {
        return waits.get();
    }

    @Override
    public long outbound(int channel) {
        RankPlan.Channel own = part.channels().get(channel);
        List<RankPlan.Channel> theirs = plan.rank(own.peer()).channels();
        int end = theirs.indexOf(new RankPlan.Channel(own.type(), endpoint.rank, own.ordinal()));
        // Where the peer has no end, its last line takes what nobody waits for.
        return counters[own.peer()] + (end < 0 ? theirs.size() : end) * (long) RegionLayout.LINE;
    }

    @Override
    public long inbound(int channel) {
        return counters[endpoint.rank] + channel * (long) RegionLayout.LINE;
    }

    @Override
    public int barrier(int id) {
        return Objects.requireNonNull(barriers.get(id));
    }
}
