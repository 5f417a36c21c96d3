package dev.tutti.exec;

import dev.tutti.channel.Board;
import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import dev.tutti.posix.Membarrier;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Where peers' inputs and outputs lie while a launch reaches into them.
 *
 * <pre>
 *   publish   where my input and output lie, into the line of my channel 0 at each peer     plain stores
 *   SIGNAL    on any channel, by the plan or by the meeting that the executor puts before    releases them
 *   WAIT      for the peer, its signature compared                                           acquires them
 *   ARRIVE    operands in the peer's memory become addresses
 *   ...
 *   SIGNAL, WAIT   the peer has done what it does here: the call may return
 * </pre>
 *
 * Beside them stands this rank's scalar, for whoever folds its input. Both are written again only in a later launch, which a rank enters after whoever reads them has left this one.
 */
final class PeerBuffers {
    private final Endpoint endpoint;
    private @Nullable Program program;
    private boolean reached;

    PeerBuffers(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * Tells peers, before the first signal of a launch, where this rank's memory for it lies, unless the communicator has been aborted.
     * Whoever gives up after an abort spreads it and then looks who is inside; whoever goes inside says so and then looks for an abort.
     * So one of the two sees the other.
     *
     * @param done how many bytes of its memory lie before the addresses
     * @param pairwise where blocks lie, if peers do not know; then each is told where what it gets from the input begins
     */
    void publish(
            Program current,
            Operand input,
            long inputAddress,
            Operand output,
            long outputAddress,
            long done,
            @Nullable Geometry pairwise) {
        program = current;
        goInside();
        long in = location(input, inputAddress, done);
        long out = location(output, outputAddress, done);
        for (int peer : current.told) {
            long start = pairwise == null || in == Fabric.NOWHERE ? 0 : pairwise.inputOffsetFor(peer);
            tell(endpoint.outbound(peer, 0), in + start, out);
        }
    }

    /** After this rank has said which operation it is in: the first half of {@link #publish}. */
    void goInside() {
        if (endpoint.fabric.mustFenceToSignal()) {
            VarHandle.fullFence();
        } else {
            // For the compiler; the processor is told by whoever gives up.
            VarHandle.releaseFence();
        }
        if (endpoint.board.isAborted()) {
            throw endpoint.stall.failure();
        }
        reached = true;
    }

    /** The second half of {@link #publish}, for one peer, in whose line of channel 0 it is written. */
    void tell(long line, long input, long output) {
        Memory.putLong(line + RegionLayout.LOCATION, input);
        Memory.putLong(line + RegionLayout.LOCATION + 8, output);
        Memory.putLong(line + RegionLayout.SCALAR, endpoint.aux);
    }

    /** A plan of a file is about to tell peers where this rank's memory lies. */
    void reach() {
        reached = true;
    }

    /** What to tell peers of where memory lies. */
    long location(Operand operand, long address, long done) {
        return operand.isPresent()
                ? endpoint.fabric.location(address, Math.max(0, operand.bytes() - done))
                : Fabric.NOWHERE;
    }

    /** What a rank multiplies its input with, if the call is a preMulSum. */
    long scalar(int rank) {
        return rank == endpoint.rank ? endpoint.aux : Memory.getLong(endpoint.inbound(rank, 0) + RegionLayout.SCALAR);
    }

    /** Binds what a lane reaches in peers' memory. Everybody whom it reaches has been waited for. */
    void arrive(int lane) {
        Program current = java.util.Objects.requireNonNull(program);
        long[] from = current.symbolic[lane];
        long[] to = current.bound((int) endpoint.launch & 1)[lane];
        int pc = 0;
        while (pc < from.length) {
            long header = from[pc];
            int next = pc + Records.words(header);
            if (Records.hasOperands(header)) {
                for (int i = pc + Records.OPERANDS; i < next; i++) {
                    if (isPeers(from[i], endpoint.rank)) {
                        to[i] = address(from[i]);
                    }
                }
            }
            pc = next;
        }
    }

    /** Whether an operand is a peer's input or output. */
    static boolean isPeers(long operand, int rank) {
        return Records.base(operand) <= Records.OUTPUT && Records.rank(operand) != rank;
    }

    /** What a peer has told of where its input lies, in this rank's line of channel 0. */
    static long toldInput(long line) {
        return Memory.getLong(line + RegionLayout.LOCATION);
    }

    static long toldOutput(long line) {
        return Memory.getLong(line + RegionLayout.LOCATION + 8);
    }

    /** Where an operand in a peer's memory is, by what that has told. */
    long address(long operand) {
        int peer = Records.rank(operand);
        boolean input = Records.base(operand) == Records.INPUT;
        long line = endpoint.inbound(peer, 0);
        long location = input ? toldInput(line) : toldOutput(line);
        if (location == Fabric.NOWHERE) {
            throw endpoint.stall.unreachable(peer, input ? "input" : "output");
        }
        return endpoint.fabric.address(peer, location) + Records.offset(operand);
    }

    /**
     * After a failure, when nothing of this rank runs any more: whether no peer touches its memory either. Such a peer is inside this
     * launch of this operation, and has neither finished it nor said that it has left.
     */
    boolean isWithdrawn(long operation) {
        Board board = endpoint.board;
        board.publishLeft();
        if (!reached) {
            return true;
        }
        board.spreadAbort();
        if (endpoint.fabric.mustFenceToSignal()) {
            VarHandle.fullFence();
        } else {
            Membarrier.everywhere();
        }
        for (int peer = 0; peer < endpoint.size; peer++) {
            if (peer != endpoint.rank
                    && board.position(peer) >= operation
                    && board.finished(peer) < endpoint.launch
                    && !board.hasLeft(peer)) {
                return false;
            }
        }
        reached = false;
        return true;
    }

    /** The launch is over, and nobody touches this rank's memory any more. */
    void finished() {
        reached = false;
    }
}
