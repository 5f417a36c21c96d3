package dev.tutti;

import dev.tutti.exec.Call;
import java.util.concurrent.atomic.AtomicBoolean;

/** A prepared collective. */
final class PreparedCall extends Prepared {
    private final Communicator communicator;
    private final Call call;
    private final AtomicBoolean running = new AtomicBoolean();

    PreparedCall(Communicator communicator, Call call) {
        this.communicator = communicator;
        this.call = call;
    }

    @Override
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

    @Override
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
            throw stillRunning();
        }
    }
}
