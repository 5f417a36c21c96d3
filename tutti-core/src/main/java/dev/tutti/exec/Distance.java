package dev.tutti.exec;

import dev.tutti.memory.Memory;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether two ranks are far from each other: on cores that share no cache. There, reading what a peer has just written takes ten times
 * as long, and plans that read a peer's memory lose to those that only write it. Where cores are is nobody's choice, and changes
 * while ranks run.
 *
 * <p>Both must run the same plan, so neither can decide alone. They count what they call on registered memory, which gives the
 * same on both; before the call that makes it {@link #BYTES} more, both look:
 *
 * <pre>
 *   write a block of the own packets, which the next launch does not use
 *   a small call                      now the peer has done so, too
 *   time copies of the peer's block, which is in its nearest cache
 *   a small call                      far, from this call on, if either has found so
 * </pre>
 *
 * Only for two ranks: they fold in one order only, so that the choice changes no bit.
 */
final class Distance implements Agreement.Question {
    private static final long BYTES = 8 << 20;

    /** Plans of shorter calls are the same near and far. */
    private static final long SHORTEST = 2 << 10;

    private static final long LINE_BYTES = 64;
    private static final long BLOCK_BYTES = 4 << 10;

    /** Copies of one block. Only the fastest counts, as the others may have been interrupted. */
    private static final int LOOKS = 2;

    /** For the whole block: near it takes 0.1 to 0.5 microseconds, and from some far cores 2; from others less, and they are taken for near. */
    private static final long FAR_NANOS = 1_000;

    private static final int SHOW = 0;
    private static final int LOOK = 1;
    private static final int AGREE = 2;

    /** Tests have their own. */
    LongSupplier clock = System::nanoTime;

    long period = BYTES;

    private final Endpoint endpoint;
    private final Agreement agreement = new Agreement();
    private long bytesToLook;
    private int step;
    private boolean far;

    Distance(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** Whether one of them has said that they are far from each other. The same on both. */
    boolean isFar() {
        return far;
    }

    /** Whether calls of a shape count: the same on both, whatever plan they take. */
    static boolean counts(Shape shape, Call call, int ranks) {
        return ranks == 2 && shape.registered && !call.isPairwise() && shape.longestBytes >= SHORTEST;
    }

    /** Counts a call of a shape that counts; if it is time to look before it, it is until {@link #begin}. */
    boolean isDue(Shape shape) {
        return (bytesToLook -= shape.longestBytes) < 0;
    }

    /** Begins to look. */
    Distance begin() {
        bytesToLook = period;
        step = SHOW;
        return this;
    }

    @Override
    public @Nullable Call next() {
        switch (step++) {
            case SHOW -> {
                touch(block(endpoint.rank, endpoint.launch));
                return agreement.about(0, endpoint.size);
            }
            case LOOK -> {
                return agreement.about(looksFar() ? 1 : 0, endpoint.size);
            }
            case AGREE -> far = agreement.agreed() != 0;
            default -> throw new IllegalStateException("step " + step);
        }
        return null;
    }

    private boolean looksFar() {
        long block = block(endpoint.rank ^ 1, endpoint.launch - 1);
        long tile = endpoint.tileAddress;
        // Nothing but the way between the caches is to be timed: not the own tile's lines, nor what translates
        // addresses.
        touch(tile);
        Memory.copy(block, tile, LINE_BYTES);
        long piece = (blockBytes() - LINE_BYTES) / LOOKS;
        long least = Long.MAX_VALUE;
        for (long at = LINE_BYTES; at + piece <= blockBytes(); at += piece) {
            long start = clock.getAsLong();
            Memory.copy(block + at, tile, piece);
            least = Math.min(least, clock.getAsLong() - start);
        }
        return least * LOOKS > FAR_NANOS;
    }

    /**
     * A block of a rank's packets of the parity of the last launch before the small call: they have been read, and are written again
     * only by whoever looks at the block, after that.
     */
    private long block(int rank, long lastLaunch) {
        return endpoint.packets(rank, (int) lastLaunch & 1);
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
}
