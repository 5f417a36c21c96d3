package dev.tutti;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation that was started and ends later. It holds its buffers until then; do not touch them before it is done. One
 * thread of the process moves started operations; {@link #await()} helps.
 *
 * {@snippet :
 * Work work = comm.allReduceAsync(gradients, ReduceOp.AVG);
 * computeSomethingElse();
 * work.await(Duration.ofSeconds(30));
 * }
 */
public sealed interface Work permits CollectiveWork, ReceiveWork, ResultWork, WindowWork, GroupWork, DeviceWork {
    /** Waits until the operation is over, at most as long as the communicator's timeout. Throws what went wrong. */
    void await();

    /**
     * Waits until the operation is over. If it is not by then, the communicator is aborted on all ranks.
     *
     * @param timeout how long to wait at most
     */
    void await(Duration timeout);

    /**
     * Whether the operation is over, well or not.
     *
     * @return true if {@link #await()} would return at once
     */
    boolean isDone();

    /**
     * What went wrong.
     *
     * @return the error, or null while it runs and if it went well
     */
    @Nullable
    Throwable error();

    /**
     * Runs an action at the end, on the thread that ends the operation, or now if it is over. It must not block.
     *
     * @param action gets the error, or null
     */
    void onComplete(Consumer<@Nullable Throwable> action);

    /**
     * This as a future, which completes with null or with the error.
     *
     * @return a new future
     */
    default CompletableFuture<@Nullable Void> toCompletableFuture() {
        CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
        onComplete(error -> {
            if (error == null) {
                future.complete(null);
            } else {
                future.completeExceptionally(error);
            }
        });
        return future;
    }
}
