package dev.tutti;

/**
 * An operation whose arguments were checked once, to be run many times on the same buffers; of a collective the plan was chosen, too.
 * It can be running once at a time.
 *
 * {@snippet :
 * Prepared step = comm.prepareAllReduce(gradients, ReduceOp.AVG);
 * for (int i = 0; i < steps; i++) {
 *     computeGradients();
 *     step.run();
 * }
 * }
 */
public abstract sealed class Prepared permits PreparedCall, PreparedMessages {
    Prepared() {}

    /** Runs the operation and waits for its end. */
    public void run() {
        start().await();
    }

    /**
     * Starts the operation.
     *
     * @return what to wait for
     */
    public abstract Work start();

    static TuttiException stillRunning() {
        return new TuttiException(
                TuttiException.Category.USAGE, "this prepared operation is still running: await its Work first", null);
    }
}
