package dev.tutti.cuda;

import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.cuda.driver.Streams;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part of a {@link CudaWorld}. A call returns when it is in this rank's stream, which is when all ranks have made it;
 * what comes after it in the stream sees its result. On the paths {@link CudaPath#HOST} and {@link CudaPath#STAGED} it returns when
 * it is over. One thread per rank, or a {@link CudaGroup} for several ranks of one thread.
 */
public final class CudaCommunicator extends DeviceCommunicator {
    private final CudaWorld world;
    private final int rank;
    private final AtomicLong numbers = new AtomicLong();
    private volatile @Nullable Communicator host;
    private volatile @Nullable CudaStream own;
    private volatile @Nullable CudaStream stream;
    private long ready;

    CudaCommunicator(CudaWorld world, int rank) {
        this.world = world;
        this.rank = rank;
    }

    @Override
    public Backend backend() {
        return world.path() == CudaPath.FUSED ? Backend.FUSED : Backend.IPC;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int size() {
        return world.size();
    }

    @Override
    public CudaDevice device() {
        return world.device();
    }

    /**
     * The world of this rank.
     *
     * @return the world
     */
    public CudaWorld world() {
        return world;
    }

    @Override
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

    @Override
    void check(CudaCall call) {
        world.check(rank, call);
    }

    /**
     * Device memory that all ranks of the world reach where it lies: what calls are fastest on when ranks are in several processes.
     *
     * @param type the elements
     * @param count how many
     * @return a buffer, to be closed
     */
    public CudaBuffer allocate(DataType type, long count) {
        world.requireActive();
        Distant distant = world.distant();
        return distant == null
                ? world.device().allocate(type, count)
                : CudaBuffer.of(distant.allocate(CudaBuffer.bytes(type, count)), type, count);
    }

    @Override
    public CudaWork start(CudaCall call) {
        return start(call, null);
    }

    @Override
    CudaWork start(CudaCall call, Distant.@Nullable Memo memo) {
        world.check(rank, call);
        CudaStream on = stream();
        on.enter();
        Distant distant = world.distant();
        if (call.collective == null) {
            return distant != null
                    ? distant.exchange(List.of(call), on)
                    : world.messages().run(rank, call, on);
        }
        long number = numbers.incrementAndGet();
        if (distant != null) {
            return distant.start(call, on, number, memo);
        }
        Round round = world.rounds().post(number, new Round.Post(rank, call, on, isAlone() ? 0 : ready(on)));
        return finish(round, call, on);
    }

    @Override
    public CudaWork startAll(List<CudaCall> calls) {
        CudaGroup group = world.group();
        calls.forEach(call -> group.add(this, call));
        return group.run();
    }

    /** Waits until a round is launched, and for it in the stream. */
    CudaWork finish(Round round, CudaCall call, CudaStream on) {
        world.rounds().await(round, rank, call);
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

    /** Notes whose rank this is, so that it can be split; the communicator closes with this. */
    CudaCommunicator joinedBy(Communicator ranks) {
        host = ranks;
        return this;
    }

    @Override
    public Optional<DeviceCommunicator> split(int color, int key) {
        Communicator ranks = host;
        if (ranks == null) {
            throw new UnsupportedOperationException(
                    "ranks of CudaWorld.open cannot be split: they have no way to talk but"
                            + " through the device; use DeviceCommunicator.open");
        }
        return ranks.splitOptional(color, key).map(some -> Opening.join(some, world.device(), backend()));
    }

    @Override
    public void abort(String reason) {
        world.abort("by rank " + rank + ": " + reason);
    }

    /** Ends this rank's part. The world of {@link DeviceCommunicator#open} ends with the last of its ranks. */
    @Override
    public void close() {
        Communicator ranks = host;
        if (ranks != null) {
            host = null;
            closeStaging();
            ranks.close();
            world.leave();
        }
    }

    synchronized void closeMemory() {
        closeStaging();
        if (ready != 0) {
            world.events().give(ready);
            ready = 0;
        }
        if (own != null) {
            own.close();
        }
    }
}
