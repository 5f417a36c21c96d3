package dev.tutti.cuda;

import dev.tutti.cuda.driver.Streams;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** One operation of a world: what each rank brought, and what came of it. */
final class Round {
    final long number;
    private final AtomicReferenceArray<@Nullable Post> posts;
    private final AtomicInteger missing;
    /** Set by the last to come; a release that waiting ranks acquire. */
    private volatile boolean launched;

    private volatile @Nullable Completion completion;
    private volatile long stream;
    private volatile long captured;

    /** A rank's call, the stream it belongs to, and an event of what was in that stream before, if one is needed. */
    record Post(int rank, CudaCall call, CudaStream stream, long ready) {}

    Round(long number, int size) {
        this.number = number;
        this.posts = new AtomicReferenceArray<>(size);
        this.missing = new AtomicInteger(size);
    }

    /** Returns true to the last one. */
    boolean bring(Post post) {
        posts.set(post.rank(), post);
        return missing.decrementAndGet() == 0;
    }

    Post post(int rank) {
        return java.util.Objects.requireNonNull(posts.get(rank));
    }

    CudaCall[] calls() {
        CudaCall[] calls = new CudaCall[posts.length()];
        java.util.Arrays.setAll(calls, rank -> post(rank).call());
        return calls;
    }

    boolean hasCome(int rank) {
        return posts.get(rank) != null;
    }

    boolean isLaunched() {
        return launched;
    }

    /**
     * Tells everybody that it is launched.
     *
     * @param on the stream
     * @param made its end, or null if it was captured
     * @param event in a capture: what other streams must wait for
     */
    void launched(long on, @Nullable Completion made, long event) {
        completion = made;
        stream = on;
        captured = event;
        launched = true;
        synchronized (this) {
            notifyAll();
        }
    }

    @Nullable
    Completion completion() {
        return completion;
    }

    /** Makes a rank's stream wait for the launch, unless it is in that stream. */
    void order(CudaStream other) {
        if (other.handle() == stream) {
            return;
        }
        Completion end = completion;
        if (end != null) {
            end.order(other.handle());
        } else if (captured != 0) {
            Streams.await(other.handle(), captured, 0);
        }
    }
}
