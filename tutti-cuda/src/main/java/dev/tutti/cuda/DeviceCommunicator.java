package dev.tutti.cuda;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A rank whose memory is on a CUDA device. Made of an ordinary {@link Communicator}, whose ranks it has; the calls are the same,
 * whoever carries them out.
 *
 * {@snippet :
 * try (Communicator comm = Communicator.fromEnvironment();
 *         DeviceCommunicator gpu = DeviceCommunicator.open(comm, Cuda.device(0));
 *         CudaBuffer x = Cuda.device(0).allocate(DataType.BFLOAT16, 1 << 20)) {
 *     gpu.allReduce(x, ReduceOp.AVG).await();
 *     gpu.allReduce(Buffer.of(losses), ReduceOp.SUM);        // host memory: staged, blocking
 * }
 * }
 *
 * <p><b>Device memory.</b> A call returns when it is in this rank's {@link #stream}; what comes after it there sees its result. The
 * host waits for the {@link CudaWork}.
 *
 * <p><b>Host memory</b>, a {@link dev.tutti.Buffer} of an array or a segment, goes through pinned memory to the device and back;
 * such calls block.
 *
 * <p>One thread per rank. All ranks make the same calls in the same order; whether a rank's memory is the host's or the device's is
 * its own affair.
 */
public abstract sealed class DeviceCommunicator extends StagedCollectives implements AutoCloseable
        permits CudaCommunicator, NcclCommunicator {
    DeviceCommunicator() {}

    /**
     * Opens a communicator of the same ranks, with the backend that suits where they are. All ranks call it together.
     *
     * @param ranks who takes part; stays open, and must until this is closed
     * @param device where this rank's memory is
     * @return this rank's part, to be closed
     */
    public static DeviceCommunicator open(Communicator ranks, CudaDevice device) {
        return open(ranks, device, Backend.AUTO);
    }

    /**
     * Opens a communicator of the same ranks. All ranks call it together, with the same backend.
     *
     * @param ranks who takes part; stays open, and must until this is closed
     * @param device where this rank's memory is
     * @param backend who carries out the calls
     * @return this rank's part, to be closed
     * @throws IllegalArgumentException on all ranks, if the backend cannot join ranks that are where these are
     */
    public static DeviceCommunicator open(Communicator ranks, CudaDevice device, Backend backend) {
        return Opening.open(
                ranks, Objects.requireNonNull(device, "device"), Objects.requireNonNull(backend, "backend"));
    }

    /**
     * Who carries out the calls.
     *
     * @return never {@link Backend#AUTO}
     */
    public abstract Backend backend();

    /**
     * Who this is.
     *
     * @return from 0
     */
    public abstract int rank();

    /**
     * How many ranks there are.
     *
     * @return at least 1
     */
    public abstract int size();

    /**
     * Where this rank's memory is.
     *
     * @return the device
     */
    @Override
    public abstract CudaDevice device();

    /**
     * The stream that calls go into.
     *
     * @return this rank's own unless it was told to use another
     */
    @Override
    public abstract CudaStream stream();

    /**
     * Makes a call.
     *
     * @param call this rank's part
     * @return what to wait for
     */
    @Override
    public abstract CudaWork start(CudaCall call);

    /**
     * Makes calls that run together: none waits for another of the same list.
     *
     * @param calls this rank's parts
     * @return what to wait for: the end of all
     */
    public abstract CudaWork startAll(List<CudaCall> calls);

    /**
     * Divides the ranks: those that give the same colour form a new communicator, in the order of their keys, ties by rank. All
     * ranks call it together.
     *
     * @param color 0 or more, or {@link Communicator#NO_COLOR}
     * @param key where this rank wants to stand
     * @return the communicator of this rank's colour, to be closed; empty for {@link Communicator#NO_COLOR}
     */
    public abstract Optional<? extends DeviceCommunicator> split(int color, int key);

    /**
     * Ends every operation, on all ranks; from now on every call throws.
     *
     * @param reason what the others will read
     */
    public abstract void abort(String reason);

    @Override
    public abstract void close();

    /** As {@link #start(CudaCall)}, with what is remembered of earlier times, if all ranks do. */
    CudaWork start(CudaCall call, Distant.@Nullable Memo memo) {
        return start(call);
    }

    /** Checks a call as {@link #start} would. */
    abstract void check(CudaCall call);

    /**
     * Resolves a call once, to be run many times on the same buffers. Ranks in several processes tell each other where their memory
     * is only when they first run it; then either all ranks run prepared calls or none does.
     *
     * @param call this rank's part
     * @return the call, ready
     */
    public final CudaPrepared prepare(CudaCall call) {
        check(call);
        return new CudaPrepared(this, call);
    }

    /**
     * Reduces in place on all ranks.
     *
     * @param buffer this rank's elements, then the result
     * @param op how to reduce
     * @return what to wait for
     */
    public final CudaWork allReduce(CudaBuffer buffer, ReduceOp op) {
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
    public final CudaWork allReduce(CudaBuffer in, CudaBuffer out, ReduceOp op) {
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
    public final CudaWork reduce(CudaBuffer in, @Nullable CudaBuffer out, ReduceOp op, int root) {
        return start(CudaCall.reduce(in, out, op, root));
    }

    /**
     * Gives everybody the root's elements.
     *
     * @param buffer the root's elements, and where the others get them
     * @param root who has them
     * @return what to wait for
     */
    public final CudaWork broadcast(CudaBuffer buffer, int root) {
        return start(CudaCall.broadcast(buffer, root));
    }

    /**
     * Gives everybody everybody's elements.
     *
     * @param in this rank's elements
     * @param out one block per rank
     * @return what to wait for
     */
    public final CudaWork allGather(CudaBuffer in, CudaBuffer out) {
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
    public final CudaWork reduceScatter(CudaBuffer in, CudaBuffer out, ReduceOp op) {
        return start(CudaCall.reduceScatter(in, out, op));
    }

    /**
     * Gives each rank its block of every rank.
     *
     * @param in one block per rank
     * @param out one block per rank
     * @return what to wait for
     */
    public final CudaWork allToAll(CudaBuffer in, CudaBuffer out) {
        return start(CudaCall.allToAll(in, out));
    }

    /**
     * Sends elements.
     *
     * @param buffer the elements
     * @param to who gets them
     * @return what to wait for
     */
    public final CudaWork send(CudaBuffer buffer, int to) {
        return start(CudaCall.send(buffer, to));
    }

    /**
     * Receives elements.
     *
     * @param buffer where they go
     * @param from who sends them
     * @return what to wait for
     */
    public final CudaWork receive(CudaBuffer buffer, int from) {
        return start(CudaCall.receive(buffer, from));
    }

    /**
     * Orders the ranks' streams: what comes after it in any comes after what was before it in every one.
     *
     * @return what to wait for
     */
    public final CudaWork barrier() {
        return start(CudaCall.barrier());
    }

    @Override
    public String toString() {
        return "rank " + rank() + " of " + size() + " on " + device() + " through " + backend();
    }
}
