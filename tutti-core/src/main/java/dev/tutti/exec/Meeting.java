package dev.tutti.exec;

import dev.tutti.channel.Board;
import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import org.jspecify.annotations.Nullable;

/**
 * A barrier of two ranks right after another one, in one piece: what {@link Execution#run} and {@link Templates} do for it, with
 * nothing left to look up. Code that serves all kinds of calls is compiled in parts that call each other, which takes as long as half of
 * this exchange; this one is small enough to be compiled whole, from the caller to the signal.
 */
final class Meeting {
    private final Endpoint endpoint;
    private final Board board;
    private final Stall stall;
    private final int digest;
    private final long outbound;
    private final long inbound;
    private final long sleeping;
    private final int peer;
    private final int outlet;
    private final int inlet;

    private Meeting(int digest, long[] code, Endpoint endpoint) {
        int wait = Records.words(code[0]);
        this.endpoint = endpoint;
        this.board = endpoint.board;
        this.stall = endpoint.stall;
        this.digest = digest;
        this.outbound = code[1];
        this.outlet = (int) code[2];
        this.inbound = code[wait + 1];
        this.inlet = (int) code[wait + 2];
        this.peer = Signals.peer(code[2]);
        this.sleeping = endpoint.bell.sleeping(peer);
    }

    /** The barrier of two ranks that a program is; null if it is something else. */
    static @Nullable Meeting of(Program program, int digest, Endpoint endpoint) {
        boolean meets =
                program.template == Templates.BARRIER && endpoint.size == 2 && !endpoint.fabric.mustFenceToSignal();
        return meets ? new Meeting(digest, program.symbolic[0], endpoint) : null;
    }

    /** Whether the next launch may write without another look: the peer was heard in the last one, and flags do not come round. */
    boolean isReady() {
        return endpoint.heardFromAll == endpoint.launch && (int) endpoint.launch != -1;
    }

    /** Runs operation {@code number}. */
    void run(long number) {
        int history = Signature.chain(endpoint.history, digest);
        long launch = endpoint.launch + 1;
        long slot = RegionLayout.SIGNATURE + ((launch & 1) << 3);
        long signed = launch << 32 | (history & 0xFFFFFFFFL);
        int wanted = endpoint.expected[inlet] + 1;
        int count = endpoint.sent[outlet] + 1;
        board.publishOperation(number);
        Memory.putLong(outbound + slot, signed);
        Memory.putLongRelease(outbound, count);
        if (Memory.getIntOpaque(sleeping) != 0) {
            endpoint.bell.ring(peer);
        }
        // While the signal is on its way.
        endpoint.history = history;
        endpoint.signature = history;
        endpoint.launch = launch;
        endpoint.sent[outlet] = count;
        endpoint.expected[inlet] = wanted;
        stall.begin(number);
        if ((int) Memory.getLongAcquire(inbound) - wanted < 0) {
            await(wanted);
        }
        if (Memory.getLong(inbound + slot) != signed) {
            throw stall.mismatch();
        }
        endpoint.heardFromAll = launch;
        board.publishFinished(launch);
    }

    private void await(int wanted) {
        for (int turns = 0; (int) Memory.getLongAcquire(inbound) - wanted < 0; turns++) {
            if (!stall.look(turns)) {
                stall.pause(turns, endpoint.neighbours.isHere(peer));
            }
        }
    }
}
