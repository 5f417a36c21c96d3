package dev.tutti.exec;

import dev.tutti.memory.Memory;

/**
 * Both ranks show each other a {@link Posts post} that has room for what they send: data and signature come together, in as few lines as can
 * be. Whoever has heard from the peer in the last launch knows that it reads no post but that one any more.
 */
final class PostExchange extends Moving {
    private final long post;
    private final long awaited;

    PostExchange(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        super(shape, program, endpoint, parts);
        this.post = endpoint.posts.first(endpoint.rank);
        this.awaited = endpoint.posts.first(peer);
    }

    @Override
    void run(long number) {
        long signed = begin(number);
        long launch = endpoint.launch;
        long offset = Posts.meetingOffset(launch);
        if (sentBytes > 0) {
            Templates.copyShort(sent, sentTo(0) + offset, sentBytes, endpoint);
        }
        Posts.show(post + offset, signed);
        wake();
        keep();
        awaitPost(awaited + offset, signed);
        if (receivedBytes > 0) {
            receive(receivedFrom(0) + offset);
        }
        finish(launch);
    }

    /** As {@link #await(long, long)}. */
    private void awaitPost(long address, long signed) {
        for (int turn = 0; turn < turns; turn++) {
            if (Memory.getLongAcquire(address) == signed) {
                return;
            }
            Thread.onSpinWait();
        }
        awaitPostPatiently(address, signed);
    }

    private void awaitPostPatiently(long address, long signed) {
        for (int turn = turns; ; turn++) {
            long word = Memory.getLongAcquire(address);
            if (word == signed) {
                return;
            }
            if (word >>> 32 == signed >>> 32) {
                throw stall.mismatch();
            }
            pause(turn);
        }
    }
}
