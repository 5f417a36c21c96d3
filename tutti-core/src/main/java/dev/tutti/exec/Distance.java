package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import java.util.function.LongSupplier;

/**
 * Whether two ranks are far from each other: on cores that share no cache. There, reading what a peer has just written takes ten times
 * as long, and plans that read a peer's memory lose to those that only write it. Where cores are is nobody's choice, and changes
 * while ranks run.
 *
 * <p>Both must run the same plan, so neither can decide alone. They count what they call on registered memory, which gives the
 * same on both; whenever that is {@link #BYTES} more, both look, and tell each other what they found the time before:
 *
 * <pre>
 *   show      write a block of the own packets, which this launch does not use; tell what was found last
 *   look      time a copy of the peer's block, which is in its nearest cache
 *   agree     far, from the next call on, if either has said so
 * </pre>
 *
 * Only for two ranks: they fold in one order only, so that the choice changes no bit.
 */
final class Distance {
    private static final long BYTES = 16 << 20;

    private static final long LINE_BYTES = 64;
    private static final long BLOCK_BYTES = 4 << 10;

    /** Near it takes 0.1 to 0.5 microseconds, far 2. */
    private static final long FAR_NANOS = 1_000;

    /** Tests have their own. */
    LongSupplier clock = System::nanoTime;

    long period = BYTES;

    private final Endpoint endpoint;
    private final int peer;
    private long bytesToLook;
    private boolean due;
    private boolean looked;
    private boolean found;
    private boolean foundBefore;
    private boolean said;
    private boolean far;

    Distance(Endpoint endpoint) {
        this.endpoint = endpoint;
        this.peer = endpoint.rank ^ 1;
    }

    /** Whether one of them has said that they are far from each other. The same on both. */
    boolean isFar() {
        return far;
    }

    /** Whether calls of a shape count: the same on both, whatever plan they take. */
    static boolean counts(Shape shape, Call call, int ranks) {
        return ranks == 2 && shape.registered && !call.isPairwise() && !shape.posts && shape.part.packetChunks() == 0;
    }

    /** Counts a call. */
    void begin(Shape shape) {
        if (shape.counts && (bytesToLook -= shape.longestBytes) < 0) {
            bytesToLook = period;
            due = true;
            looked = false;
        }
    }

    /** Before the first signal of a launch. */
    void show() {
        if (due) {
            // One that was interrupted does not count.
            said = found && foundBefore;
            touch(endpoint.packets(endpoint.rank, parity()));
            Memory.putLong(endpoint.outbound(peer, 0) + word(), said ? 1 : 0);
        }
    }

    /** After the peer's first signal; soon, so that the block is still where it was written. */
    void look() {
        if (due && !looked) {
            looked = true;
            long block = endpoint.packets(peer, parity());
            long tile = endpoint.tileAddress;
            // Nothing but the way between the caches is to be timed: not the own tile's lines, nor what translates
            // addresses.
            touch(tile);
            Memory.copy(block, tile, LINE_BYTES);
            long start = clock.getAsLong();
            Memory.copy(block + LINE_BYTES, tile, blockBytes() - LINE_BYTES);
            foundBefore = found;
            found = clock.getAsLong() - start > FAR_NANOS;
        }
    }

    /**
     * After the peer's last signal, before this rank says that it has finished the launch.
     *
     * @return whether something has changed
     */
    boolean agree() {
        if (!due) {
            return false;
        }
        look();
        due = false;
        boolean before = far;
        far = said || Memory.getLong(endpoint.inbound(peer, 0) + word()) != 0;
        return far != before;
    }

    /** Takes every line of a block into the nearest cache, to write it. */
    private void touch(long block) {
        for (long at = 0; at < blockBytes(); at += LINE_BYTES) {
            Memory.putLong(block + at, 0);
        }
    }

    private long blockBytes() {
        return Math.min(BLOCK_BYTES, endpoint.fabric.layout().packetBytes());
    }

    private long word() {
        return RegionLayout.DISTANCE + ((long) parity() << 3);
    }

    private int parity() {
        return (int) endpoint.launch & 1;
    }
}
