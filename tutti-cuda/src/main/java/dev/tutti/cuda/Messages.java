package dev.tutti.cuda;

import dev.tutti.AbortedException;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.MismatchException;
import dev.tutti.TuttiException;
import dev.tutti.cuda.driver.Streams;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives between ranks of a world: matched in order per pair; whoever comes second copies, on its stream, after what
 * was in the other's.
 */
final class Messages {
    private static final int SPINS = 1000;

    private final CudaWorld world;
    /** Per pair, ends that wait for the other; only sends or only receives. */
    private final Map<Long, ArrayDeque<End>> waiting = new HashMap<>();
    /** Ends in all queues. */
    private int alone;

    Messages(CudaWorld world) {
        this.world = world;
    }

    /** One side of a message. */
    static final class End {
        final int rank;
        final CudaCall call;
        final CudaStream stream;
        final long ready;

        @Nullable
        Completion completion;

        long on;
        long captured;
        /** A release that whoever waits acquires. */
        volatile boolean launched;

        End(int rank, CudaCall call, CudaStream stream, long ready) {
            this.rank = rank;
            this.call = call;
            this.stream = stream;
            this.ready = ready;
        }

        int from() {
            return call.sends ? rank : call.root;
        }

        int to() {
            return call.sends ? call.root : rank;
        }
    }

    /** Two sides that have found each other. */
    record Pair(End sender, End receiver) {
        /** Says who disagrees, if the two do. */
        Optional<String> mismatch() {
            CudaCall sends = sender.call;
            CudaCall receives = receiver.call;
            return sends.type == receives.type && sends.count == receives.count
                    ? Optional.empty()
                    : Optional.of("a message does not fit: rank " + sender.rank + ": " + sends + "; rank "
                            + receiver.rank + ": " + receives);
        }

        Fused.Copy copy() {
            CudaBuffer from = Objects.requireNonNull(sender.call.in);
            return new Fused.Copy(
                    from.pointer(), Objects.requireNonNull(receiver.call.out).pointer(), from.bytes());
        }
    }

    /** The pairs among some ends, in order for each two ranks; ends whose other one is not among them are left out. */
    static List<Pair> matched(List<End> ends) {
        List<Pair> pairs = new ArrayList<>();
        Map<List<Integer>, ArrayDeque<End>> open = new HashMap<>();
        for (End end : ends) {
            match(open.computeIfAbsent(List.of(end.from(), end.to()), key -> new ArrayDeque<>()), end)
                    .ifPresent(pairs::add);
        }
        return pairs;
    }

    /** Joins an end to the first that waits for it, or leaves it waiting: a queue has only sends or only receives. */
    private static Optional<Pair> match(ArrayDeque<End> queue, End end) {
        End other = queue.peek();
        if (other == null || other.call.sends == end.call.sends) {
            queue.add(end);
            return Optional.empty();
        }
        queue.remove();
        return Optional.of(end.call.sends ? new Pair(end, other) : new Pair(other, end));
    }

    /** Brings one end and waits until the message is in both streams. */
    CudaWork run(int rank, CudaCall call, CudaStream stream) {
        long ready = world.events().take();
        Streams.record(ready, stream.handle());
        End end = new End(rank, call, stream, ready);
        offer(end).ifPresent(pair -> launch(List.of(pair), stream));
        return finish(end);
    }

    /** Finds the other end, or leaves this one for it. */
    synchronized Optional<Pair> offer(End end) {
        ArrayDeque<End> queue =
                waiting.computeIfAbsent((long) end.from() * world.size() + end.to(), key -> new ArrayDeque<>());
        Optional<Pair> pair = match(queue, end);
        alone += pair.isPresent() ? -1 : 1;
        return pair;
    }

    /** Whether no end waits for another. */
    synchronized boolean isIdle() {
        return alone == 0;
    }

    /** Copies on a stream after what was in all the streams, in as few launches as possible. */
    void launch(List<Pair> pairs, CudaStream on) {
        try {
            List<Fused.Copy> copies = new ArrayList<>();
            on.enter();
            for (Pair pair : pairs) {
                pair.mismatch().ifPresent(text -> {
                    throw new MismatchException(text, null);
                });
                for (End end : List.of(pair.sender(), pair.receiver())) {
                    if (end.stream.handle() != on.handle()) {
                        Streams.await(on.handle(), end.ready, 0);
                    }
                }
                copies.add(pair.copy());
            }
            Fused.copies(world.device(), copies).launch(on.handle());
            boolean captured = on.isCapturing();
            Completion completion = captured ? null : new Completion(world.device(), world.events(), on.handle());
            long event = captured ? world.captureEvent(on.handle()) : 0;
            if (completion != null && world.notice() == CudaWork.Notice.CALLBACK) {
                Notices.callBack(completion, on.handle());
            }
            synchronized (this) {
                for (Pair pair : pairs) {
                    for (End end : List.of(pair.sender(), pair.receiver())) {
                        end.completion = completion;
                        end.on = on.handle();
                        end.captured = event;
                        end.launched = true;
                    }
                }
                notifyAll();
            }
        } catch (RuntimeException failure) {
            world.abort(failure);
            throw failure;
        }
    }

    /** Waits until a message is launched, and for it in the stream. */
    CudaWork finish(End end) {
        await(end);
        Completion completion = end.completion;
        end.stream.enter();
        if (end.stream.handle() != end.on) {
            if (completion != null) {
                completion.order(end.stream.handle());
            } else {
                Streams.await(end.stream.handle(), end.captured, 0);
            }
        }
        world.events().give(end.ready);
        return new CudaWork(completion, world.notice(), world.timeoutNanos(), "rank " + end.rank + "'s " + end.call);
    }

    private void await(End end) {
        for (int spins = 0; spins < SPINS && !end.launched; spins++) {
            Thread.onSpinWait();
        }
        if (!end.launched) {
            sleep(end);
        }
    }

    private synchronized void sleep(End end) {
        long deadline = System.nanoTime() + world.timeoutNanos();
        while (!end.launched) {
            world.requireActive();
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                RuntimeException late = new CollectiveTimeoutException(
                        "rank " + end.rank + " waited " + Duration.ofNanos(world.timeoutNanos()) + " in " + end.call
                                + ": rank " + end.call.root + " has not come",
                        null,
                        new TuttiException.Facts(null, end.call.toString(), List.of(end.call.root)));
                world.abort(late);
                throw late;
            }
            try {
                wait(Math.max(1, Math.min(left / 1_000_000, 100)));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                RuntimeException cause = new AbortedException(
                        "rank " + end.rank + " was interrupted in " + end.call,
                        interrupted,
                        new TuttiException.Facts(null, end.call.toString(), List.of(end.rank)));
                world.abort(cause);
                throw cause;
            }
        }
    }

    synchronized void wake() {
        notifyAll();
    }
}
