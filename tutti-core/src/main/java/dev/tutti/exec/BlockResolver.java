package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Puts sizes into a rank's part of a plan of {@link dev.tutti.plan.PlanHeader.Style#BLOCKS}, for executors that run all ranks in one
 * launch, as a device does: nothing has to be signed, as the caller has compared the calls; nobody has to arrive, as all are there; and
 * scratch is as long as it has to be, so a message needs one launch. What is left is what {@link Resolver} does.
 */
public final class BlockResolver {
    private static final long SLOT_GRANULE = 128;
    /** The longest unit of packets: elements of eight bytes. */
    private static final long PACKET_UNIT = 8;

    private final RankPlan plan;
    private final BlockCuts cuts;
    private final DataType type;
    private final @Nullable ReduceOp operator;
    private final long slotStride;
    private final PlanResolver.Counters counters;
    private final List<Integer> starts = new ArrayList<>();
    private final List<PlanStep> steps = new ArrayList<>();
    private long[] out = new long[64];
    private int length;

    private BlockResolver(
            RankPlan plan,
            Geometry geometry,
            long slotStride,
            DataType type,
            @Nullable ReduceOp operator,
            PlanResolver.Counters counters) {
        this.plan = plan;
        this.cuts = new BlockCuts(plan, geometry, false);
        this.slotStride = slotStride;
        this.type = type;
        this.operator = operator;
        this.counters = counters;
    }

