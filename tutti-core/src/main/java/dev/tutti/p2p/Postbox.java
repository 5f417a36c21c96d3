package dev.tutti.p2p;

import dev.tutti.AbortedException;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.TuttiException;
import dev.tutti.channel.Board;
import dev.tutti.exec.Endpoint;
import dev.tutti.exec.Execution;
import dev.tutti.exec.Pace;
import dev.tutti.exec.Progress;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives of one rank of one communicator. Ranks share nothing but {@linkplain RingDescriptor rings of bytes}, one
 * for each direction between two ranks that talk; {@link Link} says what goes through them and {@link Matching} who gets it.
 *
 * <pre>
 *   post ──► send ─────────────────► Link ══ ring ══► the peer's Link ──► Matching ──► its receive
 *     │                               ▲
 *     └────► receive ──► Matching ────┘ takes frames while anything of this rank is pending
 * </pre>
 *
 * <p><b>Progress.</b> A message that cannot end at once is moved by {@link #move}: by the thread that waits for it, and, if it
 * was started in the background, by the process's worker. One thread at a time is inside; the others do not wait for it. While
 * anything is pending, everything that comes is taken out of the rings, so a message behind others that nobody has asked for is
 * reached; what was not asked for waits in the heap, within bounds ({@link RingDescriptor#EAGER_WINDOW}). While nothing is
 * pending, nothing is taken, and senders fill the ring and then wait.
 *
 * <p><b>Fairness.</b> Receives from any source take one message of each source in turn.
 *
 * <p><b>Failure.</b> After an abort, by whomever, every pending message ends with its cause. No peer ever touches this rank's
 * user memory, so it may be freed as soon as the message has ended.
 */
public final class Postbox implements Progress.Moving {
    private static final int FRAMES_AT_ONCE = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final Endpoint endpoint;
    private final Board board;
    private final String name;
    private final int rank;
    private Matching matching = new Matching();
    private final Copies copies = new Copies();
    private final Pending pending = new Pending();
    private final Watch watch;
    private final @Nullable Link[] byPeer;
    /** The links that exist, in the order in which they came. */
    private final @Nullable Link[] links;

    private int linkCount;
    private @Nullable Loopback loopback;
    private final MessageQueue ended = new MessageQueue();

    private long posted;
    private int backgroundPending;
    private int turn;
    private @Nullable TuttiException over;
    /** This rank has closed: from now on its memory may go. */
    private boolean left;

    /** What {@link #move} has to do, and how much of it is the worker's. Written under the lock, when they change. */
    private volatile int movable;

    private volatile int active;

    public Postbox(Endpoint endpoint, String name, long warnNanos, long timeoutNanos) {
        this.endpoint = endpoint;
        this.board = endpoint.board();
        this.name = name;
        this.rank = endpoint.rank();
        this.byPeer = new @Nullable Link[endpoint.size()];
        this.links = new @Nullable Link[endpoint.size()];
        this.watch = new Watch(this, board, pending, name, rank, endpoint.size(), warnNanos, timeoutNanos);
    }

    /**
     * Starts a message. Never throws: what goes wrong is what the message ends with.
     *
     * @param background whether the worker has to move it; else the caller waits for its end at once
     */
    public void post(Message message, boolean background) {
        lock.lock();
        try {
            if (over != null) {
                message.failure = over;
                ended.add(message);
                return;
            }
            message.order = posted++;
            message.background = background;
            pending.add(message);
            backgroundPending += background ? 1 : 0;
            if (message.send) {
                send(message);
            } else {
                receive(message);
            }
        } catch (Throwable thrown) {
            breakDown(thrown);
        } finally {
            Reference.reachabilityFence(endpoint);
            release();
        }
    }

    private void send(Message message) {
        if (message.peer() == rank) {
            loopback().send(message);
        } else {
            link(message.peer()).send(message);
        }
    }

    private void receive(Message message) {
        Link source = message.peer() == Message.ANY ? null : link(message.peer());
        Arrival arrival = matching.takeArrival(message, source);
        if (arrival != null) {
            deliver(arrival, message);
            return;
        }
        matching.post(message, source);
        if (source != null) {
            source.openIn();
            source.receive(FRAMES_AT_ONCE);
        } else {
            step();
        }
    }

    private void deliver(Arrival arrival, Message receive) {
        Link link = arrival.link;
        if (arrival.local != null) {
            loopback().begin(arrival.local, receive);
        } else if (arrival.payload == null) {
            link.answer(receive, arrival.tag, arrival.type, arrival.total, arrival.slot);
        } else {
            if (link.peer == rank) {
                loopback().handedOver(arrival.total);
            } else {
                link.handedOver(arrival.total);
            }
            Throwable misfit = match(receive, link.peer, arrival.tag, arrival.type, arrival.total);
            end(receive, misfit != null ? misfit : tryStore(receive, arrival.payload));
        }
    }

    @Override
    public boolean isActive() {
        return active != 0;
    }

    @Override
    public int move() {
        // Whoever wants to post goes first: a thread that moves in a loop would keep it out.
        if (movable == 0 || lock.hasQueuedThreads() || !lock.tryLock()) {
            return Execution.BLOCKED;
        }
        boolean moved = false;
        try {
            moved = step();
            if (moved) {
                watch.progressed();
            } else {
                moved = watch.stalled();
            }
        } catch (Throwable thrown) {
            breakDown(thrown);
        } finally {
            Reference.reachabilityFence(endpoint);
            release();
        }
        return moved ? Execution.MOVED : Execution.BLOCKED;
    }

    @Override
    public long announceSleep() {
        // Under the lock, for nobody can let go of the memory meanwhile.
        if (lock.hasQueuedThreads() || !lock.tryLock()) {
            return Progress.NOT_NOW;
        }
        try {
            return over != null ? Progress.NOT_NOW : board.bell().announceSleep() & 0xFFFFFFFFL;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void sleep(int shown, long nanos) {
        board.bell().sleep(shown, nanos);
    }

    @Override
    public long bell() {
        return board.bell().address();
    }

    @Override
    public Pace pace() {
        return endpoint.pace();
    }

    private boolean step() {
        if (over != null) {
            return false;
        }
        boolean any = matching.isWaitingForAny();
        boolean moved = any && discover();
        int frames = any ? 1 : FRAMES_AT_ONCE;
        int first = turn;
        for (int i = 0; i < linkCount; i++) {
            if (board.isAborted()) {
                break;
            }
            Link link = Objects.requireNonNull(links[(first + i) % linkCount]);
            moved |= link.receive(frames);
            moved |= link.transmit();
        }
        if (loopback != null) {
            moved |= loopback.move();
        }
        if (board.isAborted()) {
            endAll(endpoint.stall().failure());
            return true;
        }
        return moved;
    }

    /** Gives the lock back, then tells the worker and the waiters: they may post again. */
    private void release() {
        boolean enlist = backgroundPending > 0 && active == 0;
        if (backgroundPending != active) {
            active = backgroundPending;
        }
        if (pending.count() != movable) {
            movable = pending.count();
        }
        Message done = ended.takeAll();
        for (Message message = done; message != null; message = message.next) {
            message.end(message.failure);
        }
        if (done != null && !left) {
            board.bell().ringOwn();
        }
        lock.unlock();
        if (enlist) {
            Progress.add(this);
        }
        while (done != null) {
            Message following = done.next;
            done.next = null;
            done.previous = null;
            done.announce();
            done = following;
        }
    }

    /** No more messages. Those that are pending fail on this rank; peers that need them find it closed. */
    public void close() {
        lock.lock();
        try {
            if (over == null) {
                endAll(new AbortedException(
                        "'" + name + "' was closed on rank " + rank + " while a message was pending", null));
            }
        } finally {
            release();
        }
        lock.lock();
        try {
            left = true;
        } finally {
            lock.unlock();
        }
    }

    /** Somebody no longer wants to wait for a message: ends everything, on all ranks. */
    void abandon(Message message, String reason, boolean timedOut) {
        board.abort(
                timedOut ? Board.Reason.TIMEOUT : Board.Reason.ABORTED,
                "rank " + rank + " gave up a " + message.what() + " on '" + name + "': " + reason,
                null,
                message.what(),
                !timedOut
                        ? Board.only(rank)
                        : message.peer() == Message.ANY ? Board.only() : Board.only(message.peer()));
    }

    private void breakDown(Throwable thrown) {
        board.abort(
                Board.Reason.ABORTED,
                "messages of rank " + rank + " on '" + name + "' broke: " + thrown,
                thrown,
                null,
                Board.only(rank));
        endAll(endpoint.stall().failure());
    }

    private void endAll(TuttiException cause) {
        over = cause;
        Message message = pending.first();
        while (message != null) {
            Message following = message.nextPending;
            message.previous = null;
            message.next = null;
            end(message, cause);
            message = following;
        }
        // Queues that are broken now would keep users' buffers alive.
        matching = new Matching();
        loopback = null;
        linkCount = 0;
        Arrays.fill(links, null);
        Arrays.fill(byPeer, null);
    }

    Matching matching() {
        return matching;
    }

    Copies copies() {
        return copies;
    }

    boolean isWaiting() {
        return !pending.isEmpty();
    }

    void nextTurn(int index) {
        turn = index % linkCount;
    }

    /** Ends a message that is in no queue; its waiters learn of it when the lock is free. */
    void end(Message message, @Nullable Throwable failure) {
        message.stage = Message.Stage.ENDED;
        message.failure = failure;
        pending.remove(message);
        backgroundPending -= message.background ? 1 : 0;
        ended.add(message);
    }

    /** Gives a receive its message; returns what is wrong with it, or null. */
    @Nullable
    Throwable match(Message receive, int source, int tag, DataType type, long total) {
        receive.matched(source, tag, total);
        return type == receive.type && total <= receive.bytes ? null : misfit(receive, source, tag, type, total);
    }

    private @Nullable TuttiException misfit(Message receive, int source, int tag, DataType type, long total) {
        boolean mistaken = !receive.takes(type);
        String problem;
        if (mistaken) {
            problem =
                    "was received as " + receive.type + "; both must name one type, or one of them bytes (int8, uint8)";
        } else if (total > receive.bytes) {
            problem = "is longer than the " + receive.bytes + " bytes of the buffer that was posted for it";
        } else if (total % receive.type.bytes() != 0) {
            problem = "is no whole number of elements of " + receive.type.bytes() + " bytes";
        } else {
            return null;
        }
        String message = "message of " + total + " bytes of " + type + " with tag " + tag + " from rank " + source
                + " to rank " + rank + " on '" + name + "' " + problem + "; it was dropped";
        TuttiException.Facts facts = new TuttiException.Facts(name, receive.what(), List.of(source));
        return mistaken
                ? new MismatchException(message, null, facts)
                : new TuttiException(TuttiException.Category.USAGE, message, null, facts);
    }

    @Nullable
    Throwable tryStore(Message receive, long offset, long from, long bytes) {
        try {
            copies.store(receive, offset, from, bytes);
            return null;
        } catch (RuntimeException thrown) {
            return thrown;
        }
    }

    private @Nullable Throwable tryStore(Message receive, byte[] payload) {
        try {
            copies.store(receive, payload);
            return null;
        } catch (RuntimeException thrown) {
            return thrown;
        }
    }

    @Nullable
    Throwable tryLoad(Message send, long offset, long to, long bytes) {
        try {
            copies.load(send, offset, to, bytes);
            return null;
        } catch (RuntimeException thrown) {
            return thrown;
        }
    }

    /** Finds rings that peers have made meanwhile. */
    boolean discover() {
        boolean found = false;
        for (int peer = 0; peer < byPeer.length; peer++) {
            Link link = byPeer[peer];
            if (peer == rank || (link != null && link.isOpenIn())) {
                continue;
            }
            if (endpoint.fabric().ringIfMade(peer, rank) != 0) {
                link(peer).openIn();
                found = true;
            }
        }
        return found;
    }

    /** Takes what a rank, or any, that has closed left in its ring; false if there was nothing. */
    boolean receiveLast(int peer) {
        discover();
        boolean received = false;
        for (int i = 0; i < linkCount; i++) {
            Link link = Objects.requireNonNull(links[i]);
            if (peer == Message.ANY || link.peer == peer) {
                received |= link.receive(FRAMES_AT_ONCE);
            }
        }
        return received;
    }

    /** For texts: a message that came, but not what the receive waits for. */
    String whatCameInstead(Message receive) {
        Link link = receive.peer() == Message.ANY ? null : byPeer[receive.peer()];
        Arrival other = link == null ? matching.firstArrival() : link.firstArrival;
        return other == null
                ? ""
                : " (tag " + other.tag + " with " + other.total + " bytes from rank " + other.link.peer
                        + " has come, for which no receive was posted)";
    }

    private Link link(int peer) {
        Link link = byPeer[peer];
        if (link == null) {
            link = new Link(this, endpoint.fabric(), board.bell(), rank, peer, linkCount);
            byPeer[peer] = link;
            links[linkCount++] = link;
        }
        return link;
    }

    private Loopback loopback() {
        Loopback loop = loopback;
        if (loop == null) {
            loop = new Loopback(this, link(rank));
            loopback = loop;
        }
        return loop;
    }
}
