package dev.tutti;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Operations on any communicators of one world that run together. They are collected first and started at the end, all of them
 * before any is waited for, so sends and receives in a circle and collectives in any order do not wait for each other.
 *
 * <p>A group belongs to the thread that made it. Wrong arguments throw at once and leave the group usable. {@link #close} runs
 * whatever was collected, unless {@link #start} did, or the last operation was refused: an exception that leaves the block
 * is then not held up by half of a group, which would wait for the other half until its deadline. Of other exceptions in the block
 * {@code close} learns nothing.
 *
 * {@snippet :
 * try (Group group = comm.world().group()) {
 *     group.send(comm, mine, next, 0);
 *     group.recv(comm, theirs, previous, 0);
 *     group.allReduce(rows, loss, loss, ReduceOp.SUM);
 * }
 * }
 */
public final class Group implements AutoCloseable {
    private final World world;
    private final Thread owner = Thread.currentThread();
    private final List<Step> steps = new ArrayList<>();

    /** An operation and where it runs. */
    private record Step(Communicator comm, Prepared prepared) {}

    private boolean started;

    /** Whether the last operation was refused, and nothing has been added since. */
    private boolean refused;

    Group(World world) {
        this.world = world;
    }

    /**
     * Adds a send.
     *
     * @param comm on which communicator
     * @param buffer what to send
     * @param destination the receiving rank
     * @param tag 0 or more
     * @return this group
     */
    public Group send(Communicator comm, Buffer buffer, int destination, int tag) {
        return add(comm, () -> comm.prepareSend(buffer, destination, tag));
    }

    /**
     * Adds a send with tag 0.
     *
     * @param comm on which communicator
     * @param buffer what to send
     * @param destination the receiving rank
     * @return this group
     */
    public Group send(Communicator comm, Buffer buffer, int destination) {
        return send(comm, buffer, destination, 0);
    }

    /**
     * Adds a receive.
     *
     * @param comm on which communicator
     * @param buffer where the elements go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @param tag 0 or more, or {@link Communicator#ANY_TAG}
     * @return this group
     */
    public Group recv(Communicator comm, Buffer buffer, int source, int tag) {
        return add(comm, () -> comm.prepareRecv(buffer, source, tag));
    }

    /**
     * Adds a receive with tag 0.
     *
     * @param comm on which communicator
     * @param buffer where the elements go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @return this group
     */
    public Group recv(Communicator comm, Buffer buffer, int source) {
        return recv(comm, buffer, source, 0);
    }

    /**
     * Adds an all-reduce.
     *
     * @param comm on which communicator
     * @param in this rank's elements
     * @param out where the result goes
     * @param op how to reduce
     * @return this group
     */
    public Group allReduce(Communicator comm, Buffer in, Buffer out, ReduceOp op) {
        return add(comm, () -> comm.prepareAllReduce(in, out, op));
    }

    /**
     * Adds a reduce.
     *
     * @param comm on which communicator
     * @param in this rank's elements
     * @param out where the result goes; needed at the root only
     * @param op how to reduce
     * @param root the rank that gets the result
     * @return this group
     */
    public Group reduce(Communicator comm, Buffer in, @Nullable Buffer out, ReduceOp op, int root) {
        return add(comm, () -> comm.prepareReduce(in, out, op, root));
    }

    /**
     * Adds a broadcast.
     *
     * @param comm on which communicator
     * @param buffer read at the root, written elsewhere
     * @param root the rank that sends
     * @return this group
     */
    public Group broadcast(Communicator comm, Buffer buffer, int root) {
        return add(comm, () -> comm.prepareBroadcast(buffer, root));
    }

    /**
     * Adds an all-gather.
     *
     * @param comm on which communicator
     * @param in this rank's elements
     * @param out size times as many elements
     * @return this group
     */
    public Group allGather(Communicator comm, Buffer in, Buffer out) {
        return add(comm, () -> comm.prepareAllGather(in, out));
    }

    /**
     * Adds a reduce-scatter.
     *
     * @param comm on which communicator
     * @param in size blocks
     * @param out one block
     * @param op how to reduce
     * @return this group
     */
    public Group reduceScatter(Communicator comm, Buffer in, Buffer out, ReduceOp op) {
        return add(comm, () -> comm.prepareReduceScatter(in, out, op));
    }

    /**
     * Adds an all-to-all.
     *
     * @param comm on which communicator
     * @param in size blocks
     * @param out size blocks
     * @return this group
     */
    public Group allToAll(Communicator comm, Buffer in, Buffer out) {
        return add(comm, () -> comm.prepareAllToAll(in, out));
    }

    /**
     * Adds any prepared operation.
     *
     * @param comm the communicator that it was prepared on
     * @param prepared what to run
     * @return this group
     */
    public Group add(Communicator comm, Prepared prepared) {
        return add(comm, () -> Objects.requireNonNull(prepared, "prepared"));
    }

    private Group add(Communicator comm, Supplier<Prepared> checked) {
        requireOpen();
        refused = true;
        if (comm.world() != world) {
            throw new IllegalArgumentException("'" + comm.name() + "' belongs to another world than this group");
        }
        steps.add(new Step(comm, checked.get()));
        refused = false;
        return this;
    }

    /**
     * Starts everything that was collected; the group is then over. If one of the operations is refused, as its buffer has been closed
     * for example, those before it are ended by aborting their communicators, and this throws why.
     *
     * @return what to wait for: all of it
     */
    public Work start() {
        requireOpen();
        started = true;
        List<Work> works = new ArrayList<>(steps.size());
        try {
            for (Step step : steps) {
                works.add(step.prepared.start());
            }
        } catch (RuntimeException refused) {
            endStarted(works, refused);
            throw refused;
        }
        return new GroupWork(works);
    }

    /** Nobody would wait for what was started before the operation that was refused, and peers would wait for the rest. */
    private void endStarted(List<Work> works, RuntimeException refused) {
        for (int i = 0; i < works.size(); i++) {
            steps.get(i).comm.abort("an operation of the same group was refused: " + refused);
        }
        for (Work work : works) {
            try {
                work.await();
            } catch (RuntimeException ended) {
                refused.addSuppressed(ended);
            }
        }
    }

    /**
     * Runs whatever was collected and waits for its end, unless {@link #start} was called. Closing twice is fine.
     *
     * @throws TuttiException also if the last operation was refused and nothing has been added since: then nothing runs
     */
    @Override
    public void close() {
        if (started) {
            return;
        }
        if (refused && !steps.isEmpty() && Thread.currentThread() == owner) {
            started = true;
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "this group did not run, as its last operation was refused and the others might wait for it: "
                            + "add it rightly before the end, or call start() to run without it",
                    null);
        }
        start().await();
    }

    private void requireOpen() {
        if (Thread.currentThread() != owner) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "a group belongs to the thread that made it, " + owner.getName() + ", not "
                            + Thread.currentThread().getName() + ": make one in each thread",
                    null);
        }
        if (started) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "this group has been started already: make another by world.group()",
                    null);
        }
    }
}
