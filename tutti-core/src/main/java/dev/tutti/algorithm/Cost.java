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
}
