package dev.tutti.p2p;

import org.jspecify.annotations.Nullable;

/**
 * All messages of a rank that have not ended, oldest first. Their clocks start when somebody first has to wait; where all
 * have the same time, only the oldest needs to be looked at.
 */
final class Pending {
    private @Nullable Message first;
    private @Nullable Message last;
    private @Nullable Message firstUnarmed;
    private int count;
    /** How many have a time of their own. */
    private int special;

    boolean isEmpty() {
        return count == 0;
    }

    int count() {
        return count;
    }

    @Nullable
    Message first() {
        return first;
    }

    void add(Message message) {
        message.previousPending = last;
        if (last == null) {
            first = message;
        } else {
            last.nextPending = message;
        }
        last = message;
        if (firstUnarmed == null) {
            firstUnarmed = message;
        }
        count++;
        special += message.timeoutNanos == 0 ? 0 : 1;
    }

    void remove(Message message) {
        Message before = message.previousPending;
        Message after = message.nextPending;
        if (before == null) {
            first = after;
        } else {
            before.nextPending = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previousPending = before;
        }
        if (firstUnarmed == message) {
            firstUnarmed = after;
        }
        message.previousPending = null;
        message.nextPending = null;
        count--;
        special -= message.timeoutNanos == 0 ? 0 : 1;
    }

    /** A message that has waited too long, or null. */
    @Nullable
    Message overdue(long nowNanos, long timeoutNanos) {
        for (Message message = first; message != null; message = message.nextPending) {
            long limit = message.timeoutNanos == 0 ? timeoutNanos : message.timeoutNanos;
            if (message.armedAtNanos != 0 && nowNanos - message.armedAtNanos >= limit) {
                return message;
            }
            if (special == 0) {
                return null;
            }
        }
        return null;
    }

    /** Starts the clocks of all that have none yet. */
    void arm(long nowNanos) {
        for (Message message = firstUnarmed; message != null; message = message.nextPending) {
            message.armedAtNanos = nowNanos;
        }
        firstUnarmed = null;
    }
}
