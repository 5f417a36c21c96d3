package dev.tutti;

import dev.tutti.exec.Call;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A collective whose arguments were checked and whose plan was chosen once, to be run many times on the same buffers. It can be
 * running once at a time.
 *
 * {@snippet :
 * Prepared step = comm.prepareAllReduce(gradients, ReduceOp.AVG);
 * for (int i = 0; i < steps; i++) {
 *     computeGradients();
 *     step.run();
 * }
 * }
 */
public final class Prepared {
    private final Communicator communicator;
    private final Call call;
    private final AtomicBoolean running = new AtomicBoolean();

    Prepared(Communicator communicator, Call call) {
        this.communicator = communicator;
        this.call = call;
    }

    /** Runs the collective and waits for its end. */
    public void run() {
        claim();
        if (!communicator.schedule.enter()) {
            begin().await();
            return;
        }
        try {
            communicator.runInline(call);
        } finally {
            communicator.schedule.exit();
            ended();
        }
    }

    /**
     * Starts the collective.
     *
     * @return what to wait for
     */
    public Work start() {
        claim();
        return begin();
    }

    private Work begin() {
        try {
            communicator.retainBuffers(call);
        } catch (RuntimeException closed) {
            ended();
            throw closed;
        }
        return communicator.submit(new CollectiveWork(communicator, communicator.schedule, call, this));
    }

    void ended() {
        running.set(false);
    }

    private void claim() {
        if (!running.compareAndSet(false, true)) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "this prepared operation is still running: await its Work first",
                    null);
        }
    }
}
