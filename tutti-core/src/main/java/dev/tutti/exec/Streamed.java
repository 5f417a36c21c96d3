package dev.tutti.exec;

import dev.tutti.Collective;

/**
 * What of a call goes past the caches: what would be fetched into them only to be overwritten, and would have left them before it is used.
 * None of it changes a bit.
 *
 * @param outputs copies to this rank's output
 * @param peers copies to outputs of peers, where they lie
 * @param results what folds store, unless it replaces one of the sources, or a peer's slot is among its places
 */
record Streamed(boolean outputs, boolean peers, boolean results) {
    static final Streamed NOTHING = new Streamed(false, false, false);

    /** Inputs and outputs of all ranks that together take more than this leave the caches, where slots take some of those. */
    private static final long SLOTS_BYTES = 40 << 20;

    /** The same on registered memory where half of the outputs stay. */
    private static final long FOLDED_BYTES = 28 << 20;

    /** The same where all outputs go past the caches. */
    private static final long COPIED_BYTES = 48 << 20;

    /**
     * For calls of a plan.
     *
     * @param throughSlots whether ranks write to each other's scratch, and not to outputs alone
     * @param folds whether they reduce
     * @param blockBytes what the longest block has
     */
    static Streamed of(
            boolean throughSlots, Collective collective, boolean folds, boolean inPlace, long blockBytes, int ranks) {
        long blocks = touchedBlocks(collective, inPlace, ranks);
        if (throughSlots) {
            // Four ranks that fold past the caches take up to twice as long.
            boolean outputs = blockBytes > SLOTS_BYTES / blocks && !(folds && (inPlace || ranks > 2));
            return new Streamed(outputs, false, folds && outputs);
        }
        boolean leavesNothing = blockBytes > COPIED_BYTES / blocks;
        // In place a fold has just read what it overwrites.
        boolean results = folds && leavesNothing && !inPlace;
        boolean outputs = folds ? blockBytes > FOLDED_BYTES / blocks : leavesNothing;
        return new Streamed(outputs, outputs, results);
    }

    /** Blocks of all inputs and outputs on all ranks. Where there is a root, the others have one block each. */
    private static long touchedBlocks(Collective collective, boolean inPlace, int ranks) {
        long input = collective.inputBlocks(ranks);
        long output = collective.outputBlocks(ranks);
        long both = inPlace ? Math.max(input, output) : input + output;
        return Math.max(1, collective.isRooted() ? ranks - 1 + both : ranks * both);
    }
}
