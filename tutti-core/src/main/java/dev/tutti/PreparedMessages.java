package dev.tutti;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A prepared send, receive, or both. */
final class PreparedMessages extends Prepared {
    private final Supplier<? extends Work> starter;
    private @Nullable Work last;

    PreparedMessages(Supplier<? extends Work> starter) {
        this.starter = starter;
    }

    @Override
    public synchronized Work start() {
        if (last != null && !last.isDone()) {
            throw stillRunning();
        }
        Work started = starter.get();
        last = started;
        return started;
    }
}
