package dev.tutti.cli.perf;

/**
 * How much one call moves.
 *
 * @param sendCount elements of the input
 * @param recvCount elements of the output
 * @param count what the column says: all elements, or those per rank
 * @param algorithmBytes what the algorithm's bandwidth counts
 */
record Shape(long sendCount, long recvCount, long count, int elementBytes, long algorithmBytes) {
    long largestCount() {
        return Math.max(sendCount, recvCount);
    }

    /** The column "size". */
    long bytes() {
        return largestCount() * elementBytes;
    }
}
