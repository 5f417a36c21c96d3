package dev.tutti.p2p;

import org.jspecify.annotations.Nullable;

/** Messages of a rank to itself: the same queues, no ring. A large one is copied piece by piece from buffer to buffer. */
final class Loopback {
    private final Postbox box;
    private final Link link;
    private final MessageQueue moving = new MessageQueue();
    private long waitingInHeap;

    Loopback(Postbox box, Link link) {
        this.box = box;
        this.link = link;
    }

    void send(Message message) {
        Message receive = box.matching().takeReceive(link, message.tag());
        if (receive != null) {
            begin(message, receive);
            return;
        }
        long charge = RingDescriptor.eagerCharge(message.bytes);
        if (message.bytes <= RingDescriptor.EAGER_LIMIT && waitingInHeap + charge <= RingDescriptor.EAGER_WINDOW) {
            waitingInHeap += charge;
            byte[] payload = box.copies().toHeap(message);
            box.matching().keep(new Arrival(link, message.tag(), message.type, message.bytes, payload, 0, null));
            box.end(message, null);
        } else {
            message.stage = Message.Stage.ASKED;
            box.matching().keep(new Arrival(link, message.tag(), message.type, message.bytes, null, 0, message));
        }
    }

    /** A small message that had to wait in the heap has reached its receive. */
    void handedOver(long bytes) {
        waitingInHeap -= RingDescriptor.eagerCharge(bytes);
    }

    void begin(Message send, Message receive) {
        Throwable misfit = box.match(receive, link.peer, send.tag(), send.type, send.bytes);
        if (misfit != null) {
            box.end(receive, misfit);
            box.end(send, null);
            return;
        }
        send.stage = Message.Stage.MOVING;
        receive.stage = Message.Stage.MOVING;
        receive.partner = send;
        moving.add(receive);
        move();
    }

    /** Copies a piece of the first message. */
    boolean move() {
        Message receive = moving.first();
        Message send = receive == null ? null : receive.partner;
        if (receive == null || send == null) {
            return false;
        }
        long length = Math.min(Copies.LONGEST, receive.total - receive.moved);
        Throwable failure = tryCopy(send, receive, length);
        receive.moved += length;
        moving.remove(receive);
        if (failure == null && receive.moved < receive.total) {
            moving.add(receive);
        } else {
            receive.partner = null;
            box.end(receive, failure);
            box.end(send, failure);
        }
        return true;
    }

    private @Nullable Throwable tryCopy(Message send, Message receive, long length) {
        try {
            if (length > 0) {
                box.copies().between(send, receive, receive.moved, length);
            }
            return null;
        } catch (RuntimeException thrown) {
            return thrown;
        }
    }
}
