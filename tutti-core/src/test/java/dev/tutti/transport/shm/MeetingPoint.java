package dev.tutti.transport.shm;

import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.spi.Rendezvous;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A rendezvous for ranks that are pretended to be in different processes. */
public final class MeetingPoint implements Rendezvous {
    private final Map<String, byte[]> values = new HashMap<>();
    private @Nullable String failure;

    /** Whoever asks, or finds nothing, is told this from now on. */
    synchronized void fail(String text) {
        failure = text;
    }

    @Override
    public synchronized void put(String key, byte[] value) {
        values.put(key, value);
        notifyAll();
    }

    @Override
    public synchronized byte[] await(String key, long deadlineNanos) {
        try {
            while (!values.containsKey(key)) {
                long left = deadlineNanos - System.nanoTime();
                if (left <= 0) {
                    requireEverybody();
                    throw new TuttiException(TuttiException.Category.TIMEOUT, "nobody has put " + key, null);
                }
                wait(left / 1_000_000 + 1);
            }
            return values.get(key);
        } catch (InterruptedException interrupted) {
            throw new TuttiException(TuttiException.Category.TIMEOUT, "interrupted", interrupted);
        }
    }

    @Override
    public synchronized void requireEverybody() {
        if (failure != null) {
            throw new PeerFailedException(failure, null);
        }
    }

    @Override
    public void close() {}
}
