package dev.tutti.algorithm;

/** How long an algorithm should take. Good enough to rank algorithms, not to predict a clock. */
@FunctionalInterface
public interface Cost {
    /**
     * The time of one call.
     *
     * @param ranks how many ranks take part
     * @param bytesPerBlock length of one block of the collective's input or output
     * @param constants what signals, copies and folds cost
     * @return nanoseconds
     */
    double nanos(int ranks, double bytesPerBlock, Constants constants);

    /** Steps of an algorithm that doubles what it knows in each; 0 for one rank. */
    static int log2(int ranks) {
        return 32 - Integer.numberOfLeadingZeros(ranks - 1);
    }

    /** Work of which the ranks of a binary tree wait for each other's: in the first round level by level, later all at once. */
    static double inTurn(int ranks, double work, Constants c, double rounds) {
        return c.shared(ranks, work) * (1 + (log2(ranks) - 1) / (2 * rounds));
    }
}
