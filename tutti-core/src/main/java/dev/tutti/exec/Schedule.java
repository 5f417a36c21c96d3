package dev.tutti.exec;

import dev.tutti.AbortedException;
import dev.tutti.TuttiException;
import dev.tutti.channel.Board;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one rank of one communicator in the order in which they were made: one at a time. A blocking call that finds
 * nobody before it runs at once on its caller's thread; everything else queues and is moved by whoever helps.
 */
public final class Schedule implements Progress.Moving {
    /** A queued call. */
    public abstract static class Queued extends Task {
        private final Schedule schedule;

        protected Queued(Schedule schedule) {
            this.schedule = schedule;
        }

        /** What to run. */
        protected abstract Call call();

        /**
         * Called inside the gate when the call has gone well: whether there is another one, which {@link #call} gives from now on. Nothing
         * that was queued later comes between the two.
         */
        protected boolean goesOn() {
            return false;
        }

        @Override
        protected Progress.Moving mover() {
            return schedule;
        }

        @Override
        protected void abandon(String reason, boolean timedOut) {
            schedule.giveUp(reason, timedOut);
        }
    }

    /** How often to try to get in for a text; whoever moves a call is inside for moments only, unless it is a blocking one. */
    private static final int POSITION_TURNS = 100;

    /** How long a failed call waits for peers to say that they keep off its memory. Who has not by then is stuck, or dead. */
    private static final long WITHDRAWAL_NANOS = 200_000_000;

    private final Gate gate = new Gate();
    private final Execution execution;
    private final Endpoint endpoint;
    private final Object queueLock = new Object();
    private final Object closing = new Object();
    private @Nullable Queued head;
    private @Nullable Queued tail;
    private volatile int queued;
    private @Nullable Queued running;
    /** What the running call failed with; it ends when peers keep off its memory. */
    private @Nullable Throwable failed;

    private long failedAt;
    private volatile boolean closed;

    public Schedule(Execution execution, Endpoint endpoint) {
        this.execution = execution;
        this.endpoint = endpoint;
    }

    /**
     * Takes the gate for a blocking call if nobody is before it. A virtual thread always queues: it must not spin.
     *
     * @return false if the call has to queue; then the gate is not held
     */
    public boolean enter() {
        if (Thread.currentThread().isVirtual()) {
            return false;
        }
        try {
            gate.enter();
        } catch (AbortedException interrupted) {
            abort(String.valueOf(interrupted.getMessage()), false);
            throw interrupted;
        }
        if (queued == 0) {
            return true;
        }
        gate.exit();
        return false;
    }

    /** Says, after {@link #enter}, whose memory the call uses, as {@link Gate#awaitPassage} knows owners. */
    public void uses(long inputOwner, long outputOwner) {
        gate.uses(inputOwner, outputOwner);
    }

    /**
     * Runs a small call that has been made before in the shortest way, between {@link #enter} and {@link #exit}.
     *
     * @return false, and nothing has been done, if it has to be run in the ordinary way
     */
    public boolean runAgain(Call call) {
        if (closed) {
            throw closed();
        }
        long before = execution.operation();
        try {
            return execution.runAgain(call);
        } catch (Throwable thrown) {
            leave(call, thrown, before);
            throw thrown;
        }
    }

    /** Runs a call between {@link #enter} and {@link #exit}. */
    public void run(Call call) {
        requireActiveInside();
        long before = execution.operation();
        try {
            if (!execution.runAgain(call)) {
                execution.run(call);
            }
        } catch (Throwable thrown) {
            leave(call, thrown, before);
            throw thrown;
        } finally {
            letGo(call);
        }
    }

    private void leave(Call call, Throwable thrown, long before) {
        abortAfter(thrown, before);
        if (endpoint.board.isAborted()) {
            awaitWithdrawal(call);
        }
    }

    /** A prepared call that has ended keeps its memory to run again; nobody else may, when its owner has forgotten it. */
    private void letGo(Call call) {
        if (!call.mayBeKept()) {
            endpoint.forgetCall();
        }
    }

    /** A failed call returns when no peer touches its memory any more, or else that memory is never used again. */
    private void awaitWithdrawal(Call call) {
        long start = System.nanoTime();
        while (!execution.isWithdrawn()) {
            if (System.nanoTime() - start > WITHDRAWAL_NANOS) {
                keepAway(call);
                return;
            }
            LockSupport.parkNanos(this, 50_000);
        }
    }

    /** An operation that was announced and ended by anything but an abort, such as closed memory: the others must not wait for it. */
    private void abortAfter(Throwable thrown, long before) {
        if (execution.operation() != before && !endpoint.board.isAborted()) {
            endpoint.board.abort(
                    Board.Reason.ABORTED,
                    "operation #" + execution.operation() + " on '" + endpoint.name + "' failed on rank "
                            + endpoint.rank + ": " + thrown,
                    thrown,
                    "operation #" + execution.operation(),
                    Board.only(endpoint.rank));
        }
    }

    public void exit() {
        gate.exit();
    }

    /** Throws the first cause after an abort, and says so after a close. For callers outside the gate. */
    public void requireActive() {
        // Against retire: what is no longer active must not look at memory that may have gone.
        synchronized (queueLock) {
            requireActiveInside();
        }
    }

    /** Inside the gate, or under the lock of the queue. */
    private void requireActiveInside() {
        if (closed) {
            throw closed();
        }
        if (endpoint.board.isAborted()) {
            throw endpoint.stall.failure();
        }
    }

    private TuttiException closed() {
        return new TuttiException(
                TuttiException.Category.USAGE,
                "communicator '" + endpoint.name + "' has been closed on rank " + endpoint.rank,
                null);
    }

