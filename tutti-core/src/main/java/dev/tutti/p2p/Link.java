package dev.tutti.p2p;

import static dev.tutti.p2p.RingDescriptor.word;

import dev.tutti.DataType;
import dev.tutti.channel.Bell;
import dev.tutti.memory.Memory;
import dev.tutti.spi.Fabric;
import org.jspecify.annotations.Nullable;

/**
 * What goes on between this rank and one other: the ring to it, the ring from it, and the messages that wait for either.
 *
 * <pre>
 *   small     sender ── EAGER ────────────────────────► receiver          the send ends when it is in the ring
 *
 *   large     sender ── REQUEST ──────────────────────► receiver          keeps the request until a receive takes it
 *             sender ◄───────────── GRANT, or REFUSAL ─ receiver
 *             sender ── DATA, DATA, DATA ... ─────────► receiver          the send ends when the last is in the ring
 * </pre>
 *
 * First frames of messages are written in the order of the posts; pieces of granted messages go between them, turn about.
 */
final class Link {
    final int peer;
    /** Receives that name this rank as their source. */
    final MessageQueue posted = new MessageQueue();

    @Nullable
    Arrival firstArrival;

    @Nullable
    Arrival lastArrival;

    private final Postbox box;
    private final Fabric fabric;
    private final Bell bell;
    private final int rank;
    private final int index;
    private final MessageQueue unsent = new MessageQueue();
    private final MessageQueue streams = new MessageQueue();
    private final Slots asked = new Slots();
    private final Slots granted = new Slots();
    private final MessageQueue answers = new MessageQueue();
    private @Nullable RingReader in;
    private @Nullable RingWriter out;
    private long claimedFrame;
    private boolean claimedEager;

    Link(Postbox box, Fabric fabric, Bell bell, int rank, int peer, int index) {
        this.box = box;
        this.fabric = fabric;
        this.bell = bell;
        this.rank = rank;
        this.peer = peer;
        this.index = index;
    }

    void servedAny() {
        box.nextTurn(index + 1);
    }

    boolean isOpenIn() {
        return in != null;
    }

    /** Makes the ring from the peer, so that whatever it sends will be seen. */
    void openIn() {
        if (in == null && peer != rank) {
            in = new RingReader(fabric.ring(peer, rank, RingDescriptor.BYTES));
        }
    }

    private RingWriter out() {
        RingWriter writer = out;
        if (writer == null) {
            writer = new RingWriter(fabric.ring(rank, peer, RingDescriptor.BYTES));
            out = writer;
        }
        return writer;
    }

    /** Begins a send. */
    void send(Message message) {
        RingWriter writer = out();
        if (unsent.isEmpty() && claimFirst(message, writer)) {
            writeFirst(message, writer);
            bell.ring(peer);
        } else {
            message.stage = Message.Stage.WAITING;
            unsent.add(message);
        }
    }

    /** Takes frames, as long as somebody waits for anything. */
    boolean receive(int mostFrames) {
        RingReader reader = in;
        if (reader == null) {
            return false;
        }
        int frames = 0;
        int bytes = 0;
        while (frames < mostFrames && bytes < Copies.LONGEST && box.isWaiting()) {
            long word = reader.peek();
            if (word == 0) {
                break;
            }
            int length = take(word, reader);
            reader.advance(length);
            bytes += length;
            frames++;
        }
        if (frames > 0) {
            // It may wait for room.
            bell.ring(peer);
        }
        return frames > 0;
    }

    /** Writes frames, as far as there is room. */
    boolean transmit() {
        if (unsent.isEmpty() && streams.isEmpty() && answers.isEmpty()) {
            return false;
        }
        RingWriter writer = out();
        boolean moved = writeAnswers(writer);
        for (int bytes = 0; bytes < Copies.LONGEST; bytes += RingDescriptor.PIECE) {
            boolean sent = sendNext(writer);
            if (!streamNext(writer) && !sent) {
                break;
            }
            moved = true;
        }
        if (moved) {
            bell.ring(peer);
        }
        return moved;
    }

    /** Gives a receive a message that waits at its sender, who is told to send it or to forget it. */
    void answer(Message receive, int tag, DataType type, long total, int senderSlot) {
        receive.failure = box.match(receive, peer, tag, type, total);
        receive.stage = Message.Stage.MOVING;
        receive.peerSlot = senderSlot;
        answers.add(receive);
        if (writeAnswers(out())) {
            bell.ring(peer);
        }
    }

    /** A small message that had to wait in the heap has reached its user. */
    void handedOver(long bytes) {
        if (in != null) {
            in.handedOver(bytes);
        }
    }

