package dev.tutti.exec;

import dev.tutti.memory.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Both ranks show each other a {@link Posts post} that has room for what they send: data and signature come together, in as few lines as can
 * be. Whoever has heard from the peer in the last launch knows that it reads no post but that one any more.
 */
final class PostExchange extends TwoWay {
    private final long post;
    private final long awaited;
    private final long send;
    private final long receive;

    private PostExchange(Shape shape, Program program, Endpoint endpoint, Swap swap) {
        super(shape, program, endpoint, swap);
        this.post = endpoint.posts.first(endpoint.rank);
        this.awaited = endpoint.posts.first(peer);
        this.send = slot(swap.sent(), swap.sent().to(), 0);
        this.receive = slot(swap.received(), swap.received().from(), 0);
    }

    static @Nullable PostExchange of(Shape shape, Program program, Endpoint endpoint) {
        Swap swap = Swap.of(program.symbolic[0], Records.POST, Records.FETCH);
        return swap == null || program.footprint > Posts.ROOM ? null : new PostExchange(shape, program, endpoint, swap);
    }

    @Override
    void run(long number) {
        int history = nextHistory();
        long launch = endpoint.launch + 1;
        long signed = signed(launch, history);
        long offset = Posts.meetingOffset(launch);
        board.publishOperation(number);
        if (sentBytes > 0) {
            Templates.copyShort(sent, send + offset, sentBytes, endpoint);
        }
        Posts.show(post + offset, signed);
        sent(number, launch, history);
        keep();
        awaitPost(awaited + offset, signed);
        if (receivedBytes > 0) {
            receive(receive + offset);
        }
        finish(launch);
    }

    /** As {@link #await}. */
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
