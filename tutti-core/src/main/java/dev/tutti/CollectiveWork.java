package dev.tutti;

import dev.tutti.exec.Call;
import dev.tutti.exec.Schedule;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A queued collective: the one object that starting one makes. */
final class CollectiveWork extends Schedule.Queued implements Work {
    private final Communicator communicator;
    private final Call call;
    private final @Nullable PreparedCall prepared;

    CollectiveWork(Communicator communicator, Schedule schedule, Call call, @Nullable PreparedCall prepared) {
        super(schedule);
        this.communicator = communicator;
        this.call = call;
        this.prepared = prepared;
    }

    @Override
    protected Call call() {
        return call;
    }

    @Override
    protected void finished() {
        communicator.quarantine(call);
        communicator.releaseBuffers(call);
        if (prepared != null) {
            prepared.ended();
        } else {
            communicator.recycle(call);
        }
    }

    @Override
    public void await() {
        Works.await(this, Long.MAX_VALUE);
    }

    @Override
    public void await(Duration timeout) {
        Works.await(this, Works.nanos(timeout));
    }

    @Override
    public void onComplete(Consumer<@Nullable Throwable> action) {
        whenDone(action);
    }
}
