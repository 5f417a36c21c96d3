package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.RegionLayout;
import java.util.ArrayList;
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
    private final Exchange exchange;
    private final LaneMachine machine;
    private final PlanWaits waits;
    private final int halves;
    private final boolean usesPlain;
    private final boolean usesPackets;
    private final int widestScratch;
    private final boolean writesInput;
    private final boolean reachesPeers;
    private final long scratchBytes;
    private final PlanDoor door;

    /** Keeps peers' view of this rank's memory alive; what has been outgrown may still be in use by a slower peer. */
    private final List<Allocation> kept = new ArrayList<>();

    private final long[] counters;
    private final Map<Integer, Integer> barriers = new HashMap<>();
    private final int[] semaphores;
    private final long[] arrivals;
    private final long[] bases;
    private final long[] plainScratch;
    private final long[] packetScratch;
    private long slotCapacity;

    private final Map<Key, PlanProgram> programs = new LinkedHashMap<>(PROGRAMS, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, PlanProgram> eldest) {
            return size() > PROGRAMS;
        }
    };

    private @Nullable PlanProgram running;

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
        this.exchange = exchange;
        int folds = part.operations().mapToInt(op -> op.sources().size()).max().orElse(1);
        this.endpoint = new Endpoint(parent, part.channels().size() + 1, Math.max(folds, 1));
        this.machine = new LaneMachine(endpoint);
        this.halves = plan.header().doubleScratch() ? 2 : 1;
        this.usesPlain = plan.all().stream().anyMatch(PlanContext::usesPlainScratch);
        this.usesPackets = plan.all().stream().anyMatch(PlanContext::usesPackets);
        this.widestScratch =
                plan.all().stream().mapToInt(RankPlan::scratchChunks).max().orElse(0);
        this.semaphores = part.semaphores().stream().mapToInt(Integer::intValue).toArray();
        part.operations()
                .filter(op -> op.barrier() != null)
                .forEach(op -> barriers.putIfAbsent(
                        Objects.requireNonNull(op.barrier()).id(), barriers.size()));
        this.arrivals = new long[barriers.size()];
        this.bases = new long[4 * plan.ranks()];
        this.plainScratch = new long[plan.ranks()];
        this.packetScratch = new long[plan.ranks()];
        this.writesInput = plan.all().stream()
                .flatMap(RankPlan::operations)
                .flatMap(op -> op.destinations().stream())
                .anyMatch(chunk -> chunk.space() == Space.INPUT);
        this.reachesPeers = plan.all().stream().anyMatch(RankPlan::reachesPeersBuffers);
        this.door = new PlanDoor(parent.rank, share(PlanDoor.bytes(plan.ranks())), parent.bell);
        this.counters = share((part.channels().size() + 1L) * RegionLayout.LINE);
        this.waits = new PlanWaits(plan, endpoint, machine, semaphores, arrivals, this);
    }

    private static boolean usesPlainScratch(RankPlan each) {
        return each.operations().anyMatch(op -> {
            int sources = op.sources().size();
            int destinations = op.destinations().size();
            if (op.code().shape() == Code.Shape.PACKET) {
                boolean raw = each.via(op) == ChannelType.PORT;
                sources = op.code().folds() || op.code() == Code.PACK
                        ? 1
                        : op.code() == Code.PUT_PACKETS && !raw ? sources : 0;
                destinations = op.code().folds() || op.code() == Code.UNPACK ? 1 : 0;
            }
            return isScratch(op.sources().subList(0, sources))
                    || isScratch(op.destinations().subList(0, destinations));
        });
    }

    private static boolean isScratch(List<Chunk> chunks) {
        return chunks.stream().anyMatch(chunk -> chunk.space() == Space.SCRATCH);
    }

    private static boolean usesPackets(RankPlan each) {
        return each.operations().anyMatch(op -> op.code().shape() == Code.Shape.PACKET);
    }

    /** Allocates memory here and tells where everybody's is. */
    private long[] share(long bytes) {
        long mine = 0;
        if (bytes > 0) {
            Allocation allocation = registered.apply(bytes);
            kept.add(allocation);
            mine = endpoint.fabric.location(allocation.memory().address(), bytes);
        }
        long[] all = exchange.allGather(mine);
        long[] addresses = new long[all.length];
        for (int rank = 0; rank < all.length; rank++) {
            addresses[rank] = all[rank] == 0 ? 0 : endpoint.fabric.address(rank, all[rank]);
        }
        return addresses;
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
        long room = scratchBytes / Math.max(1L, (long) widestScratch * halves * perSlot());
        long slot = Math.max(sizes.granule(), room / sizes.granule() * sizes.granule());
        if (sizes.slotBytes() <= slot) {
            return blockBytes;
        }
        return Math.min(blockBytes, slot * part.chunksPerBlock());
    }

    private long perSlot() {
        return (usesPlain ? 1L : 0L) + (usesPackets ? 2L : 0L);
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
        if (sizes.slotBytes() > slotCapacity) {
            grow(sizes.slotBytes());
        }
        endpoint.elementShift = Integer.numberOfTrailingZeros(type.bytes());
        endpoint.function = operator == null || operator.function() == null
                ? null
                : operator.function().body();
        Key key = new Key(bytes, stride, type, operator == null ? null : operator.kind());
        running = programs.computeIfAbsent(
                key, absent -> PlanResolver.resolve(part, sizes, slotCapacity, type, operator, this));
    }

    /** Makes scratch for messages of up to this many bytes per block, so that {@link #prepare} need not meet for them. */
    public void reserve(long blockBytes) {
        int elementBytes = Long.BYTES;
        long window = window(blockBytes, elementBytes);
        long slot = PlanSizes.of(plan, window, elementBytes).slotBytes();
        if (slot > slotCapacity) {
            grow(slot);
        }
    }

    private void grow(long slotBytes) {
        slotCapacity = slotBytes;
        programs.clear();
        long half = part.scratchChunks() * slotCapacity;
        if (usesPlain) {
            System.arraycopy(share((long) halves * half), 0, plainScratch, 0, plainScratch.length);
        }
        if (usesPackets) {
            System.arraycopy(share(2L * halves * half), 0, packetScratch, 0, packetScratch.length);
        }
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
        int half = halves == 2 && (endpoint.launch & 1) == 0 ? 1 : 0;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            long halfBytes = (long) half * plan.rank(rank).scratchChunks() * slotCapacity;
            bases[PlanProgram.base(Records.INPUT, rank)] = inputs[rank];
            bases[PlanProgram.base(Records.OUTPUT, rank)] = outputs[rank];
            bases[PlanProgram.base(Records.PLAN_SCRATCH, rank)] = plainScratch[rank] + halfBytes;
            bases[PlanProgram.base(Records.PLAN_PACKETS, rank)] = packetScratch[rank] + 2 * halfBytes;
        }
        PlanProgram program = Objects.requireNonNull(running, "prepare first");
        machine.start(program.bind(half, bases), semaphores, arrivals);
        waits.begin(program);
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
        if (usesPackets && part.scratchChunks() > 0) {
            Memory.fill(packetScratch[endpoint.rank], 2L * halves * part.scratchChunks() * slotCapacity, (byte) 0);
        }
        endpoint.launch += 2;
    }

    /** Goes on as if so many launches had been made; all ranks alike. For tests of what happens after very many. */
    void skipTo(long launch) {
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
        start(inputs, outputs);
        endpoint.stall.describe(waits);
        try {
            int turns = 0;
            while (!machine.isDone()) {
                turns = machine.step() ? 0 : endpoint.stall.pause(turns);
            }
        } finally {
            endpoint.stall.describe(null);
        }
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