    /** Puts a call at the end of the queue. */
    public void submit(Queued task) {
        synchronized (queueLock) {
            requireActiveInside();
            if (tail == null) {
                head = task;
            } else {
                tail.next = task;
            }
            tail = task;
            queued++;
        }
        Progress.add(this);
    }

    @Override
    public boolean isActive() {
        return queued != 0;
    }

    @Override
    public int move() {
        if (queued == 0 || !gate.tryEnter()) {
            return Execution.BLOCKED;
        }
        Queued finished = null;
        int moved;
        try {
            moved = failed == null ? moveHead() : Execution.BLOCKED;
            // Inside the gate: whoever comes next finds everything before it done.
            finished = takeFinished(moved);
        } finally {
            gate.exit();
        }
        if (finished != null) {
            finished.announce();
            return Execution.MOVED;
        }
        return moved;
    }

    private int moveHead() {
        // A call that is already running was announced earlier.
        long before = running == null ? execution.operation() : execution.operation() - 1;
        try {
            if (running == null) {
                Queued task = head();
                if (task == null) {
                    return Execution.BLOCKED;
                }
                running = task;
                requireActiveInside();
                execution.begin(task.call());
            }
            int moved = execution.advance();
            return moved == Execution.DONE && goesOn(running) ? Execution.MOVED : moved;
        } catch (Throwable thrown) {
            abortAfter(thrown, before);
            failed = thrown;
            failedAt = System.nanoTime();
            return Execution.BLOCKED;
        }
    }

    private boolean goesOn(Queued task) {
        Call over = task.call();
        if (!task.goesOn()) {
            return false;
        }
        letGo(over);
        running = null;
        return true;
    }

    /** Ends the call that is running, if it is over. */
    private @Nullable Queued takeFinished(int moved) {
        Queued task = running;
        Throwable error = failed;
        if (task == null || (error == null ? moved != Execution.DONE : !mayEnd(task.call()))) {
            return null;
        }
        running = null;
        failed = null;
        removeHead();
        letGo(task.call());
        task.end(error);
        endpoint.bell.ringOwn();
        return task;
    }

    private void keepAway(Call call) {
        call.keepAway();
        execution.abandonBuffers();
    }

    private boolean mayEnd(Call failing) {
        if (!endpoint.board.isAborted() || execution.isWithdrawn()) {
            return true;
        }
        if (System.nanoTime() - failedAt > WITHDRAWAL_NANOS) {
            keepAway(failing);
            return true;
        }
        return false;
    }

    @Override
    public long announceSleep() {
        // Inside the gate, for nobody can let go of the memory meanwhile.
        if (queued == 0 || !gate.tryEnter()) {
            return Progress.NOT_NOW;
        }
        try {
            return closed ? Progress.NOT_NOW : endpoint.bell.announceSleep() & 0xFFFFFFFFL;
        } finally {
            gate.exit();
        }
    }

    @Override
    public void sleep(int shown, long nanos) {
        endpoint.bell.sleep(shown, nanos);
    }

    @Override
    public long bell() {
        return endpoint.bell.address();
    }

    @Override
    public Pace pace() {
        return endpoint.pace();
    }

    private @Nullable Queued head() {
        synchronized (queueLock) {
            return head;
        }
    }

    private void removeHead() {
        synchronized (queueLock) {
            if (head != null) {
                head = (Queued) head.next;
                if (head == null) {
                    tail = null;
                }
                queued--;
            }
        }
    }

    /** Somebody no longer wants to wait: tells which call is running and who has come to it, if that can be told. */
    private void giveUp(String reason, boolean timedOut) {
        String text = gaveUp(reason);
        for (int turn = 0; turn < POSITION_TURNS; turn++) {
            if (gate.tryEnter()) {
                try {
                    if (!closed && running != null) {
                        endpoint.stall.giveUp(text, timedOut);
                        return;
                    }
                    break;
                } finally {
                    gate.exit();
                }
            }
            Thread.yield();
        }
        endpoint.stall.abort(text, timedOut);
    }

    private String gaveUp(String reason) {
        return "rank " + endpoint.rank + " gave up on '" + endpoint.name + "': " + reason;
    }

    /** Ends everything on this communicator, on all ranks. */
    public void abort(String reason, boolean timedOut) {
        endpoint.stall.abort(gaveUp(reason), timedOut);
    }

    /** No more calls. Whatever is still going on is aborted, on all ranks. */
    public void close() {
        // Under the lock, so that whoever closes at the same time does not let go of the memory before this has been
        // written.
        synchronized (closing) {
            if (!closed) {
                // In this order: whoever enters the gate and does not see this is seen inside it.
                boolean waiting = refuseCalls();
                if (waiting || gate.isUsed()) {
                    abort("closed during an operation", false);
                }
                endpoint.board.publishClosed();
            }
        }
    }

    /** Lets nothing more into the queue; returns whether anything is in it. */
    private boolean refuseCalls() {
        synchronized (queueLock) {
            closed = true;
            return queued != 0;
        }
    }

    /**
     * After a close: lets go of the communicator's memory, if nobody can be using it any more. Whoever enters the gate from now on
     * finds it closed. If an operation is still on its way out, nothing happens, and the memory is given back when nobody can
     * reach the communicator any more.
     */
    public void retire() {
        synchronized (closing) {
            synchronized (queueLock) {
                if (closed && queued == 0 && !gate.isHeld()) {
                    if (!endpoint.board.isAborted()) {
                        execution.close();
                    }
                    endpoint.retire();
                    gate.retire();
                }
            }
        }
    }

    public boolean isClosed() {
        return closed;
    }
}
