package dev.tutti;

import dev.tutti.exec.Durations;
import dev.tutti.exec.Task;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What the kinds of {@link Work} have in common. */
final class Works {
    private Works() {}

    static void await(Task task, long timeoutNanos) {
        task.join(timeoutNanos);
        rethrow(task.error());
    }

    /** Throws an error of another thread with this thread's stack. */
    static void rethrow(@Nullable Throwable error) {
        switch (error) {
            case null -> {}
            case MismatchException e -> throw new MismatchException(text(e), e, e.facts());
            case CollectiveTimeoutException e -> throw new CollectiveTimeoutException(text(e), e, e.facts());
            case PeerFailedException e -> throw new PeerFailedException(text(e), e, e.facts());
            case AbortedException e -> throw new AbortedException(text(e), e, e.facts());
            case TuttiException e -> throw new TuttiException(e.category(), text(e), e, e.facts());
            case Error e -> throw e;
            case RuntimeException e -> throw e;
            default -> throw new AbortedException("operation failed: " + error, error);
        }
    }

    private static String text(Throwable error) {
        return String.valueOf(error.getMessage());
    }

    static long nanos(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException(
                    "timeout must not be negative, got " + Durations.text(TimeUnit.NANOSECONDS.convert(timeout)));
        }
        return timeout.compareTo(Duration.ofDays(10_000)) > 0 ? Long.MAX_VALUE : timeout.toNanos();
    }
}
