package dev.tutti;

import java.util.Objects;

/** Messages from one rank to another. */
abstract sealed class Messages extends ByteCollectives permits Communicator {
    Messages(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
    }

    /**
     * Sends elements to a rank. Small messages return when they are on their way, large ones when the receiver has taken them.
     * Messages between two ranks with the same tag arrive in order.
     *
     * {@snippet :
     * comm.send(activations, next, 0);
     * }
     *
     * @param buffer what to send
     * @param destination the receiving rank
     * @param tag 0 or more
     */
    public void send(Buffer buffer, int destination, int tag) {
        post(newSend(buffer, destination, tag, false), false).await();
    }

    /**
     * Starts {@link #send}.
     *
     * {@snippet :
     * Work sent = comm.sendAsync(activations, next, 0);
     * }
     *
     * @param buffer what to send; not to be changed before the end
     * @param destination the receiving rank
     * @param tag 0 or more
     * @return what to wait for
     */
    public Work sendAsync(Buffer buffer, int destination, int tag) {
        return post(newSend(buffer, destination, tag, true), true);
    }

    /**
     * Receives elements from a rank, or from any. Sender and receiver must name the same type, or one of them bytes
     * ({@link DataType#INT8} or {@link DataType#UINT8}): those go into anything, and anything goes into them. Another type is a
     * {@link MismatchException}, a message longer than the buffer or of no whole number of its elements a {@link TuttiException}; either is
     * the receiver's alone, the message is dropped, and the communicator goes on.
     *
     * {@snippet :
     * Received message = comm.recv(activations, Communicator.ANY_SOURCE, 0);
     * }
     *
     * @param buffer where they go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @param tag 0 or more, or {@link Communicator#ANY_TAG}
     * @return who sent it, with which tag, how many elements
     */
    public Received recv(Buffer buffer, int source, int tag) {
        MessageWork work = post(newRecv(buffer, source, tag, false), false);
        work.await();
        return work.received();
    }

    /**
     * Starts {@link #recv}.
     *
     * {@snippet :
     * ReceiveWork arriving = comm.recvAsync(activations, Communicator.ANY_SOURCE, 0);
     * }
     *
     * @param buffer where the elements go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @param tag 0 or more, or {@link Communicator#ANY_TAG}
     * @return what to wait for; then it knows who sent the message
     */
    public ReceiveWork recvAsync(Buffer buffer, int source, int tag) {
        return post(newRecv(buffer, source, tag, true), true);
    }

    /**
     * Sends to one rank and receives from another at the same time, which two blocking calls could not do without waiting for
     * each other.
     *
     * {@snippet :
     * comm.sendRecv(mine, right, 0, theirs, left, 0);
     * }
     *
     * @param send what to send
     * @param destination the receiving rank
     * @param sendTag 0 or more
     * @param receive where received elements go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @param receiveTag 0 or more, or {@link Communicator#ANY_TAG}
     * @return who sent what was received
     */
    public Received sendRecv(Buffer send, int destination, int sendTag, Buffer receive, int source, int receiveTag) {
        MessageWork received = newRecv(receive, source, receiveTag, false);
        MessageWork sent = newSend(send, destination, sendTag, false);
        postBoth(received, sent, false);
        received.join(Long.MAX_VALUE);
        sent.join(Long.MAX_VALUE);
        Works.rethrow(received.error());
        Works.rethrow(sent.error());
        return received.received();
    }

    /**
     * Starts {@link #sendRecv}.
     *
     * {@snippet :
     * ReceiveWork exchange = comm.sendRecvAsync(mine, right, 0, theirs, left, 0);
     * }
     *
     * @param send what to send; not to be changed before the end
     * @param destination the receiving rank
     * @param sendTag 0 or more
     * @param receive where received elements go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @param receiveTag 0 or more, or {@link Communicator#ANY_TAG}
     * @return what to wait for; then it knows who sent what was received
     */
    public ReceiveWork sendRecvAsync(
            Buffer send, int destination, int sendTag, Buffer receive, int source, int receiveTag) {
        MessageWork received = newRecv(receive, source, receiveTag, true);
        MessageWork sent = newSend(send, destination, sendTag, true);
        postBoth(received, sent, true);
        return new ExchangeWork(received, sent);
    }

