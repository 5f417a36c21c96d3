package dev.tutti.p2p;

import dev.tutti.channel.Board;
import dev.tutti.exec.Durations;
import java.lang.System.Logger.Level;
import java.util.BitSet;

/**
 * Finds out whether there is still something to wait for, when nothing could be moved for a while. The clock is first read
 * here, so messages that go well never read it.
 */
final class Watch {
    /** Vain moves before the first look at the clock. */
    private static final int PATIENCE = 32;

    private static final long LOOK_EVERY_NANOS = 20_000;

    private final Postbox box;
    private final Board board;
    private final Pending pending;
    private final String name;
    private final int rank;
    private final int size;
    private final long warnNanos;
    private final long timeoutNanos;
    private int vain;
    private long lookedAtNanos;
    private long warnedAtNanos;

    Watch(
            Postbox box,
            Board board,
            Pending pending,
            String name,
            int rank,
            int size,
            long warnNanos,
            long timeoutNanos) {
        this.box = box;
        this.board = board;
        this.pending = pending;
        this.name = name;
        this.rank = rank;
        this.size = size;
        this.warnNanos = warnNanos;
        this.timeoutNanos = timeoutNanos;
        this.warnedAtNanos = System.nanoTime() - warnNanos;
        this.lookedAtNanos = System.nanoTime() - LOOK_EVERY_NANOS;
    }

    /** Something was moved. */
    void progressed() {
        vain = 0;
    }

    /** Nothing could be moved. Returns whether something can be now, be it only that the communicator was aborted. */
    boolean stalled() {
        if (vain < PATIENCE) {
            vain++;
            return false;
        }
        long now = System.nanoTime();
        if (now - lookedAtNanos < LOOK_EVERY_NANOS) {
            return false;
        }
        lookedAtNanos = now;
        pending.arm(now);
        Message oldest = pending.first();
        if (oldest == null) {
            return false;
        }
        Message overdue = pending.overdue(now, timeoutNanos);
        if (overdue != null) {
            long limit = overdue.timeoutNanos == 0 ? timeoutNanos : overdue.timeoutNanos;
            abort(
                    Board.Reason.TIMEOUT,
                    overdue,
                    onThis(overdue) + " timed out after " + Durations.text(limit) + " on rank " + rank + "; "
                            + whyNot(overdue));
            return true;
        }
        if (now - oldest.armedAtNanos >= warnNanos && now - warnedAtNanos >= warnNanos) {
            warnedAtNanos = now;
            warn(oldest, now - oldest.armedAtNanos);
        }
        boolean found = box.discover();
        return someoneHasGone() || found;
    }

    private void warn(Message oldest, long waitedNanos) {
        String others = pending.count() == 1 ? "" : " (and " + (pending.count() - 1) + " more)";
        System.getLogger("dev.tutti")
                .log(
                        Level.WARNING,
                        "{0}{1}: rank {2} has waited {3}; {4}",
                        onThis(oldest),
                        others,
                        rank,
                        Durations.text(waitedNanos / 1_000_000 * 1_000_000),
                        whyNot(oldest));
    }

    /** Whether a rank that a message needs has closed, and nothing of it is left in the ring. */
    private boolean someoneHasGone() {
        boolean allGone = allOthersHaveGone();
        for (Message message = pending.first(); message != null; message = message.nextPending) {
            int peer = message.peer();
            if (peer == rank || !(peer == Message.ANY ? allGone : board.isClosed(peer))) {
                continue;
            }
            if (box.receiveLast(peer)) {
                return true;
            }
            String who = peer == Message.ANY ? "all other ranks" : "rank " + peer;
            abort(
                    Board.Reason.PEER_FAILED,
                    message,
                    who + " closed '" + name + "' before the end of a " + message.what() + ", for which rank " + rank
                            + " waits");
            return true;
        }
        return false;
    }

    private boolean allOthersHaveGone() {
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank && !board.isClosed(peer)) {
                return false;
            }
        }
        return size > 1;
    }

    private void abort(Board.Reason reason, Message about, String text) {
        BitSet ranks = new BitSet();
        if (about.peer() != Message.ANY) {
            ranks.set(about.peer());
        } else if (reason == Board.Reason.PEER_FAILED) {
            ranks.set(0, size);
            ranks.clear(rank);
        }
        board.abort(reason, text, null, about.what(), ranks);
    }

    private String onThis(Message message) {
        return message.what() + " on '" + name + "'";
    }

    private String whyNot(Message message) {
        String peer = "rank " + message.peer();
        if (message.stage == Message.Stage.MOVING) {
            return peer + (message.send ? " has taken " : " has sent ") + message.moved + " of " + message.total
                    + " bytes";
        }
        if (!message.send) {
            return (message.peer() == Message.ANY ? "nobody has sent it" : peer + " has not sent it")
                    + box.whatCameInstead(message);
        }
        return message.stage == Message.Stage.ASKED
                ? peer + " has not posted a receive for it"
                : peer + " takes no messages and the ring to it is full";
    }
}
