package dev.tutti.plan.verify;

import dev.tutti.Collective;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import dev.tutti.plan.verify.Expectation.Purpose;
import dev.tutti.plan.verify.Script.Span;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sizes as {@link PlanSizes} cuts them for plan files: blocks of any length, each cut into chunks and clipped; slots of scratch as
 * long as the longest chunk. An operation on several chunks is in pieces where they do not follow each other.
 */
final class PositionsLayout extends Layout {
    private final PlanSizes sizes;

    PositionsLayout(Plan plan, long blockBytes) {
        super(plan, "blocks of " + blockBytes + " bytes", expectation(plan, blockBytes));
        this.sizes = PlanSizes.of(plan, blockBytes, 1);
        for (RankPlan part : plan.all()) {
            place(part, blockBytes);
        }
    }

    private void place(RankPlan part, long blockBytes) {
        int rank = part.rank();
        long inputBytes = sizes.inputBytes();
        long outputBytes = sizes.outputBytes();
        Purpose purpose = plan.header().inPlace() ? purpose(plan.header()) : null;
        if (purpose == Purpose.ALL_REDUCE || purpose == Purpose.ALL_TO_ALL) {
            int area = area(rank, "io", Math.max(inputBytes, outputBytes));
            inputs[rank] = new Span(area, 0, Math.max(inputBytes, outputBytes));
            outputs[rank] = inputs[rank];
        } else if (purpose == Purpose.ALL_GATHER) {
            int area = area(rank, "io", outputBytes);
            inputs[rank] = new Span(area, rank * blockBytes, inputBytes);
            outputs[rank] = new Span(area, 0, outputBytes);
        } else if (purpose == Purpose.REDUCE_SCATTER) {
            int area = area(rank, "io", inputBytes);
            inputs[rank] = new Span(area, 0, inputBytes);
            outputs[rank] = new Span(area, rank * blockBytes, outputBytes);
        } else {
            inputs[rank] = new Span(area(rank, "i", inputBytes), 0, inputBytes);
            outputs[rank] = new Span(area(rank, "o", outputBytes), 0, outputBytes);
        }
        boolean twice = plan.header().doubleScratch();
        scratch[rank] = halves(rank, "s", part.scratchChunks() * sizes.slotBytes(), twice);
        packets[rank] = halves(rank, "s(packets)", part.packetChunks() * sizes.slotBytes(), twice);
    }

    @Override
    long unit(Op.Loop loop) {
        return Math.max(sizes.granule(), loop.unitBytes() / sizes.granule() * sizes.granule());
    }

    @Override
    long iterations(Op.Loop loop) {
        return (loop.chunks() * sizes.slotBytes() + unit(loop) - 1) / unit(loop);
    }

    @Override
    List<Piece> pieces(int actor, Operands operands, @Nullable Loop loop) {
        int slots = operands.sources().getFirst().count();
        long slot = sizes.slotBytes();
        long from = 0;
        long to = slots * slot;
        Op.Slice slice = operands.op().slice();
        if (slice != null) {
            long all = to;
            from = sizes.slice(all, slice.index(), slice.of());
            to = sizes.slice(all, slice.index() + 1, slice.of());
        }
        boolean packets = operands.plainSources() < operands.sources().size()
                || operands.plainDestinations() < operands.destinations().size();
        if (loop != null && !packets) {
            long along = from + loop.iteration() * loop.unitBytes();
            to = Math.min(to, along + loop.unitBytes());
            from = Math.min(along, to);
        }
        List<Piece> pieces = new ArrayList<>();
        for (int j = (int) (from / slot); j < slots && from < to; j++) {
            long begin = Math.max(from, j * slot) - j * slot;
            long end = Math.min(to, (j + 1) * slot) - j * slot;
            if (begin < end) {
                add(pieces, operands, j, begin, end, packets);
            }
        }
        return pieces;
    }