    /**
     * Prepares {@link #send} for many runs.
     *
     * {@snippet :
     * Prepared forward = comm.prepareSend(activations, next, 0);
     * }
     *
     * @param buffer what to send
     * @param destination the receiving rank
     * @param tag 0 or more
     * @return what to run
     */
    public Prepared prepareSend(Buffer buffer, int destination, int tag) {
        newSend(buffer, destination, tag, true);
        return new PreparedMessages(() -> sendAsync(buffer, destination, tag));
    }

    /**
     * Prepares {@link #recv} for many runs. What {@link Prepared#start} returns is a {@link ReceiveWork}.
     *
     * {@snippet :
     * Prepared arrival = comm.prepareRecv(activations, previous, 0);
     * }
     *
     * @param buffer where the elements go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @param tag 0 or more, or {@link Communicator#ANY_TAG}
     * @return what to run
     */
    public Prepared prepareRecv(Buffer buffer, int source, int tag) {
        newRecv(buffer, source, tag, true);
        return new PreparedMessages(() -> recvAsync(buffer, source, tag));
    }

    /**
     * Prepares {@link #sendRecv} for many runs. What {@link Prepared#start} returns is a {@link ReceiveWork}.
     *
     * {@snippet :
     * Prepared halo = comm.prepareSendRecv(mine, right, 0, theirs, left, 0);
     * }
     *
     * @param send what to send
     * @param destination the receiving rank
     * @param sendTag 0 or more
     * @param receive where received elements go
     * @param source the sending rank, or {@link Communicator#ANY_SOURCE}
     * @param receiveTag 0 or more, or {@link Communicator#ANY_TAG}
     * @return what to run
     */
    public Prepared prepareSendRecv(
            Buffer send, int destination, int sendTag, Buffer receive, int source, int receiveTag) {
        newRecv(receive, source, receiveTag, true);
        newSend(send, destination, sendTag, true);
        return new PreparedMessages(() -> sendRecvAsync(send, destination, sendTag, receive, source, receiveTag));
    }

    /** Checks a send; {@link #post} starts it. */
    MessageWork newSend(Buffer buffer, int destination, int tag, boolean background) {
        Objects.requireNonNull(buffer, "buffer");
        member.arguments().requireRank(destination, "destination");
        requireTag(tag, false);
        member.arguments().check(buffer, false, background);
        return new MessageWork(self(), true, buffer, destination, tag);
    }

    /** Checks a receive; {@link #post} starts it. */
    MessageWork newRecv(Buffer buffer, int source, int tag, boolean background) {
        Objects.requireNonNull(buffer, "buffer");
        if (source != Communicator.ANY_SOURCE) {
            member.arguments().requireRank(source, "source");
        }
        requireTag(tag, true);
        member.arguments().check(buffer, true, background);
        return new MessageWork(self(), false, buffer, source, tag);
    }

    /** Starts a message; if it is not to go on in the background, the caller must wait for it at once. */
    MessageWork post(MessageWork work, boolean background) {
        schedule.requireActive();
        work.retain();
        start(work, background);
        return work;
    }

    /** Starts the two messages of an exchange, or neither. */
    private void postBoth(MessageWork received, MessageWork sent, boolean background) {
        schedule.requireActive();
        received.retain();
        try {
            sent.retain();
        } catch (IllegalStateException closed) {
            received.finished();
            throw closed;
        }
        start(received, background);
        start(sent, background);
    }

    private void start(MessageWork work, boolean background) {
        member.postbox().post(work, background || Thread.currentThread().isVirtual());
    }

    private void requireTag(int tag, boolean any) {
        if (tag < 0 && !(any && tag == Communicator.ANY_TAG)) {
            throw member.arguments().wrong("tag must be 0 or more" + (any ? " or ANY_TAG" : "") + ", got " + tag);
        }
    }
}
