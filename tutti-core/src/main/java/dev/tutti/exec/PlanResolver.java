package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Puts sizes into a rank's part of a plan of a file.
 *
 * <p>An operation works on a region of whole slots, of which lane groups take slices and loops take pieces; both are cut alike on every
 * rank, whatever the true lengths are. Then each slot is clipped: plain data ends where the shortest operand ends. Packets are never
 * clipped, only what is behind them: whoever waits for a slot waits for all of it. Where nothing is clipped and the slots lie one after the
 * other, one record covers them all.
 */
public final class PlanResolver extends LaneWriter {
    private final PlanSizes sizes;
    private final DataType type;
    private final @Nullable ReduceOp operator;
    private final long slotStride;
    private boolean looping;

    /** Where counters are. */
    public interface Counters {
        /** The line at the other end of a channel of this rank. */
        long outbound(int channel);

        /** This rank's own line. */
        long inbound(int channel);

        /** Which of the rank's barriers has this id; ids may be far apart. */
        int barrier(int id);
    }

    private PlanResolver(
            RankPlan plan,
            PlanSizes sizes,
            long slotStride,
            DataType type,
            @Nullable ReduceOp operator,
            Counters counters) {
        super(plan, counters);
        this.sizes = sizes;
        this.slotStride = slotStride;
        this.type = type;
        this.operator = operator;
    }

    /**
     * Resolves all lanes.
     *
     * @param slotStride from one slot of scratch to the next. It must be the same from launch to launch: what keeps launches apart is
     *     said slot by slot.
     * @param operator the call's, in place of whatever the plan says; null to do what the plan says
     */
    public static PlanProgram resolve(
            RankPlan plan,
            PlanSizes sizes,
            long slotStride,
            DataType type,
            @Nullable ReduceOp operator,
            Counters counters) {
        return new PlanResolver(plan, sizes, slotStride, type, operator, counters).program();
    }

    @Override
    void write(int index, Op op) {
        if (op.code() == Code.PIPELINE) {
            loop(index, Objects.requireNonNull(op.loop()));
        } else {
            super.write(index, op);
        }
    }

    private void loop(int index, Op.Loop loop) {
        long unit = Math.max(sizes.granule(), loop.unitBytes() / sizes.granule() * sizes.granule());
        long iterations = (loop.chunks() * sizes.slotBytes() + unit - 1) / unit;
        int at = length;
        emit(Records.header(Records.LOOP, 0, 0, 0, 4), iterations, unit, 0);
        int body = length;
        looping = true;
        for (int i = 0; i < loop.body().size(); i++) {
            begin(new PlanStep(index, i, loop.body().get(i)));
            super.write(index, loop.body().get(i));
        }
        looping = false;
        if (length == body) {
            length = at;
            return;
        }
        long words = (long) length - body;
        emit(Records.header(Records.END, 0, 0, 0, 2), words);
        out[at + 3] = words + 2;
    }

    @Override
    void plain(Op op) {
        if (!op.code().isPairwise()) {
            regions(op, op.sources(), op.destinations());
            return;
        }
        boolean signals = op.code().signals();
        for (int i = 0; i < op.sources().size(); i++) {
            regions(op, op.sources().subList(i, i + 1), op.destinations().subList(i, i + 1));
            if (signals) {
                signal(op.channels().subList(i, i + 1));
            }
        }
    }

    /** Part of a slot that all operands have. */
    private record Piece(int slot, long from, long to, long start) {
        long bytes() {
            return to - from;
        }
    }

    /** The slots of an operation's region, those of other lanes of the group left out. */
    private List<Piece> pieces(Op op, int slots) {
        long slot = sizes.slotBytes();
        long from = 0;
        long to = slots * slot;
        if (op.slice() != null) {
            long all = to;
            from = sizes.slice(all, op.slice().index(), op.slice().of());
            to = sizes.slice(all, op.slice().index() + 1, op.slice().of());
        }
        List<Piece> pieces = new ArrayList<>();
        for (int j = 0; j < slots; j++) {
            long begin = Math.max(from, j * slot);
            long end = Math.min(to, (j + 1) * slot);
            if (begin < end) {
                pieces.add(new Piece(j, begin - j * slot, end - j * slot, begin - from));
            }
        }
        return pieces;
    }

