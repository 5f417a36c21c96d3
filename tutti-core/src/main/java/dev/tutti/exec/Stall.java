package dev.tutti.exec;

import dev.tutti.TuttiException;
import dev.tutti.channel.Board;
import java.lang.System.Logger.Level;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a wait does when it is not over at once: pass the time at the rank's {@link Pace}, sleep, and meanwhile find out whether
 * there is still something to wait for. The clock is first read here, so an operation that goes well never reads it.
 */
public final class Stall {
    private static final long DIAGNOSE_EVERY_NANOS = 1_000_000;
    /** When a wait that looks all right first makes us look at earlier operations; then after twice as long, and so on. */
    private static final long LOOK_BACK_AFTER_NANOS = 50_000_000;

    private static final Call NONE = new Call();

    private final Endpoint endpoint;
    private final Board board;
    private final Diagnosis diagnosis;
    private final long warnNanos;
    private final Pace pace;

    private long operation;
    private Call call = NONE;
    private long timeoutNanos;
    private long armedAt;
    private long diagnosedAt;
    private boolean armed;
    private long lookBackNanos;
    private boolean warned;
    private long waitingSince;
    private boolean sleepAnnounced;
    private int shown;

    Stall(Endpoint endpoint, long warnNanos) {
        this.warnNanos = warnNanos;
        this.pace = endpoint.pace;
        this.endpoint = endpoint;
        this.board = endpoint.board;
        this.diagnosis = new Diagnosis(endpoint);
    }

    long warnNanos() {
        return warnNanos;
    }

    /** Tells which operation is waited for from now on. Details are looked up when somebody has to wait for long. */
    void begin(long number, Call current) {
        if (call != current) {
            call = current;
        }
        begin(number);
    }

    /** The same for the same call, made again. */
    void begin(long number) {
        operation = number;
        armed = false;
    }

    /** Nothing is waited for any more that {@link #begin} has told of. */
    void forget() {
        call = NONE;
    }

    /** Has something say in messages, until told otherwise, where exactly this rank is. */
    void describe(@Nullable Supplier<String> position) {
        diagnosis.describe(position);
    }

    private void arm(long now) {
        armed = true;
        armedAt = now;
        diagnosedAt = now;
        warned = false;
        lookBackNanos = LOOK_BACK_AFTER_NANOS;
        timeoutNanos = call.timeoutNanos();
        diagnose();
    }

    /** What is known about the operation that is waited for. */
    private Diagnosis diagnose() {
        return diagnosis.of(operation, call);
    }

    /**
     * Waits a little; throws when there is nothing left to wait for.
     *
     * @param turns how often this wait has been here already
     * @return one more
     */
    int pause(int turns) {
        if (!look(turns)) {
            pause(turns, true);
        }
        return turns + 1;
    }

    /**
     * Lets a moment pass in which nothing can have gone wrong yet.
     *
     * @param turns how often this wait has been here already
     * @return false, and nothing has been done, if there were enough of these
     */
    boolean look(int turns) {
        boolean young = turns < pace.turns();
        if (young) {
            Thread.onSpinWait();
        }
        return young;
    }

    /**
     * Waits a little after {@link #look} has said no; throws when there is nothing left to wait for.
     *
     * @param coreWanted whether somebody who has still to come may need this rank's core for it; matters where ranks share cores
     */
    void pause(int turns, boolean coreWanted) {
        boolean first = turns == pace.turns();
        long now = check();
        if (pace.isShared()) {
            endpoint.neighbours.look(now);
        }
        if (first) {
            waitingSince = now;
            sleepAnnounced = false;
        }
        if (Thread.currentThread().isInterrupted()) {
            board.abort(
                    Board.Reason.ABORTED,
                    "rank " + endpoint.rank + " was interrupted in " + what(),
                    new InterruptedException("interrupted in " + what()),
                    what(),
                    Board.only(endpoint.rank));
            throw failure();
        }
        if (sleepAnnounced) {
            // If nobody has rung, what was announced still stands, and all that is left is to sleep on.
            if (endpoint.bell.sleep(shown, sliceNanos())) {
                sleepAnnounced = false;
                waitingSince = System.nanoTime();
            }
        } else if (!pace.pass(waitingSince, now, coreWanted)) {
            // The caller looks once more; if it comes back, it sleeps.
            shown = endpoint.bell.announceSleep();
            sleepAnnounced = true;
        }
    }

    private long sliceNanos() {
        long waited = diagnosedAt - armedAt;
        return Math.clamp(timeoutNanos - waited, DIAGNOSE_EVERY_NANOS / 10, Pace.sleepNanos(waited));
    }

    /**
     * Throws when there is nothing left to wait for; cheap enough to be called over and over.
     *
     * @return what the clock says
     */
    long check() {
        if (board.isAborted()) {
            throw failure();
        }
        long now = System.nanoTime();
        if (!armed) {
            arm(now);
            return now;
        }
        if (now - diagnosedAt < DIAGNOSE_EVERY_NANOS) {
            return now;
        }
        diagnosedAt = now;
        diagnosis.requireAnswerable();
        if (now - armedAt >= lookBackNanos) {
            lookBackNanos *= 2;
            diagnosis.requireSamePast();
        }
        if (now - armedAt >= timeoutNanos) {
            throw diagnosis.timedOut(timeoutNanos);
        }
        if (!warned && now - armedAt >= warnNanos) {
            warned = true;
            System.getLogger("dev.tutti")
                    .log(
                            Level.WARNING,
                            "{0} on ''{1}'': rank {2} has waited {3}: {4}",
                            what(),
                            endpoint.name,
                            endpoint.rank,
                            Durations.text(warnNanos),
                            diagnosis.whereEverybodyIs());
        }
        return now;
    }

    /** What everybody throws after an abort: the first cause, wherever it was. */
    public TuttiException failure() {
        return diagnosis.failure();
    }

    private String what() {
        return diagnosis.what();
    }

    /** Aborts the communicator from outside an operation. */
    void abort(String text, boolean timedOut) {
        board.abort(
                timedOut ? Board.Reason.TIMEOUT : Board.Reason.ABORTED,
                text,
                null,
                null,
                timedOut ? Board.only() : Board.only(endpoint.rank));
    }

    /** Aborts the communicator from outside, inside the gate, because nobody wants to wait for this operation any longer. */
    void giveUp(String text, boolean timedOut) {
        diagnose().giveUp(text, timedOut);
    }

    /** A signature was not the expected one: says who called what, aborts, and returns what to throw. */
    TuttiException mismatch() {
        return board.isAborted() ? failure() : diagnose().mismatch();
    }

    /** As {@link #mismatch}, for a peer that sends another number of elements than this rank expects. */
    TuttiException pairMismatch(int peer, long theirs) {
        return board.isAborted() ? failure() : diagnose().pairMismatch(peer, theirs);
    }

    /** A plan reaches for memory that a peer does not have, or that cannot be reached from here. */
    TuttiException unreachable(int peer, String memory) {
        return diagnose().unreachable(peer, memory);
    }

    TuttiException userFunctionThrew(Throwable thrown) {
        return diagnose().userFunctionThrew(thrown);
    }

    /**
     * At the end of an operation in which this rank did not hear from everybody. A rank that disagrees may have written where others
     * expect what a third one sends, and signatures tell only who has signalled. It announced its operation before it wrote: whoever
     * has read what it wrote finds that too.
     */
    void requireAgreement(long ownMeta, long ownCount, long ownExtra) {
        diagnosis.requireAgreement(operation, ownMeta, ownCount, ownExtra);
    }
}
