package dev.tutti.exec;

import dev.tutti.channel.Board;
import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import org.jspecify.annotations.Nullable;

/**
 * A small call that has been made before, in one piece, mostly of two ranks: what {@link Execution} and {@link Templates} do for it, with
 * nothing left to look up. Code that serves all kinds of calls is compiled in parts that call each other, which takes as long as a
 * third of such a call; each kind of exchange is small enough to be compiled whole.
 */
abstract sealed class Exchange permits Meeting, TwoWay, PacketExchange, DirectExchange, Handover {
    final Shape shape;
    final Program program;
    final Endpoint endpoint;
    final Board board;
    final Stall stall;
    final int peer;
    private final boolean hears;
    private final int digest;
    private final long sleeping;
    /** How often to look before the clock is read. */
    final int turns;

    Exchange(Shape shape, Program program, Endpoint endpoint) {
        this.shape = shape;
        this.program = program;
        this.endpoint = endpoint;
        this.board = endpoint.board;
        this.stall = endpoint.stall;
        this.peer = (endpoint.rank + 1) % endpoint.size;
        this.hears = program.hearsFromAll;
        this.digest = shape.digest;
        this.sleeping = endpoint.bell.sleeping(peer);
        this.turns = endpoint.pace.turns();
    }

    /** The exchange that a program is; null if it is something else. */
    static @Nullable Exchange of(Shape shape, Program program, Endpoint endpoint) {
        boolean pair = endpoint.size == 2 && !endpoint.fabric.mustFenceToSignal();
        if (!program.hearsFromAll) {
            boolean hands = program.template == Templates.POSTS || (pair && program.template == Templates.COPIES);
            return hands ? Handover.of(shape, program, endpoint) : null;
        }
        if (program.reachesPeers) {
            return pair ? DirectExchange.of(shape, program, endpoint) : null;
        }
        return !pair
                ? null
                : switch (program.template) {
                    case Templates.BARRIER -> new Meeting(shape, program, endpoint);
                    case Templates.SLOTS, Templates.COPIES -> SlotExchange.of(shape, program, endpoint);
                    case Templates.PACKETS, Templates.MOVES -> PacketExchange.of(shape, program, endpoint);
                    case Templates.POSTS -> PostExchange.of(shape, program, endpoint);
                    default -> null;
                };
    }

    /** Whether this is the time for it: whoever must have been heard was in the last launch, and flags do not come round. */
    final boolean isReady() {
        return (endpoint.heardFromAll == endpoint.launch || !hears) && (int) endpoint.launch != -1;
    }

    /** Says where the memory of the calls that follow lies. */
    abstract void bind(long input, long output);

    /** Makes the call, which is operation {@code number}. */
    abstract void run(long number);

    /** What the ranks must agree on in the next launch. */
    final int nextHistory() {
        return Signature.chain(endpoint.history, digest);
    }

    /** Where a launch's signature stands beside a counter. */
    static long signature(long launch) {
        return RegionLayout.SIGNATURE + ((launch & 1) << 3);
    }

    static long signed(long launch, int history) {
        return launch << 32 | (history & 0xFFFFFFFFL);
    }

    /** After the peer has been sent everything: wakes it if it sleeps, and keeps the books while the signal is on its way. */
    final void sent(long number, long launch, int history) {
        wake();
        endpoint.history = history;
        endpoint.signature = history;
        endpoint.launch = launch;
        stall.begin(number);
    }

    /** After a signal: wakes the peer if it sleeps. */
    final void wake() {
        if (Memory.getIntOpaque(sleeping) != 0) {
            endpoint.bell.ring(peer);
        }
    }

    /**
     * Waits for the peer's signal. Most waits are over in a few turns, so these have a loop of their own, which is compiled into the
     * exchange, whatever else a wait may come to.
     */
    final void await(long inbound, int wanted) {
        for (int turn = 0; turn < turns; turn++) {
            if ((int) Memory.getLongAcquire(inbound) - wanted >= 0) {
                return;
            }
            Thread.onSpinWait();
        }
        awaitPatiently(inbound, wanted);
    }

    private void awaitPatiently(long inbound, int wanted) {
        for (int turn = turns; (int) Memory.getLongAcquire(inbound) - wanted < 0; turn++) {
            pause(turn);
        }
    }

    /** Waits a little for the peer, when {@link #turns} are over. */
    final void pause(int turn) {
        stall.pause(turn, endpoint.pace.isShared() && endpoint.neighbours.isHere(peer));
    }

    /** The launch is over. */
    final void finish(long launch) {
        endpoint.heardFromAll = launch;
        board.publishFinished(launch);
    }
}
