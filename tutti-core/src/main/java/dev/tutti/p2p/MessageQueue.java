package dev.tutti.p2p;

import org.jspecify.annotations.Nullable;

/** Messages in order, linked through themselves; a message is in one queue at a time. */
final class MessageQueue {
    private @Nullable Message first;
    private @Nullable Message last;

    boolean isEmpty() {
        return first == null;
    }

    @Nullable
    Message first() {
        return first;
    }

    void add(Message message) {
        message.previous = last;
        message.next = null;
        if (last == null) {
            first = message;
        } else {
            last.next = message;
        }
        last = message;
    }

    void remove(Message message) {
        Message before = message.previous;
        Message after = message.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        message.previous = null;
        message.next = null;
    }

    /** Empties the queue; the messages stay linked through {@code next}. */
    @Nullable
    Message takeAll() {
        Message all = first;
        first = null;
        last = null;
        return all;
    }

    /** The first receive that takes a tag. */
    @Nullable
    Message firstFor(int tag) {
        Message message = first;
        while (message != null && !message.takes(tag)) {
            message = message.next;
        }
        return message;
    }
}