    private void regions(Op op, List<Chunk> sources, List<Chunk> destinations) {
        long[] operands = new long[sources.size() + destinations.size()];
        int words = Records.OPERANDS + operands.length + (looping ? 1 : 0);
        int flags = looping ? Records.LOOPED : 0;
        long header = Records.header(Records.DATA, sources.size(), destinations.size(), flags, words);
        long fold = Records.fold(kernel(op, sources.size()), -1, 0);
        int last = -1;
        for (Piece piece : pieces(op, sources.getFirst().count())) {
            long bytes = piece.bytes();
            int next = 0;
            for (Chunk chunk : sources) {
                bytes = Math.min(bytes, left(chunk, piece));
                operands[next++] = plainOperand(chunk, piece);
            }
            for (Chunk chunk : destinations) {
                bytes = Math.min(bytes, left(chunk, piece));
                operands[next++] = plainOperand(chunk, piece);
            }
            if (bytes <= 0 || (last >= 0 && extend(last, operands, bytes))) {
                continue;
            }
            // A clipped piece ends the record: in loops, positions count whole slots.
            last = bytes == piece.bytes() ? length : -1;
            emit(header, bytes, fold);
            emit(operands);
            if (looping) {
                emit(piece.start());
            }
        }
    }

    /** Makes a record longer if the next piece follows where it ends, for every operand. */
    private boolean extend(int record, long[] operands, long bytes) {
        long before = out[record + 1];
        for (int i = 0; i < operands.length; i++) {
            if (out[record + Records.OPERANDS + i] + before != operands[i]) {
                return false;
            }
        }
        out[record + 1] = before + bytes;
        return true;
    }

    private long left(Chunk chunk, Piece piece) {
        return sizes.length(chunk.space(), chunk.index() + piece.slot()) - piece.from();
    }

    private long plainOperand(Chunk chunk, Piece piece) {
        int base = switch (chunk.space()) {
            case INPUT -> Records.INPUT;
            case OUTPUT -> Records.OUTPUT;
            case SCRATCH -> Records.PLAN_SCRATCH;
        };
        int index = chunk.index() + piece.slot();
        long start = chunk.space() == Space.SCRATCH ? index * slotStride : sizes.offset(chunk.space(), index);
        long offset = start + piece.from();
        return Records.operand(base, chunk.rank(), offset);
    }

    private long packetOperand(Chunk chunk, Piece piece) {
        long offset = (chunk.index() + piece.slot()) * slotStride + piece.from();
        return Records.operand(Records.PLAN_PACKETS, chunk.rank(), 2 * offset);
    }

    @Override
    void packets(Op op) {
        if (op.code() != Code.PUT_PACKETS) {
            boolean plainSource = op.code() == Code.PACK || op.code().folds();
            boolean plainDestination = op.code() == Code.UNPACK || op.code().folds();
            packets(op, op.sources(), op.destinations(), plainSource, plainDestination, false);
            return;
        }
        boolean raw = plan.via(op) == ChannelType.PORT;
        for (int i = 0; i < op.sources().size(); i++) {
            packets(op, op.sources().subList(i, i + 1), op.destinations().subList(i, i + 1), !raw, false, raw);
        }
    }

    private void packets(
            Op op,
            List<Chunk> sources,
            List<Chunk> destinations,
            boolean plainSource,
            boolean plainDestination,
            boolean raw) {
        int flags = (plainSource ? Records.PLAIN_SOURCE : 0)
                | (plainDestination ? Records.PLAIN_DESTINATION : 0)
                | (raw ? Records.RAW : 0);
        int packetSources = sources.size() - (plainSource ? 1 : 0);
        int packetDestinations = destinations.size() - (plainDestination ? 1 : 0);
        long[] operands = new long[sources.size() + destinations.size()];
        long fold = Records.fold(kernel(op, sources.size()), -1, op.plainPosition());
        for (Piece piece : pieces(op, sources.getFirst().count())) {
            long plainBytes = piece.bytes();
            int next = 0;
            for (int i = 0; i < sources.size(); i++) {
                boolean plain = plainSource && i == 0;
                plainBytes = plain ? Math.min(plainBytes, left(sources.get(i), piece)) : plainBytes;
                operands[next++] = plain ? plainOperand(sources.get(i), piece) : packetOperand(sources.get(i), piece);
            }
            for (int i = 0; i < destinations.size(); i++) {
                Chunk chunk = destinations.get(i);
                boolean plain = plainDestination && i == 0;
                plainBytes = plain ? Math.min(plainBytes, left(chunk, piece)) : plainBytes;
                operands[next++] = plain ? plainOperand(chunk, piece) : packetOperand(chunk, piece);
            }
            boolean clipped = plainBytes < piece.bytes();
            emit(
                    Records.header(
                            Records.PACKETS,
                            packetSources,
                            packetDestinations,
                            flags | (clipped ? Records.CLIPPED : 0),
                            Records.OPERANDS + operands.length + (clipped ? 1 : 0)),
                    piece.bytes(),
                    fold);
            emit(operands);
            if (clipped) {
                emit(Math.max(0, plainBytes));
            }
        }
    }

    private int kernel(Op op, int sources) {
        if (sources == 1) {
            return Records.COPY;
        }
        ReduceOp how = operator != null ? operator : op.fold() != null ? op.fold() : ReduceOp.SUM;
        return PlanFolds.kernel(how, type);
    }
}