    /** Adds what all plain operands have of a part of a slot, and, of packets, the rest. */
    private void add(List<Piece> pieces, Operands operands, int slot, long begin, long end, boolean packets) {
        long clipped = end;
        for (int i = 0; i < operands.plainSources(); i++) {
            clipped = Math.min(clipped, length(operands.sources().get(i), slot));
        }
        for (int i = 0; i < operands.plainDestinations(); i++) {
            clipped = Math.min(clipped, length(operands.destinations().get(i), slot));
        }
        if (clipped > begin) {
            Piece piece = new Piece(
                    regions(operands.sources(), operands.plainSources(), slot, begin, clipped, true),
                    regions(operands.destinations(), operands.plainDestinations(), slot, begin, clipped, true));
            Piece last = pieces.isEmpty() ? null : pieces.getLast();
            if (last != null && follows(last, piece)) {
                pieces.set(pieces.size() - 1, joined(last, piece));
            } else {
                pieces.add(piece);
            }
        }
        if (packets && clipped < end) {
            long rest = Math.max(begin, clipped);
            pieces.add(new Piece(
                    regions(operands.sources(), operands.plainSources(), slot, rest, end, false),
                    regions(operands.destinations(), operands.plainDestinations(), slot, rest, end, false)));
        }
    }

    private Region[] regions(List<Chunk> chunks, int plain, int slot, long begin, long end, boolean withPlain) {
        List<Region> regions = new ArrayList<>();
        for (int i = withPlain ? 0 : plain; i < chunks.size(); i++) {
            regions.add(region(chunks.get(i), slot, begin, end, i >= plain));
        }
        return regions.toArray(Region[]::new);
    }

    private Region region(Chunk chunk, int slot, long begin, long end, boolean packet) {
        int index = chunk.index() + slot;
        if (chunk.space() == Space.SCRATCH) {
            return inScratch(chunk.rank(), index * sizes.slotBytes() + begin, end - begin, packet);
        }
        Span buffer = (chunk.space() == Space.INPUT ? inputs : outputs)[chunk.rank()];
        long offset = buffer.offset() + sizes.offset(chunk.space(), index) + begin;
        return new Region(buffer.area(), buffer.area(), offset, end - begin, false);
    }

    private long length(Chunk chunk, int slot) {
        return sizes.length(chunk.space(), chunk.index() + slot);
    }

    private static boolean follows(Piece last, Piece next) {
        return follow(last.sources(), next.sources()) && follow(last.destinations(), next.destinations());
    }

    private static boolean follow(Region[] last, Region[] next) {
        for (int i = 0; i < last.length; i++) {
            if (last.length != next.length || last[i].offset() + last[i].bytes() != next[i].offset()) {
                return false;
            }
        }
        return last.length == next.length;
    }

    private static Piece joined(Piece last, Piece next) {
        return new Piece(join(last.sources(), next.sources()), join(last.destinations(), next.destinations()));
    }

    private static Region[] join(Region[] last, Region[] next) {
        Region[] joined = new Region[last.length];
        Arrays.setAll(
                joined,
                i -> new Region(
                        last[i].even(),
                        last[i].odd(),
                        last[i].offset(),
                        last[i].bytes() + next[i].bytes(),
                        last[i].packet()));
        return joined;
    }

    static @Nullable Purpose purpose(PlanHeader header) {
        Collective collective = header.collective();
        if (collective != null) {
            return Purpose.of(collective);
        }
        return header.purpose().equals(PlanHeader.SENDRECV) ? Purpose.SEND_RECEIVE : null;
    }

    private static @Nullable Expectation expectation(Plan plan, long blockBytes) {
        Purpose purpose = purpose(plan.header());
        if (purpose == null) {
            return null;
        }
        Collective collective = plan.header().collective();
        int ranks = plan.ranks();
        long[][] inputOffsets = new long[ranks][collective == null ? 1 : collective.inputBlocks(ranks)];
        long[][] outputOffsets = new long[ranks][collective == null ? 1 : collective.outputBlocks(ranks)];
        long[][] outputBytes = new long[ranks][outputOffsets[0].length];
        for (int rank = 0; rank < ranks; rank++) {
            Arrays.setAll(inputOffsets[rank], block -> block * blockBytes);
            Arrays.setAll(outputOffsets[rank], block -> block * blockBytes);
            Arrays.fill(outputBytes[rank], blockBytes);
        }
        return new Expectation(purpose, plan.root(), inputOffsets, outputOffsets, outputBytes, false);
    }
}
