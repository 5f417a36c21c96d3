package dev.tutti;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Several operations that were started together. It is over when all are; its error is the first one's. */
final class GroupWork implements Work {
    private final List<Work> works;

    GroupWork(List<Work> works) {
        this.works = List.copyOf(works);
    }

    @Override
    public void await() {
        works.forEach(Work::await);
    }

    @Override
    public void await(Duration timeout) {
        long end = System.nanoTime() + Works.nanos(timeout);
        for (Work work : works) {
            work.await(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
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
