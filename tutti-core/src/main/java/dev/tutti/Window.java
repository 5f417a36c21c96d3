package dev.tutti;

import dev.tutti.exec.Endpoint;
import dev.tutti.exec.Patience;
import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import dev.tutti.spi.Allocation;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Registered memory of all ranks of a communicator that each of them reads and writes without the others' help. Made and closed by
 * all ranks together; in between nobody waits for anybody but in {@link #await}.
 *
 * {@snippet :
 * try (Buffer inbox = comm.allocate(DataType.FLOAT32, 1000);
 *         Window window = comm.window(inbox)) {
 *     window.put(halo, right, 0);          // into the right neighbour's inbox, from element 0 on
 *     window.signal(right);                // "it is there"
 *     window.await(left);                  // the left neighbour's is here
 *     use(inbox);
 * }
 * }
 *
 * <p><b>Memory order.</b> What a thread has put (or written into its own window memory) before {@link #signal} is visible to
 * whoever returns from the {@link #await} that takes this signal, and what that one does afterwards does not come before:
 * {@code signal} is a release, {@code await} the acquire that pairs with it. Signals of one rank to another are counted, never lost or
 * merged: the k-th {@code await} takes the k-th signal. That holds for one pair of ranks at a time; a third rank learns of a put
 * only through a signal that was sent after the putting rank's signal was awaited. Without a signal nothing is ordered: a put
 * may be seen late, in any order, and in parts; single elements of up to 8 bytes that are aligned do not tear. {@link #get} sees at
 * least what was signalled to this rank before. Puts of two ranks to the same place, or a put and a get or a use of the
 * same place, without signals between them are a race whose result is undefined. Local memory passed to {@code put} may be
 * changed as soon as it returns.
 *
 * <p><b>Failure.</b> When the communicator is aborted every method throws the first cause; nothing is written afterwards.
 *
 * <p>Calls of several threads of a rank are safe. A put and its signal must be ordered by the caller.
 */
public final class Window implements AutoCloseable {
    /** Between pieces an abort is looked at; and no copy is so long that it holds up a safepoint. */
    static final long PIECE_BYTES = 128 << 10;

    /** Distance of the counters of two peers: a pair of cache lines. */
    private static final int LINE = 128;

    private final Communicator communicator;
    private final Endpoint endpoint;
    private final Buffer buffer;
    private final Allocation counters;
    private final long timeoutNanos;
    /** By rank: address of its memory, elements there, and address of the counter of this rank's signals there. */
    private final long[] memories;

    private final long[] counts;
    private final long[] outbound;
    private final long[] sent;
    private final long[] expected;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Copies that have begun and not ended. */
    private final AtomicInteger copying = new AtomicInteger();

    private Window(Communicator communicator, Buffer buffer, Allocation counters, long[] all) {
        this.communicator = communicator;
        this.endpoint = communicator.member.endpoint();
        this.buffer = buffer;
        this.counters = counters;
        this.timeoutNanos = communicator.timeoutNanos();
        int size = communicator.size();
        this.memories = new long[size];
        this.counts = new long[size];
        this.outbound = new long[size];
        this.sent = new long[size];
        this.expected = new long[size];
        for (int peer = 0; peer < size; peer++) {
            memories[peer] = endpoint.fabric().address(peer, all[FACTS * peer]);
            counts[peer] = all[FACTS * peer + 1];
            outbound[peer] = endpoint.fabric().address(peer, all[FACTS * peer + 2]) + (long) LINE * communicator.rank();
        }
    }

    /** What ranks tell each other: where the memory is, its elements, where the counters are, the type. */
    private static final int FACTS = 4;

    static Window create(Communicator communicator, Buffer buffer) {
        Objects.requireNonNull(buffer, "buffer");
        Member member = communicator.member;
        int worldRank = member.worldRank(member.rank());
        if (!buffer.isRegistered(communicator.world.transport(), worldRank)) {
            throw member.arguments().wrong("a window needs registered memory of this rank: take it from comm.allocate");
        }
        communicator.schedule.requireActive();
        buffer.openWindow();
        Allocation counters = null;
        try {
            counters = communicator.world.transport().allocate(worldRank, (long) LINE * communicator.size());
            long[] all = new long[FACTS * communicator.size()];
            communicator.allGather(
                    new long[] {
                        member.endpoint().fabric().location(buffer.segment().address(), buffer.bytes()),
                        buffer.count(),
                        member.endpoint()
                                .fabric()
                                .location(counters.memory().address(), (long) LINE * communicator.size()),
                        buffer.type().ordinal()
                    },
                    all);
            requireOneType(communicator, all);
            return new Window(communicator, buffer, counters, all);
        } catch (Throwable failed) {
            // Some peer may have all that it needs to reach this memory: it stays, unused.
            if (counters != null) {
                buffer.quarantine();
            }
            buffer.closeWindow();
            throw failed;
        }
    }

    private static void requireOneType(Communicator communicator, long[] all) {
        for (int peer = 0; peer < communicator.size(); peer++) {
            if (all[FACTS * peer + 3] != all[3]) {
                throw communicator.mismatch(
                        "ranks disagree at a window on '" + communicator.name() + "': rank 0 has "
                                + DataType.values()[(int) all[3]] + ", rank " + peer + " has "
                                + DataType.values()[(int) all[FACTS * peer + 3]]
                                + "; all ranks must pass the same type",
                        "a window",
                        peer);
            }
        }
    }

    /**
     * This rank's memory, which all others reach.
     *
     * @return the buffer that the window was made of
     */
    public Buffer buffer() {
        return buffer;
    }

    /**
     * How many elements a rank has in this window.
     *
     * @param rank whose
     * @return the count of the buffer that it passed
     */
    public long count(int rank) {
        communicator.member.arguments().requireRank(rank, "rank");
        return counts[rank];
    }

    /**
     * Writes elements into a rank's memory. On return the source may be changed; when the target sees them is for {@link #signal} to
     * say.
     *
     * {@snippet :
     * window.put(mine, 3, 100);
     * }
     *
     * @param source what to write: memory of any kind
     * @param rank whose memory, this rank's own included
     * @param offset first element there
     */
    public void put(Buffer source, int rank, long offset) {
        WindowWork.run(newWork(true, source, rank, offset, false));
    }

    /**
     * Starts {@link #put}: the process's worker copies.
     *
     * {@snippet :
     * Work written = window.putAsync(mine, 3, 100);
     * }
     *
     * @param source what to write; not to be changed before the end
     * @param rank whose memory
     * @param offset first element there
     * @return what to wait for, before a signal that tells of it
     */
    public Work putAsync(Buffer source, int rank, long offset) {
        return WindowWork.start(newWork(true, source, rank, offset, true));
    }

    /**
     * Reads elements of a rank's memory.
     *
     * {@snippet :
     * window.get(theirs, 3, 100);
     * }
     *
     * @param destination where they go: memory of any kind
     * @param rank whose memory, this rank's own included
     * @param offset first element there
     */
    public void get(Buffer destination, int rank, long offset) {
        WindowWork.run(newWork(false, destination, rank, offset, false));
    }

    /**
     * Starts {@link #get}: the process's worker copies.
     *
     * {@snippet :
     * Work read = window.getAsync(theirs, 3, 100);
     * }
     *
     * @param destination where the elements go
     * @param rank whose memory
     * @param offset first element there
     * @return what to wait for
     */
    public Work getAsync(Buffer destination, int rank, long offset) {
        return WindowWork.start(newWork(false, destination, rank, offset, true));
    }

    private WindowWork newWork(boolean put, Buffer local, int rank, long offset, boolean background) {
        requireOpen();
        Objects.requireNonNull(local, put ? "source" : "destination");
        communicator.member.arguments().requireRank(rank, "rank");
        if (local.type() != buffer.type()) {
            throw communicator
                    .member
                    .arguments()
                    .wrong("the window holds " + buffer.type() + ", the other memory " + local.type());
        }
        if (offset < 0 || local.count() > counts[rank] - offset) {
            throw communicator
                    .member
                    .arguments()
                    .wrong((put ? "put" : "get") + " of " + local.count() + " elements from " + offset
                            + " on does not fit the " + counts[rank] + " elements of rank " + rank);
        }
        communicator.member.arguments().check(local, !put, background);
        Operand operand = new Operand();
        local.describe(operand);
        return new WindowWork(
                this,
                put,
                local,
                operand,
                memories[rank] + offset * local.type().bytes());
    }

    /** Notes a copy that begins; {@link #close} waits for its end. */
    void begin() {
        copying.incrementAndGet();
        if (closed.get()) {
            copying.decrementAndGet();
            requireOpen();
        }
    }

    void end() {
        copying.decrementAndGet();
    }

    Communicator communicator() {
        return communicator;
    }

    /**
     * Tells a rank that everything that this thread has put before is there: adds one to the count of this rank's signals, for
     * its {@link #await}.
     *
     * {@snippet :
     * window.signal(right);
     * }
     *
     * @param rank whom
     */
    public void signal(int rank) {
        requireOpen();
        communicator.member.arguments().requireRank(rank, "rank");
        synchronized (sent) {
            // Pairs with the acquire in tryAwait.
            Memory.putLongRelease(outbound[rank], ++sent[rank]);
        }
        endpoint.board().bell().ring(rank);
    }

    /**
     * Waits for one more signal of a rank, at most as long as any call of the communicator may take.
     *
     * {@snippet :
     * window.await(left);
     * }
     *
     * @param rank whose
     * @throws CollectiveTimeoutException if it does not come; the communicator is then aborted
     * @throws PeerFailedException if that rank has failed or closed the communicator
     */
    public void await(int rank) {
        requireOpen();
        communicator.member.arguments().requireRank(rank, "rank");
        long ticket;
        synchronized (expected) {
            ticket = ++expected[rank];
        }
        long counter = inbound(rank);
        Patience patience = null;
        while (Memory.getLongAcquire(counter) < ticket) {
            if (patience == null) {
                patience = new Patience(
                        endpoint, rank, () -> "await of signal " + ticket + " of rank " + rank, timeoutNanos);
            }
            patience.pause();
        }
    }

    /**
     * Takes a signal of a rank if there is one that nobody has awaited; does not wait.
     *
     * {@snippet :
     * while (!window.tryAwait(left)) {
     *     computeSomethingElse();
     * }
     * }
     *
     * @param rank whose
     * @return whether there was one
     */
    public boolean tryAwait(int rank) {
        requireOpen();
        communicator.member.arguments().requireRank(rank, "rank");
        synchronized (expected) {
            if (Memory.getLongAcquire(inbound(rank)) <= expected[rank]) {
                return false;
            }
            expected[rank]++;
            return true;
        }
    }

    /**
     * Returns when everything that this thread has put so far, to any rank, is in that rank's memory. Where ranks share memory it is
     * a fence. It tells nobody: only {@link #signal} does.
     */
    public void flush() {
        requireOpen();
        VarHandle.fullFence();
    }

    private long inbound(int rank) {
        return counters.memory().address() + (long) LINE * rank;
    }

    private void requireOpen() {
        if (closed.get()) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "the window of rank " + communicator.rank() + " on '" + communicator.name()
                            + "' has been closed: open another on all ranks",
                    null);
        }
        communicator.schedule.requireActive();
    }

    /**
     * Ends the window, on all ranks together: returns when nobody reaches into this rank's memory through it any more, for which
     * it waits as long as any call of the communicator may. The buffer stays. After an abort it returns at once, and memory that
     * a peer could still reach is never used for anything else. Closing twice is fine.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        while (copying.get() != 0) {
            LockSupport.parkNanos(this, 50_000);
        }
        try {
            communicator.barrier();
            counters.free();
        } catch (TuttiException aborted) {
            buffer.quarantine();
        } finally {
            buffer.closeWindow();
        }
    }

    @Override
    public String toString() {
        return "window of " + buffer + " on '" + communicator.name() + "'";
    }
}
