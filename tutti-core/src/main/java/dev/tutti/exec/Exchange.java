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
abstract sealed class Exchange permits Meeting, Moving, DirectExchange {
    final Shape shape;
    final Program program;
    final Endpoint endpoint;
    final Board board;
    final Stall stall;
    final int peer;
    private final boolean hears;
    private final int digest;
    private final long sleeping;
    private final long abort;
    /** How often to look before the clock is read. */
    final int turns;

    private final long post;
    private final long awaitedPost;
    private final long outbound;
    private final long inbound;
    private final int outlet;
    private final int inlet;

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
        this.abort = board.abortAddress();
        this.turns = endpoint.pace.turns();
        this.post = endpoint.posts.first(endpoint.rank);
        this.awaitedPost = endpoint.posts.first(peer);
        long[] code = program.symbolic[0];
        int signal = Records.find(Records.SIGNAL, code);
        this.outbound = signal < 0 ? 0 : code[signal + 1];
        this.outlet = signal < 0 ? 0 : (int) code[signal + 2];
        int wait = Records.find(Records.WAIT, code);
        this.inbound = wait < 0 ? 0 : code[wait + 1];
        this.inlet = wait < 0 ? 0 : (int) code[wait + 2];
    }

    /** The exchange that a program is; null if it is something else. */
    static @Nullable Exchange of(Shape shape, Program program, Endpoint endpoint) {
        boolean pair = endpoint.size == 2 && !endpoint.fabric.mustFenceToSignal();
        boolean posted = program.template == Templates.POSTS && !program.hearsFromAll;
        if (!pair && !posted) {
            return null;
        }
        if (program.reachesPeers) {
            return DirectExchange.of(shape, program, endpoint);
        }
        Parts parts = Parts.of(program);
        if (parts == null || parts.isTwoWay() != program.hearsFromAll) {
            return null;
        }
        if (!parts.isTwoWay()) {
            boolean hands = program.template == Templates.COPIES || program.template == Templates.POSTS;
            return hands ? Handover.of(shape, program, endpoint, parts) : null;
        }
        return switch (program.template) {
            case Templates.SLOTS, Templates.COPIES -> new SlotExchange(shape, program, endpoint, parts);
            case Templates.POSTS -> posted(shape, program, endpoint, parts);
            default -> null;
        };
    }

    private static @Nullable Exchange posted(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        if (program.footprint == 0) {
            return new Meeting(shape, program, endpoint);
        }
        return endpoint.posts.fits(program) ? new PostExchange(shape, program, endpoint, parts) : null;
    }

    /** Whether this is the time for it: whoever must have been heard was in the last launch, and flags do not come round. */
    final boolean isReady() {
        return (endpoint.heardFromAll == endpoint.launch || !hears) && (int) endpoint.launch != -1;
    }

    /** Says where the memory of the calls that follow lies. */
    abstract void bind(long input, long output);

    /** Makes the call, which is operation {@code number}. */
    abstract void run(long number);

    /**
     * Makes sure that nobody has aborted, announces the operation and counts its launch.
     *
     * @return the launch's flag and what ranks must agree on
     */
    final long begin(long number) {
        check(number);
        return announce(number);
    }

    /** Has a stall tell of the operation, and throws if somebody has aborted. Before peers' memory is looked at. */
    private void check(long number) {
        stall.begin(number);
        if (Memory.getLongOpaque(abort) != 0) {
            throw stall.failure();
        }
    }

    /** {@link #begin} without the check, for those who {@link #show} their own post first: the peer waits for that. */
    final long announce(long number) {
        long launch = endpoint.launch + 1;
        int history = Signature.chain(endpoint.history, digest);
        endpoint.history = history;
        endpoint.signature = history;
        endpoint.launch = launch;
        board.publishOperation(number);
        return launch << 32 | (history & 0xFFFFFFFFL);
    }

    /** Says that what the peer reads in this launch is there; pairs with the acquire in {@link #await()}. */
    final void signal(long launch, long signed) {
        Memory.putLong(outbound + signature(launch), signed);
        signal();
    }

    final void signal() {
        Memory.putLongRelease(outbound, ++endpoint.sent[outlet]);
        wake();
    }

    /** Where a launch's signature stands beside a counter. */
    private static long signature(long launch) {
        return RegionLayout.SIGNATURE + ((launch & 1) << 3);
    }

    /** After the peer has been sent everything: wakes it if it sleeps. */
    final void wake() {
        if (Memory.getIntOpaque(sleeping) != 0) {
            endpoint.bell.ring(peer);
        }
    }

    /** Waits for the peer's first signal in a launch, and compares what it signs. */
    final void await(long launch, long signed) {
        await();
        requireSigned(launch, signed);
    }

    /** The same, with a first look. */
    final void await(FirstLook firstLook, long launch, long signed) {
        if (firstLook.reaches(endpoint.expected[inlet] + 1, inbound)) {
            endpoint.expected[inlet]++;
        } else {
            await();
        }
        requireSigned(launch, signed);
    }

    private void requireSigned(long launch, long signed) {
        if (Memory.getLong(inbound + signature(launch)) != signed) {
            throw stall.mismatch();
        }
    }

    /**
     * Waits for the peer's next signal. Most waits are over in a few turns, so these have a loop of their own, which is compiled into the
     * exchange, whatever else a wait may come to.
     */
    final void await() {
        int wanted = ++endpoint.expected[inlet];
        for (int turn = 0; turn < turns; turn++) {
            if ((int) Memory.getLongAcquire(inbound) - wanted >= 0) {
                return;
            }
            Thread.onSpinWait();
        }
        awaitPatiently(wanted);
    }

    private void awaitPatiently(int wanted) {
        for (int turn = turns; (int) Memory.getLongAcquire(inbound) - wanted < 0; turn++) {
            pause(turn);
        }
    }

    /**
     * Shows the post of a launch in which both ranks hear from each other, and takes back the lines of the next one, as far as so many bytes
     * go: the peer's core has them since it read them, and would have to be waited for when they are needed. Nobody reads them now: whoever
     * has heard of the peer's last launch knows that it is done with the one before.
     */
    final void show(long number, long launch, long signed, int bytes) {
        Posts.show(post + Posts.meetingOffset(launch), signed);
        check(number);
        wake();
        Posts.takeBack(post + Posts.meetingOffset(launch + 1), bytes);
    }

    /** Where the peer's post of such a launch lies. */
    final long awaitedPost(long launch) {
        return awaitedPost + Posts.meetingOffset(launch);
    }

    /** Waits for the peer's post at an address. */
    final void awaitPost(FirstLook firstLook, long address, long signed) {
        if (!firstLook.finds(signed, address)) {
            Thread.onSpinWait();
            awaitPost(address, signed);
        }
    }

    /** In two loops, as {@link #await()} does. */
    private void awaitPost(long address, long signed) {
        for (int turn = 0; turn < turns; turn++) {
            if (Memory.getLongAcquire(address) == signed) {
                return;
            }
            Thread.onSpinWait();
        }
        awaitPostPatiently(address, signed);
    }

    private void awaitPostPatiently(long address, long signed) {
        for (int turn = turns; ; turn++) {
            long word = Memory.getLongAcquire(address);
            if (word == signed) {
                return;
            }
            if (word >>> 32 == signed >>> 32) {
                throw stall.mismatch();
            }
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
