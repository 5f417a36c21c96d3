package dev.tutti.exec;

/**
 * Both ranks show each other a {@link Posts post} that has room for what they send: data and signature come together, in as few lines as can
 * be. Whoever has heard from the peer in the last launch knows that it reads no post but that one any more.
 */
final class PostExchange extends Moving {
    private final FirstLook firstLook = new FirstLook();
    private final int postBytes;

    PostExchange(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        super(shape, program, endpoint, parts);
        this.postBytes = Posts.head(program.footprint) + sentBytes;
    }

    @Override
    void run(long number) {
        long signed = announce(number);
        long launch = endpoint.launch;
        long offset = Posts.meetingOffset(launch);
        if (sentBytes >= Stores.SMALLEST) {
            endpoint.stores.toSlot(sent, sentTo(0) + offset, sentBytes);
        } else if (sentBytes > 0) {
            Templates.copyShort(sent, sentTo(0) + offset, sentBytes, endpoint);
        }
        show(number, launch, signed, postBytes);
        keep();
        awaitPost(firstLook, awaitedPost(launch), signed);
        if (receivedBytes > 0) {
            receive(receivedFrom(0) + offset);
        }
        finish(launch);
    }
}
