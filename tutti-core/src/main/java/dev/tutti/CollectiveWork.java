package dev.tutti;

import dev.tutti.exec.Call;
import dev.tutti.exec.Schedule;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A queued collective: the one object that starting one makes. */
sealed class CollectiveWork extends Schedule.Queued implements Work permits BytesWork {
    private final Communicator communicator;
    private Call call;
    private final @Nullable PreparedCall prepared;

    CollectiveWork(Communicator communicator, Schedule schedule, Call call, @Nullable PreparedCall prepared) {
        super(schedule);
        this.communicator = communicator;
        this.call = call;
        this.prepared = prepared;
    }

    @Override
    protected final Call call() {
        return call;
    }

    /** The call is over, and another one follows. */
    final void replace(Call next) {
        communicator.retainBuffers(next);
        communicator.releaseBuffers(call);
        call = next;
    }

    @Override
    protected final void finished() {
        communicator.quarantine(call);
        communicator.releaseBuffers(call);
        if (prepared != null) {
            prepared.ended();
        } else {
            communicator.recycle(call);
        }
    }

    @Override
    public final void await() {
        Works.await(this, Long.MAX_VALUE);
    }

    @Override
    public final void await(Duration timeout) {
        Works.await(this, Works.nanos(timeout));
    }

    @Override
    public final void onComplete(Consumer<@Nullable Throwable> action) {
        whenDone(action);
    }
}
