package dev.tutti.cuda;

import dev.tutti.ReduceOp;
import dev.tutti.cuda.driver.Streams;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part of a {@link CudaWorld}. A call returns when it is in this rank's stream, which is when all ranks have made it;
 * what comes after it in the stream sees its result. One thread per rank, or a {@link CudaGroup} for several ranks of one thread.
 */
public final class CudaCommunicator {
    private final CudaWorld world;
    private final int rank;
    private final AtomicLong numbers = new AtomicLong();
    private volatile @Nullable CudaStream own;
    private volatile @Nullable CudaStream stream;
    private long ready;

    CudaCommunicator(CudaWorld world, int rank) {
        this.world = world;
        this.rank = rank;
    }

    /**
     * Who this is.
     *
     * @return from 0
     */
    public int rank() {
        return rank;
    }

    /**
     * How many ranks there are.
     *
     * @return at least 1
     */
    public int size() {
        return world.size();
    }

    /**
     * The world of this rank.
     *
     * @return the world
     */
    public CudaWorld world() {
        return world;
    }

    /**
     * The stream that calls go into: one of this rank's own unless {@link #useStream} said otherwise.
     *
     * @return the stream
     */
    public CudaStream stream() {
        CudaStream known = stream;
        return known != null ? known : ownStream();
    }

    private synchronized CudaStream ownStream() {
        CudaStream known = stream;
        if (known == null) {
            known = world.device().stream();
            own = known;
            stream = known;
        }
        return known;
    }

    /**
     * Puts calls into another stream from now on.
     *
     * @param other a stream of the world's device
     * @return this
     */
    public synchronized CudaCommunicator useStream(CudaStream other) {
        if (other.device() != world.device()) {
            throw new IllegalArgumentException("the stream is on " + other.device() + ", not on " + world.device());
        }
        stream = other;
        return this;
    }

    /**
     * Makes a call.
     *
     * @param call this rank's part
     * @return what to wait for
     */
    public CudaWork start(CudaCall call) {
        world.check(rank, call);
        CudaStream on = stream();
        on.enter();
        if (call.collective == null) {
            return world.messages().run(rank, call, on);
        }
        long number = numbers.incrementAndGet();
        Round round = world.post(number, new Round.Post(rank, call, on, isAlone() ? 0 : ready(on)));
        return finish(round, call, on);
    }

    /** Waits until a round is launched, and for it in the stream. */
    CudaWork finish(Round round, CudaCall call, CudaStream on) {
        world.await(round, rank, call);
        on.enter();
        round.order(on);
        return new CudaWork(round.completion(), world.notice(), world.timeoutNanos(), "rank " + rank + "'s " + call);
    }

    /** An event of what is in a stream now. */
    synchronized long ready(CudaStream on) {
        if (ready == 0) {
            ready = world.events().take();
        }
        Streams.record(ready, on.handle());
        return ready;
    }

    long nextNumber() {
        return numbers.incrementAndGet();
    }

    long number() {
        return numbers.get();
    }

    /** Whether this rank has made as many calls as another. */
    boolean isAt(CudaCommunicator other) {
        return number() == other.number();
    }

    private boolean isAlone() {
        return world.size() == 1;
    }

    /**
     * Resolves a call once, to be run many times on the same buffers.
     *
     * @param call this rank's part
     * @return the call, ready
     */
    public CudaPrepared prepare(CudaCall call) {
        world.check(rank, call);
        return new CudaPrepared(this, Objects.requireNonNull(call, "call"));
    }

    /**
     * Reduces in place on all ranks.
     *
     * @param buffer this rank's elements, then the result
     * @param op how to reduce
     * @return what to wait for
     */
    public CudaWork allReduce(CudaBuffer buffer, ReduceOp op) {
        return start(CudaCall.allReduce(buffer, buffer, op));
    }

    /**
     * Reduces on all ranks.
     *
     * @param in this rank's elements
     * @param out the result
     * @param op how to reduce
     * @return what to wait for
     */
    public CudaWork allReduce(CudaBuffer in, CudaBuffer out, ReduceOp op) {
        return start(CudaCall.allReduce(in, out, op));
    }

    /**
     * Reduces to the root.
     *
     * @param in this rank's elements
     * @param out the result; needed at the root only
     * @param op how to reduce
     * @param root who gets it
     * @return what to wait for
     */
    public CudaWork reduce(CudaBuffer in, @Nullable CudaBuffer out, ReduceOp op, int root) {
        return start(CudaCall.reduce(in, out, op, root));
    }

    /**
     * Gives everybody the root's elements.
     *
     * @param buffer the root's elements, and where the others get them
     * @param root who has them
     * @return what to wait for
     */
    public CudaWork broadcast(CudaBuffer buffer, int root) {
        return start(CudaCall.broadcast(buffer, root));
    }

    /**
     * Gives everybody everybody's elements.
     *
     * @param in this rank's elements
     * @param out one block per rank
     * @return what to wait for
     */
    public CudaWork allGather(CudaBuffer in, CudaBuffer out) {
        return start(CudaCall.allGather(in, out));
    }

    /**
     * Gives each rank its block of the reduction.
     *
     * @param in one block per rank
     * @param out one block
     * @param op how to reduce
     * @return what to wait for
     */
    public CudaWork reduceScatter(CudaBuffer in, CudaBuffer out, ReduceOp op) {
        return start(CudaCall.reduceScatter(in, out, op));
    }

    /**
     * Gives each rank its block of every rank.
     *
     * @param in one block per rank
     * @param out one block per rank
     * @return what to wait for
     */
    public CudaWork allToAll(CudaBuffer in, CudaBuffer out) {
        return start(CudaCall.allToAll(in, out));
    }

    /**
     * Sends elements.
     *
     * @param buffer the elements
     * @param to who gets them
     * @return what to wait for
     */
    public CudaWork send(CudaBuffer buffer, int to) {
        return start(CudaCall.send(buffer, to));
    }

    /**
     * Receives elements.
     *
     * @param buffer where they go
     * @param from who sends them
     * @return what to wait for
     */
    public CudaWork receive(CudaBuffer buffer, int from) {
        return start(CudaCall.receive(buffer, from));
    }

    /**
     * Orders the ranks' streams: what comes after it in any comes after what was before it in every one.
     *
     * @return what to wait for
     */
    public CudaWork barrier() {
        return start(CudaCall.barrier());
    }

    synchronized void close() {
        if (ready != 0) {
            world.events().give(ready);
            ready = 0;
        }
        if (own != null) {
            own.close();
        }
    }

    @Override
    public String toString() {
        return "rank " + rank + " of " + world.size() + " on " + world.device();
    }
}
