package dev.tutti.p2p;

import dev.tutti.DataType;
import dev.tutti.exec.Progress;
import dev.tutti.exec.Task;
import dev.tutti.memory.Operand;
import org.jspecify.annotations.Nullable;

/**
 * A send or a receive that was posted. Everything that the postbox needs to know about it is in here, so that starting one
 * makes one object.
 *
 * <pre>
 *   send     NEW ─► WAITING (no room in the ring) ─► ENDED                                       small
 *                      └─► ASKED (request is out) ─► MOVING (granted) ─► ENDED                   large
 *   receive  NEW ─► WAITING (nothing has come for it) ─► ENDED                                   small
 *                      └─► MOVING (granted) ─► ENDED                                             large
 * </pre>
 */
public abstract class Message extends Task {
    enum Stage {
        NEW,
        WAITING,
        ASKED,
        MOVING,
        ENDED
    }

    static final int ANY = -1;

    final boolean send;
    /** Bytes of the user's memory. */
    final long bytes;
    /** What its elements are. */
    final DataType type;

    private final Postbox postbox;
    private int peer;
    private int tag;

    Stage stage = Stage.NEW;
    /** Whether the worker moves it; else its own thread does. */
    boolean background;
    /** How many messages were posted before it. */
    long order;
    /** How long the message is that is being sent or received. */
    long total;
    /** How much of it has been copied. */
    long moved;
    /** By which number the other rank knows it. */
    int peerSlot;
    /** On this rank both sides of a message are here: the send of a receive that is moving. */
    @Nullable
    Message partner;
    /** What it will end with. */
    @Nullable
    Throwable failure;

    /** How long it may wait; 0 for as long as all messages may. */
    final long timeoutNanos;

    /** When somebody first had to wait for it; 0 before. */
    long armedAtNanos;

    @Nullable
    Message previous;

    @Nullable
    Message next;

    @Nullable
    Message previousPending;

    @Nullable
    Message nextPending;

    protected Message(Postbox postbox, boolean send, int peer, int tag, long bytes, DataType type, long timeoutNanos) {
        this.postbox = postbox;
        this.timeoutNanos = timeoutNanos;
        this.send = send;
        this.peer = peer;
        this.tag = tag;
        this.bytes = bytes;
        this.type = type;
        this.total = bytes;
    }

    /** Describes the user's memory. */
    protected abstract void describe(Operand operand);

    /** The other rank; for a receive from any source, the one it came from as soon as that is known. */
    public final int peer() {
        return peer;
    }

    /** The tag; for a receive of any tag, the one that came as soon as that is known. */
    public final int tag() {
        return tag;
    }

    /** Bytes that were received; valid after the end of a receive. */
    public final long receivedBytes() {
        return total;
    }

    final boolean takes(int givenTag) {
        return tag == givenTag || tag == ANY;
    }

    /** Whether it takes elements of a type: its own; bytes go to any, and any goes to bytes. */
    final boolean takes(DataType given) {
        return given == type || isByte(given) || isByte(type);
    }

    private static boolean isByte(DataType type) {
        return type == DataType.INT8 || type == DataType.UINT8;
    }

    final void matched(int source, int givenTag, long givenBytes) {
        peer = source;
        tag = givenTag;
        total = givenBytes;
    }

    /** For texts: what this is, without the communicator. */
    final String what() {
        return send
                ? "send of " + bytes + " bytes with " + tagText() + " to rank " + peer
                : "recv of " + tagText() + " from " + (peer == ANY ? "any rank" : "rank " + peer);
    }

    private String tagText() {
        return tag == ANY ? "any tag" : "tag " + tag;
    }

    @Override
    protected final Progress.Moving mover() {
        return postbox;
    }

    @Override
    protected final void abandon(String reason, boolean timedOut) {
        postbox.abandon(this, reason, timedOut);
    }
}
