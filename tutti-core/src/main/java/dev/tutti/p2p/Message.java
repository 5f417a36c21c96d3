package dev.tutti.p2p;

import dev.tutti.exec.Task;
import dev.tutti.memory.Operand;

/** A send or a receive that was posted. */
public abstract class Message extends Task {
    private final Postbox postbox;
    private final Operand operand = new Operand();
    private final int peer;
    private final int tag;
    private final boolean send;
    private int source;
    private int receivedTag;
    private long receivedBytes;

    protected Message(Postbox postbox, int peer, int tag, boolean send) {
        this.postbox = postbox;
        this.peer = peer;
        this.tag = tag;
        this.send = send;
    }

    /** The user's memory. */
    public final Operand operand() {
        return operand;
    }

    /** The rank that sent what was received; valid after the end of a receive. */
    public final int source() {
        return source;
    }

    /** The tag of what was received. */
    public final int receivedTag() {
        return receivedTag;
    }

    /** Bytes of what was received. */
    public final long receivedBytes() {
        return receivedBytes;
    }

    final void setReceived(int from, int withTag, long bytes) {
        source = from;
        receivedTag = withTag;
        receivedBytes = bytes;
    }

    final int peer() {
        return peer;
    }

    final int tag() {
        return tag;
    }

    final boolean isSend() {
        return send;
    }

    @Override
    protected int help() {
        return postbox.move();
    }

    @Override
    protected void abandon(String reason, boolean timedOut) {
        postbox.abort(reason, timedOut);
    }
}
