package dev.tutti;

import dev.tutti.p2p.Message;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A send or receive that was started. */
final class MessageWork extends Message implements Work {
    private final Buffer buffer;

    MessageWork(Member member, Buffer buffer, int peer, int tag, boolean send) {
        super(member.postbox(), peer, tag, send);
        this.buffer = buffer;
    }

    Buffer buffer() {
        return buffer;
    }

    Received received() {
        return new Received(source(), receivedTag(), receivedBytes() / buffer.type().bytes());
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
