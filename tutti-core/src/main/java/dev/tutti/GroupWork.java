package dev.tutti;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Several operations that were started together. It is over when all are; its error is the first one's. */
sealed class GroupWork implements Work permits ExchangeWork {
    private final List<Work> works;

    GroupWork(List<Work> works) {
        this.works = List.copyOf(works);
    }

    @Override
    public void await() {
        awaitAll(Work::await);
    }

    @Override
    public void await(Duration timeout) {
        long end = System.nanoTime() + Works.nanos(timeout);
        awaitAll(work -> work.await(Duration.ofNanos(Math.max(0, end - System.nanoTime()))));
    }

    /** Waits for all even if one fails: on return none may touch its buffers any more. */
    private void awaitAll(Consumer<Work> wait) {
        Throwable first = null;
        for (Work work : works) {
            try {
                wait.accept(work);
            } catch (RuntimeException | Error thrown) {
                first = first == null ? thrown : first;
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException unchecked) {
            throw unchecked;
        }
    }

    @Override
    public boolean isDone() {
        return works.stream().allMatch(Work::isDone);
    }

    @Override
    public @Nullable Throwable error() {
        return isDone()
                ? works.stream()
                        .map(Work::error)
                        .filter(error -> error != null)
                        .findFirst()
                        .orElse(null)
                : null;
    }

    @Override
    public void onComplete(Consumer<@Nullable Throwable> action) {
        AtomicInteger left = new AtomicInteger(works.size());
        if (works.isEmpty()) {
            action.accept(null);
        }
        works.forEach(work -> work.onComplete(error -> {
            if (left.decrementAndGet() == 0) {
                action.accept(error());
            }
        }));
    }
}
