package dev.tutti.exec;

import dev.tutti.memory.Memory;

/**
 * A {@link Handover} that is {@link Posts posted}: a broadcast of a few kilobytes at most.
 *
 * <p>Lines come from the core of whoever gives one after the other, each as late as if it were the only one, unless whoever takes asks for several at once. So
 * it looks at the next few posts together, as long as they are there: a look that comes too soon takes a line away that is about to be written.
 */
final class PostHandover extends Moving {
    /** How many posts are looked at together. */
    private static final int AT_ONCE = 4;

    /** For how many launches nobody looks ahead after a look that came too soon. */
    private static final int APART = 64;

    private final boolean gives;
    private final Posts posts;
    private final Posts.Kind kind;
    private final long post;
    /** The first launch whose post has not been looked at ahead of its time. */
    private long unseen;

    PostHandover(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        super(shape, program, endpoint, parts);
        this.gives = parts.telling >= 0;
        this.posts = endpoint.posts;
        this.kind = posts.kind(program);
        this.post = gives ? posts.first(endpoint.rank) : program.symbolic[0][parts.waiting + 1];
    }

    @Override
    void run(long number) {
        long signed = begin(number);
        long launch = endpoint.launch;
        if (gives) {
            give(launch, signed);
        } else {
            take(launch, signed);
        }
        board.publishFinished(launch);
        endpoint.bell.ringOthers();
    }

    private void give(long launch, long signed) {
        if (!posts.isKnownFree(program)) {
            awaitRoom();
        }
        long place = sentTo(0) + posts.take(program);
        if (sentBytes < Stores.SMALLEST) {
            Templates.copyShort(sent, place, sentBytes, endpoint);
        } else {
            endpoint.stores.toBusyPeersSlot(sent, place, sentBytes);
        }
        Posts.show(post + kind.at(launch), signed);
        keep();
    }

    private void awaitRoom() {
        for (int turn = 0; !endpoint.mayWrite(program); ) {
            turn = stall.pause(turn);
        }
    }

    private void take(long launch, long signed) {
        long place = receivedFrom(0) + posts.take(program);
        if (Memory.getLongAcquire(post + kind.at(launch)) != signed) {
            posts.await(program.symbolic[0], parts.waiting);
            unseen = launch + APART;
        } else if (launch >= unseen) {
            unseen = launch + (areNextThere(launch) ? AT_ONCE : APART);
        }
        receive(place);
    }

    private boolean areNextThere(long launch) {
        int there = 1;
        for (int i = 1; i < AT_ONCE; i++) {
            long word = Memory.getLongOpaque(post + kind.at(launch + i));
            there += (int) (word >>> 32) == (int) (launch + i) ? 1 : 0;
        }
        return there == AT_ONCE;
    }
}
