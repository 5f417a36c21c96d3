package dev.tutti;

import dev.tutti.memory.Operand;
import dev.tutti.p2p.Message;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A send or receive that was started. */
final class MessageWork extends Message implements ReceiveWork {
    private final Buffer buffer;

    MessageWork(Communicator comm, boolean send, Buffer buffer, int peer, int tag) {
        super(
                comm.member.postbox(),
                send,
                peer,
                tag,
                buffer.bytes(),
                buffer.type(),
                comm.timeoutNanos() == comm.member.timeoutNanos() ? 0 : comm.timeoutNanos());
        this.buffer = buffer;
    }

    /** Keeps the buffer open until the end. */
    void retain() {
        buffer.retain();
    }

    @Override
    public Received received() {
        if (!isDone()) {
            throw new TuttiException(
                    TuttiException.Category.USAGE, "nothing has been received yet: await the Work first", null);
        }
        Works.rethrow(error());
        return new Received(peer(), tag(), receivedBytes() / buffer.type().bytes());
    }

    @Override
    protected void describe(Operand operand) {
        buffer.describe(operand);
    }

    @Override
    protected void finished() {
        buffer.release();
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
