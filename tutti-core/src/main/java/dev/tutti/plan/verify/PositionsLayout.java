package dev.tutti.plan.verify;

import dev.tutti.Collective;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.verify.Expectation.Purpose;
import dev.tutti.plan.verify.Script.Span;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Sizes as plan files have them: every chunk of input, output and scratch has the same length. */
final class PositionsLayout extends Layout {
    /** Room that plans with shared resources plan for. */
    private static final long SHARED_SCRATCH = 64L << 20;

    private final long chunkBytes;
    private final long scratchStride;

    PositionsLayout(Plan plan, long chunkBytes) {
        super(plan, "chunks of " + chunkBytes + " bytes", expectation(plan, chunkBytes));
        this.chunkBytes = chunkBytes;
        long shared = sharedChunk(plan);
        this.scratchStride = shared > 0 && shared < chunkBytes ? shared : chunkBytes;
        for (RankPlan part : plan.all()) {
            place(part);
        }
    }

    /** With shared resources: how long a chunk of scratch can be at most; else 0. */
    static long sharedChunk(Plan plan) {
        int chunks = plan.rank(0).scratchChunks();
        if (!plan.header().reuseResources() || chunks == 0) {
            return 0;
        }
        long room = plan.header().doubleScratch() ? SHARED_SCRATCH / 2 : SHARED_SCRATCH;
        long alignment = plan.header().alignmentBytes();
        return ((room + chunks - 1) / chunks + alignment - 1) / alignment * alignment;
    }

    private void place(RankPlan part) {
        int rank = part.rank();
        long inputBytes = part.inputChunks() * chunkBytes;
        long outputBytes = part.outputChunks() * chunkBytes;
        Purpose purpose = plan.header().inPlace() ? purpose(plan.header()) : null;
        if (purpose == Purpose.ALL_REDUCE || purpose == Purpose.ALL_TO_ALL) {
            long bytes = Math.max(inputBytes, outputBytes);
            int area = area(rank, "io", bytes);
            inputs[rank] = new Span(area, 0, bytes);
            outputs[rank] = new Span(area, 0, bytes);
        } else if (purpose == Purpose.ALL_GATHER && (rank + 1) * inputBytes <= outputBytes) {
            int area = area(rank, "io", outputBytes);
            inputs[rank] = new Span(area, rank * inputBytes, inputBytes);
            outputs[rank] = new Span(area, 0, outputBytes);
        } else if (purpose == Purpose.REDUCE_SCATTER && (rank + 1) * outputBytes <= inputBytes) {
            int area = area(rank, "io", inputBytes);
            inputs[rank] = new Span(area, 0, inputBytes);
            outputs[rank] = new Span(area, rank * outputBytes, outputBytes);
        } else {
            inputs[rank] = new Span(area(rank, "i", inputBytes), 0, inputBytes);
            outputs[rank] = new Span(area(rank, "o", outputBytes), 0, outputBytes);
        }
        long scratchBytes = Math.max(0, part.scratchChunks() - 1) * scratchStride + chunkBytes;
        boolean twice = plan.header().doubleScratch();
        scratch[rank] = halves(rank, "s", part.scratchChunks() == 0 ? 0 : scratchBytes, twice);
        packets[rank] = halves(rank, "s(packets)", part.packetChunks() == 0 ? 0 : scratchBytes, twice);
    }

    @Override
    long granule() {
        return plan.header().alignmentBytes();
    }

    @Override
    long iterations(int rank, Op.Loop loop) {
        return (loop.chunks() * chunkBytes + loop.unitBytes() - 1) / loop.unitBytes();
    }

    @Override
    long ring() {
        return scratchStride < chunkBytes ? scratchStride : 0;
    }

    @Override
    Span place(int actor, Chunk chunk, boolean packet) {
        long bytes = chunk.count() * chunkBytes;
        return switch (chunk.space()) {
            case INPUT -> within(inputs[chunk.rank()], chunk.index() * chunkBytes, bytes);
            case OUTPUT -> within(outputs[chunk.rank()], chunk.index() * chunkBytes, bytes);
            case SCRATCH -> new Span(-1, chunk.index() * scratchStride, bytes);
        };
    }

    private static Span within(Span buffer, long offset, long bytes) {
        return new Span(buffer.area(), buffer.offset() + offset, bytes);
    }

    static @Nullable Purpose purpose(PlanHeader header) {
        Collective collective = header.collective();
        if (collective != null) {
            return Purpose.of(collective);
        }
        return header.purpose().equals(PlanHeader.SENDRECV) ? Purpose.SEND_RECEIVE : null;
    }

    private static @Nullable Expectation expectation(Plan plan, long chunkBytes) {
        Purpose purpose = purpose(plan.header());
        if (purpose == null) {
            return null;
        }
        Collective collective = plan.header().collective();
        int ranks = plan.ranks();
        int inputBlocks = collective == null ? 1 : collective.inputBlocks(ranks);
        int outputBlocks = collective == null ? 1 : collective.outputBlocks(ranks);
        long[][] inputOffsets = new long[ranks][inputBlocks];
        long[][] outputOffsets = new long[ranks][outputBlocks];
        long[][] outputBytes = new long[ranks][outputBlocks];
        for (RankPlan part : plan.all()) {
            int outputChunks = part.outputChunks();
            if (outputChunks == 0 && plan.header().inPlace()) {
                outputChunks = part.inputChunks();
            }
            long inputBlock = part.inputChunks() * chunkBytes / Math.max(1, inputBlocks);
            long outputBlock = outputChunks * chunkBytes / Math.max(1, outputBlocks);
            Arrays.setAll(inputOffsets[part.rank()], block -> block * inputBlock);
            Arrays.setAll(outputOffsets[part.rank()], block -> block * outputBlock);
            Arrays.fill(outputBytes[part.rank()], outputBlock);
        }
        return new Expectation(purpose, plan.root(), inputOffsets, outputOffsets, outputBytes, false);
    }
}
