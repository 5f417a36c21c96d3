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
import org.jspecify.annotations.Nullable;

/**
 * Puts sizes into a rank's part of a plan of {@link dev.tutti.plan.PlanHeader.Style#BLOCKS}, for executors that run all ranks in one
 * launch, as a device does: nothing has to be signed, as the caller has compared the calls; nobody has to arrive, as all are there; and
 * scratch is as long as it has to be, so a message needs one launch. What is left is what {@link Resolver} does.
 */
public final class BlockResolver extends LaneWriter {
    private static final long SLOT_GRANULE = 128;
    /** The longest unit of packets: elements of eight bytes. */
    private static final long PACKET_UNIT = 8;

    private final BlockCuts cuts;
    private final DataType type;
    private final @Nullable ReduceOp operator;
    private final long slotStride;

    private BlockResolver(
            RankPlan plan,
            Geometry geometry,
            long slotStride,
            DataType type,
            @Nullable ReduceOp operator,
            PlanResolver.Counters counters) {
        super(plan, counters);
        this.cuts = new BlockCuts(plan, geometry, false);
        this.slotStride = slotStride;
        this.type = type;
        this.operator = operator;
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
        return new BlockResolver(plan, geometry, slotStride, type, operator, counters).program();
    }

    @Override
    void plain(Op op) {
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

    @Override
    void packets(Op op) {
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
}
