package dev.tutti.algorithm;

import dev.tutti.Collective;
import dev.tutti.algorithm.PlanSimulator.Fold;
import dev.tutti.algorithm.PlanSimulator.Lengths;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** What the collectives compute, written down as plainly as can be. */
final class Reference {
    private final Collective collective;
    private final int ranks;
    private final int root;

    Reference(Collective collective, int ranks, int root) {
        this.collective = collective;
        this.ranks = ranks;
        this.root = root;
    }

    boolean hasInput(int rank) {
        boolean rootOnly = collective == Collective.BROADCAST || collective == Collective.SCATTER;
        return !rootOnly || rank == root;
    }

    boolean hasOutput(int rank) {
        return switch (collective) {
            case REDUCE, GATHER -> rank == root;
            case EXSCAN -> rank > 0;
            default -> true;
        };
    }

    boolean hasBlocksPerRank() {
        return collective.inputBlocks(2) != collective.outputBlocks(2) || collective == Collective.ALL_TO_ALL;
    }

    /** Lengths of all blocks: equal, or different for every owner, or in an all-to-all for every pair. */
    Lengths lengths(long longest, boolean ragged, RandomGenerator random) {
        long[][] pair = new long[ranks][ranks];
        long[] block = random.longs(ranks, 0, longest + 1).toArray();
        for (int from = 0; from < ranks; from++) {
            for (int to = 0; to < ranks; to++) {
                pair[from][to] = ragged ? random.nextLong(longest + 1) : longest;
            }
            block[from] = ragged ? block[from] : longest;
        }
        long[][] input = new long[ranks][];
        long[][] output = new long[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            input[rank] = hasInput(rank) ? new long[collective.inputBlocks(ranks)] : null;
            output[rank] = hasOutput(rank) ? new long[collective.outputBlocks(ranks)] : null;
            fill(input[rank], rank, block, pair, true, longest);
            fill(output[rank], rank, block, pair, false, longest);
        }
        return new Lengths(input, output);
    }

    private void fill(long @Nullable [] blocks, int rank, long[] block, long[][] pair, boolean input, long longest) {
        for (int i = 0; blocks != null && i < blocks.length; i++) {
            if (collective == Collective.ALL_TO_ALL) {
                blocks[i] = input ? pair[rank][i] : pair[i][rank];
            } else if (hasBlocksPerRank()) {
                blocks[i] = blocks.length == 1 ? block[rank] : block[i];
            } else {
                blocks[i] = longest;
            }
        }
    }

    /** Random values for all inputs. */
    long[][][] inputs(Lengths lengths, RandomGenerator random) {
        long[][][] inputs = new long[ranks][][];
        for (int rank = 0; rank < ranks; rank++) {
            long[] blocks = lengths.input()[rank];
            inputs[rank] = new long[blocks == null ? 0 : blocks.length][];
            for (int block = 0; block < inputs[rank].length; block++) {
                inputs[rank][block] = random.longs(blocks[block], 1, 1 << 20).toArray();
            }
        }
        return inputs;
    }

    /** The value of one element of a rank's output. */
    long expected(long[][][] inputs, Fold fold, int rank, int block, int i) {
        return switch (collective) {
            case ALL_REDUCE, REDUCE -> PlanSimulator.finish(folded(inputs, fold, ranks, 0, i));
            case REDUCE_SCATTER -> PlanSimulator.finish(folded(inputs, fold, ranks, rank, i));
            case SCAN -> folded(inputs, fold, rank + 1, 0, i);
            case EXSCAN -> folded(inputs, fold, rank, 0, i);
            case BROADCAST -> inputs[root][0][i];
            case ALL_GATHER, GATHER -> inputs[block][0][i];
            case SCATTER -> inputs[root][rank][i];
            case ALL_TO_ALL -> inputs[block][rank][i];
            case BARRIER -> throw new AssertionError("a barrier has no output");
        };
    }

    private static long folded(long[][][] inputs, Fold fold, int ranks, int block, int i) {
        long value = 0;
        for (int rank = 0; rank < ranks; rank++) {
            long x = inputs[rank][block][i] * (fold == Fold.SUM ? PlanSimulator.scalar(rank) : 1);
            value = rank == 0 ? x : fold.apply(value, x);
        }
        return value;
    }
}