    /** Room that the longest chunk of any rank takes in scratch. */
    public static long slotBytes(Plan plan, long blockBytes) {
        long longest = 1;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            longest = Math.max(
                    longest, BlockCuts.maxChunk(blockBytes, plan.rank(rank).chunksPerBlock()));
        }
        return Memory.roundUp(longest, SLOT_GRANULE);
    }

    /**
     * Resolves all lanes of a rank.
     *
     * @param slotStride from one slot of scratch to the next: at least {@link #slotBytes}
     * @param operator of the call; null if nothing is reduced
     */
    public static PlanProgram resolve(
            Plan whole,
            int rank,
            long blockBytes,
            long slotStride,
            DataType type,
            @Nullable ReduceOp operator,
            PlanResolver.Counters counters) {
        RankPlan plan = whole.rank(rank);
        Geometry geometry = new Geometry();
        geometry.uniform(
                whole.collective().inputBlocks(whole.ranks()),
                whole.collective().outputBlocks(whole.ranks()),
                blockBytes);
        BlockResolver resolver = new BlockResolver(plan, geometry, slotStride, type, operator, counters);
        int lanes = plan.lanes().size();
        long[][] symbolic = new long[lanes][];
        int[][] starts = new int[lanes][];
        PlanStep[][] steps = new PlanStep[lanes][];
        for (int lane = 0; lane < lanes; lane++) {
            symbolic[lane] = resolver.lane(plan.lanes().get(lane));
            starts[lane] = resolver.starts.stream().mapToInt(Integer::intValue).toArray();
            steps[lane] = resolver.steps.toArray(PlanStep[]::new);
        }
        return new PlanProgram(symbolic, starts, steps);
    }

    private long[] lane(List<Op> ops) {
        length = 0;
        starts.clear();
        steps.clear();
        for (int i = 0; i < ops.size(); i++) {
            Op op = ops.get(i);
            starts.add(length);
            steps.add(new PlanStep(i, -1, op));
            switch (op.code().shape()) {
                case PLAIN -> plain(op);
                case PACKET -> packets(op);
                case CONTROL -> control(op);
            }
        }
        return Arrays.copyOf(out, length);
    }

    private void control(Op op) {
        switch (op.code()) {
            case NOP, FLUSH -> {} // operations of a lane follow each other, and puts are done when they return
            case SIGNAL, RELAXED_SIGNAL -> lines(Records.SIGNAL, op.channels());
            case WAIT, RELAXED_WAIT -> lines(Records.WAIT, op.channels());
            case ACQUIRE -> semaphores(Records.ACQUIRE, op.semaphores());
            case RELEASE -> semaphores(Records.RELEASE, op.semaphores());
            case BARRIER -> {
                Op.Barrier barrier = Objects.requireNonNull(op.barrier());
                emit(Records.header(Records.BARRIER, 0, 0, 0, 3), counters.barrier(barrier.id()), barrier.lanes());
            }
            default -> throw new IllegalArgumentException("cannot run " + op + " of rank " + plan.rank());
        }
    }

    private void lines(int kind, List<Integer> channels) {
        emit(Records.header(kind, channels.size(), 0, 0, 1 + 2 * channels.size()));
        for (int id : channels) {
            long line = kind == Records.SIGNAL ? counters.outbound(id) : counters.inbound(id);
            emit(line, ((long) plan.channels().get(id).peer() << 32) | id);
        }
    }

    private void semaphores(int kind, List<Integer> ids) {
        emit(Records.header(kind, ids.size(), 0, 0, 1 + ids.size()));
        ids.forEach(id -> emit(id.longValue()));
    }

    private void plain(Op op) {
        int sources = op.sources().size();
        int destinations = op.destinations().size();
        int scaled = Resolver.scaled(operator, plan.rank(), op.sources());
        emit(
                Records.header(Records.DATA, sources, destinations, 0, Records.OPERANDS + sources + destinations),
                cuts.length(op.sources().getFirst().extent()),
                Records.fold(Resolver.kernel(op, operator, type, sources, scaled), scaled, 0));
        op.sources().forEach(chunk -> emit(plainOperand(chunk)));
        op.destinations().forEach(chunk -> emit(plainOperand(chunk)));
    }

    private void packets(Op op) {
        boolean plainSource = op.code() != Code.UNPACK && op.code() != Code.READ_PUT_PACKETS;
        boolean plainDestination = op.code() != Code.PUT_PACKETS && op.code() != Code.READ_PUT_PACKETS;
        long bytes = cuts.length(op.sources().getFirst().extent());
        // Packets are whole; what is behind them may be shorter.
        long whole = Memory.roundUp(bytes, PACKET_UNIT);
        boolean clipped = whole != bytes;
        int scaled = plainSource
                        && Resolver.scaled(operator, plan.rank(), op.sources().subList(0, 1)) == 0
                ? op.plainPosition()
                : -1;
        int sources = op.sources().size();
        int destinations = op.destinations().size();
        emit(
                Records.header(
                        Records.PACKETS,
                        sources - (plainSource ? 1 : 0),
                        destinations - (plainDestination ? 1 : 0),
                        (plainSource ? Records.PLAIN_SOURCE : 0)
                                | (plainDestination ? Records.PLAIN_DESTINATION : 0)
                                | (clipped ? Records.CLIPPED : 0),
                        Records.OPERANDS + sources + destinations + (clipped ? 1 : 0)),
                whole,
                Records.fold(Resolver.kernel(op, operator, type, sources, scaled), scaled, op.plainPosition()));
        for (int i = 0; i < sources; i++) {
            Chunk chunk = op.sources().get(i);
            emit(plainSource && i == 0 ? plainOperand(chunk) : packetOperand(chunk));
        }
        for (int i = 0; i < destinations; i++) {
            Chunk chunk = op.destinations().get(i);
            emit(plainDestination && i == 0 ? plainOperand(chunk) : packetOperand(chunk));
        }
        if (clipped) {
            emit(bytes);
        }
    }

    private long plainOperand(Chunk chunk) {
        if (chunk.space() == Space.SCRATCH) {
            return Records.operand(Records.PLAN_SCRATCH, chunk.rank(), chunk.index() * slotStride);
        }
        int base = chunk.space() == Space.INPUT ? Records.INPUT : Records.OUTPUT;
        return Records.operand(base, chunk.rank(), cuts.offset(chunk));
    }

    private long packetOperand(Chunk chunk) {
        return Records.operand(Records.PLAN_PACKETS, chunk.rank(), 2L * chunk.index() * slotStride);
    }

    private void emit(long... words) {
        if (length + words.length > out.length) {
            out = Arrays.copyOf(out, Math.max(2 * out.length, length + words.length));
        }
        System.arraycopy(words, 0, out, length, words.length);
        length += words.length;
    }
}
