package dev.tutti.plan.verify;

import dev.tutti.Collective;
import java.util.Arrays;

/**
 * What a collective must leave in each rank's output: for each block of it, whose input blocks are folded or copied there.
 *
 * @param purpose the collective as plan files name it
 * @param root the root of a rooted collective
 * @param inputOffsets for each rank where its input blocks begin
 * @param outputOffsets for each rank where its output blocks begin
 * @param outputBytes for each rank how long its output blocks are
 * @param finishes whether every result must have been finished exactly once
 */
record Expectation(
        Purpose purpose,
        int root,
        long[][] inputOffsets,
        long[][] outputOffsets,
        long[][] outputBytes,
        boolean finishes) {

    /** What is computed. */
    enum Purpose {
        ALL_REDUCE,
        REDUCE,
        BROADCAST,
        ALL_GATHER,
        REDUCE_SCATTER,
        GATHER,
        SCATTER,
        ALL_TO_ALL,
        SCAN,
        EXSCAN,
        BARRIER,
        SEND_RECEIVE;

        static Purpose of(Collective collective) {
            return valueOf(collective.name());
        }

        boolean isReducing() {
            return switch (this) {
                case ALL_REDUCE, REDUCE, REDUCE_SCATTER, SCAN, EXSCAN -> true;
                default -> false;
            };
        }
    }

    int ranks() {
        return inputOffsets.length;
    }

    /** Whether this rank gets something. */
    boolean hasOutput(int rank) {
        return switch (purpose) {
            case REDUCE, GATHER -> rank == root;
            case EXSCAN -> rank > 0;
            case BARRIER -> false;
            default -> true;
        };
    }

    /** Whether this rank gives something. */
    boolean hasInput(int rank) {
        return switch (purpose) {
            case BROADCAST, SCATTER -> rank == root;
            case BARRIER -> false;
            default -> true;
        };
    }

    /**
     * The contributions to a byte of output, sorted.
     *
     * @param launch which launch
     * @param rank whose output
     * @param block block of the output
     * @param at byte within the block
     * @param from for {@link Purpose#SEND_RECEIVE}: the rank that sends to this one
     */
    long[] atoms(int launch, int rank, int block, long at, int from) {
        return switch (purpose) {
            case ALL_REDUCE, REDUCE -> folded(launch, ranks(), 0, at);
            case REDUCE_SCATTER -> folded(launch, ranks(), rank, at);
            case SCAN -> folded(launch, rank + 1, 0, at);
            case EXSCAN -> folded(launch, rank, 0, at);
            case BROADCAST -> one(launch, root, 0, at);
            case ALL_GATHER, GATHER -> one(launch, block, 0, at);
            case SCATTER -> one(launch, root, rank, at);
            case ALL_TO_ALL -> one(launch, block, rank, at);
            case SEND_RECEIVE -> one(launch, from, 0, at);
            case BARRIER -> throw new IllegalStateException("a barrier has no output");
        };
    }

    private long[] one(int launch, int source, int part, long at) {
        return new long[] {Value.atom(launch, source, inputOffsets[source][part] + at)};
    }

    private long[] folded(int launch, int ranks, int block, long at) {
        long[] atoms = new long[ranks];
        Arrays.setAll(atoms, rank -> Value.atom(launch, rank, inputOffsets[rank][block] + at));
        return atoms;
    }
}