    /** Takes the next frame. @return its length */
    private int take(long word, RingReader reader) {
        long frame = reader.address();
        int bytes = RingDescriptor.payloadBytes(word);
        int tagOrSlot = RingDescriptor.tagOrSlot(word);
        switch (RingDescriptor.kind(word)) {
            case RingDescriptor.EAGER -> {
                takeEager(frame + RingDescriptor.EAGER_PAYLOAD, tagOrSlot, RingDescriptor.type(word), bytes, reader);
                return RingDescriptor.frameBytes(RingDescriptor.EAGER_PAYLOAD + bytes);
            }
            case RingDescriptor.DATA -> {
                takeData(frame + RingDescriptor.DATA_PAYLOAD, tagOrSlot, bytes);
                return RingDescriptor.frameBytes(RingDescriptor.DATA_PAYLOAD + bytes);
            }
            case RingDescriptor.REQUEST ->
                takeRequest(
                        tagOrSlot,
                        RingDescriptor.type(word),
                        Memory.getLong(frame + RingDescriptor.REQUEST_TOTAL),
                        (int) Memory.getLong(frame + RingDescriptor.REQUEST_SLOT));
            case RingDescriptor.GRANT -> {
                Message message = asked.remove(tagOrSlot);
                message.peerSlot = (int) Memory.getLong(frame + RingDescriptor.GRANT_SLOT);
                message.stage = Message.Stage.MOVING;
                streams.add(message);
            }
            case RingDescriptor.REFUSAL -> box.end(asked.remove(tagOrSlot), null);
            default -> throw new IllegalStateException("frame " + Long.toHexString(word) + " from rank " + peer);
        }
        return RingDescriptor.LINE;
    }

    private void takeEager(long payload, int tag, DataType type, int bytes, RingReader reader) {
        Message receive = box.matching().takeReceive(this, tag);
        if (receive == null) {
            box.matching().keep(new Arrival(this, tag, type, bytes, box.copies().toHeap(payload, bytes), 0, null));
            return;
        }
        reader.handedOver(bytes);
        Throwable misfit = box.match(receive, peer, tag, type, bytes);
        box.end(receive, misfit != null ? misfit : box.tryStore(receive, 0, payload, bytes));
    }

    private void takeRequest(int tag, DataType type, long total, int senderSlot) {
        Message receive = box.matching().takeReceive(this, tag);
        if (receive == null) {
            box.matching().keep(new Arrival(this, tag, type, total, null, senderSlot, null));
        } else {
            answer(receive, tag, type, total, senderSlot);
        }
    }

    /** The rest of a message whose receive has failed still comes, and is dropped. */
    private void takeData(long payload, int slot, int bytes) {
        Message receive = granted.get(slot);
        if (receive.stage == Message.Stage.MOVING) {
            Throwable failure = box.tryStore(receive, receive.moved, payload, bytes);
            if (failure != null) {
                box.end(receive, failure);
            }
        }
        receive.moved += bytes;
        if (receive.moved == receive.total) {
            granted.remove(slot);
            if (receive.stage == Message.Stage.MOVING) {
                box.end(receive, null);
            }
        }
    }

    /** A receive whose message is refused ends only now, so that nothing is left to be told when this rank closes. */
    private boolean writeAnswers(RingWriter writer) {
        boolean moved = false;
        for (Message receive = answers.first(); receive != null; receive = answers.first()) {
            long frame = writer.claim(RingDescriptor.GRANT_SLOT + Long.BYTES);
            if (frame == 0) {
                break;
            }
            answers.remove(receive);
            if (receive.failure != null) {
                writer.publish(word(RingDescriptor.REFUSAL, 0, receive.peerSlot));
                box.end(receive, receive.failure);
            } else {
                Memory.putLong(frame + RingDescriptor.GRANT_SLOT, granted.add(receive));
                writer.publish(word(RingDescriptor.GRANT, 0, receive.peerSlot));
            }
            moved = true;
        }
        return moved;
    }

    private boolean sendNext(RingWriter writer) {
        Message message = unsent.first();
        if (message == null || !claimFirst(message, writer)) {
            return false;
        }
        unsent.remove(message);
        writeFirst(message, writer);
        return true;
    }

    private boolean claimFirst(Message message, RingWriter writer) {
        claimedEager = writer.mayBeEager(message.bytes);
        claimedFrame = writer.claim(
                claimedEager
                        ? RingDescriptor.EAGER_PAYLOAD + (int) message.bytes
                        : RingDescriptor.REQUEST_SLOT + Long.BYTES);
        return claimedFrame != 0;
    }

    private void writeFirst(Message message, RingWriter writer) {
        if (claimedEager) {
            Throwable failure = box.tryLoad(message, 0, claimedFrame + RingDescriptor.EAGER_PAYLOAD, message.bytes);
            if (failure == null) {
                writer.countEager(message.bytes);
                writer.publish(word(RingDescriptor.EAGER, (int) message.bytes, message));
            }
            box.end(message, failure);
        } else {
            openIn();
            message.stage = Message.Stage.ASKED;
            Memory.putLong(claimedFrame + RingDescriptor.REQUEST_TOTAL, message.bytes);
            Memory.putLong(claimedFrame + RingDescriptor.REQUEST_SLOT, asked.add(message));
            writer.publish(word(RingDescriptor.REQUEST, 0, message));
        }
    }

    /** Writes a piece of a granted message. If its memory is gone, the receiver can never get it: everything ends. */
    private boolean streamNext(RingWriter writer) {
        Message message = streams.first();
        if (message == null) {
            return false;
        }
        int bytes = writer.roomForData(message.total - message.moved);
        if (bytes < 0) {
            return false;
        }
        long frame = writer.claim(RingDescriptor.DATA_PAYLOAD + bytes);
        Throwable failure = box.tryLoad(message, message.moved, frame + RingDescriptor.DATA_PAYLOAD, bytes);
        if (failure != null) {
            throw new IllegalStateException("memory of a " + message.what() + " cannot be read any more", failure);
        }
        writer.publish(word(RingDescriptor.DATA, bytes, message.peerSlot));
        message.moved += bytes;
        streams.remove(message);
        if (message.moved == message.total) {
            box.end(message, null);
        } else {
            streams.add(message);
        }
        return true;
    }
}
