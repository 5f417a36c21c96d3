package dev.tutti.exec;

import dev.tutti.channel.Board;
import java.lang.System.Logger.Level;
import java.util.function.Supplier;

/**
 * One wait for something that a peer does outside of the communicator's own operations, such as a signal on a window: pass
 * the time at the rank's {@link Pace}, sleep until the bell rings, and find out whether there is still something to wait for. Used by the
 * thread that waits, beside whatever else the communicator does.
 */
public final class Patience {
    private final Endpoint endpoint;
    private final int peer;
    private final Supplier<String> what;
    private final long timeoutNanos;
    private final boolean virtual;
    private int turns;
    private long since;
    private int shown;
    private boolean sleepAnnounced;
    private long armedAt;
    private boolean armed;
    private boolean warned;

    /**
     * A wait that begins now.
     *
     * @param peer who has to do something
     * @param what what is waited for, for messages
     * @param timeoutNanos how long at most; then the communicator is aborted
     */
    public Patience(Endpoint endpoint, int peer, Supplier<String> what, long timeoutNanos) {
        this.endpoint = endpoint;
        this.peer = peer;
        this.what = what;
        this.timeoutNanos = timeoutNanos;
        this.virtual = Thread.currentThread().isVirtual();
    }

    /** Waits a little; throws when there is nothing left to wait for. */
    public void pause() {
        if (!virtual && turns++ < endpoint.pace.turns()) {
            Thread.onSpinWait();
            return;
        }
        long now = check();
        if (sleepAnnounced) {
            if (endpoint.bell.sleep(shown, Math.min(timeoutNanos - (now - armedAt), Pace.sleepNanos(now - armedAt)))) {
                sleepAnnounced = false;
                since = System.nanoTime();
            }
        } else if (virtual || !endpoint.pace.pass(since, now)) {
            // The caller looks once more; if it comes back, it sleeps.
            shown = endpoint.bell.announceSleep();
            sleepAnnounced = true;
        }
    }

    private long check() {
        Board board = endpoint.board;
        if (board.isAborted()) {
            throw endpoint.stall.failure();
        }
        if (Thread.currentThread().isInterrupted()) {
            board.abort(
                    Board.Reason.ABORTED,
                    "rank " + endpoint.rank + " was interrupted in " + where(),
                    new InterruptedException("interrupted in " + where()),
                    what.get(),
                    Board.only(endpoint.rank));
            throw endpoint.stall.failure();
        }
        long now = System.nanoTime();
        if (!armed) {
            armed = true;
            armedAt = now;
            since = now;
        } else if (board.isClosed(peer)) {
            board.abort(
                    Board.Reason.PEER_FAILED,
                    "rank " + peer + " closed '" + endpoint.name + "' before the end of " + what.get()
                            + ", for which rank " + endpoint.rank + " waits",
                    null,
                    what.get(),
                    Board.only(peer));
            throw endpoint.stall.failure();
        } else if (now - armedAt >= timeoutNanos) {
            board.abort(
                    Board.Reason.TIMEOUT,
                    where() + " timed out after " + Durations.text(timeoutNanos) + " on rank " + endpoint.rank,
                    null,
                    what.get(),
                    Board.only(peer));
            throw endpoint.stall.failure();
        } else if (!warned && now - armedAt >= endpoint.stall.warnNanos()) {
            warned = true;
            System.getLogger("dev.tutti")
                    .log(
                            Level.WARNING,
                            "{0}: rank {1} has waited {2}",
                            where(),
                            endpoint.rank,
                            Durations.text(endpoint.stall.warnNanos()));
        }
        return now;
    }

    private String where() {
        return what.get() + " on '" + endpoint.name + "'";
    }
}
