package dev.tutti.exec;

import dev.tutti.channel.Bell;
import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;

/**
 * Where the ranks of a plan meet: before it reaches into their buffers, after it has, and when packet flags wrap. Whoever comes says
 * where its buffers are. A rank can be ahead of another by one meeting at most, so two places for what it says are enough.
 *
 * <pre>
 *   one line pair per peer:  +0 meetings that the peer has come to | +16, +24 its input and output, even meeting | +32, +40 odd
 * </pre>
 */
final class PlanDoor {
    private static final int SAID = 16;

    private final Bell bell;
    private final int rank;
    private final long[] lines;
    private long meeting;

    /** Doors begin at these addresses, one per rank. */
    PlanDoor(int rank, long[] lines, Bell bell) {
        this.bell = bell;
        this.rank = rank;
        this.lines = lines;
    }

    /** Bytes that a rank needs for its door. */
    static long bytes(int ranks) {
        return (long) ranks * RegionLayout.LINE;
    }

    /** Comes to the next meeting; the release pairs with the acquire in {@link #missing}. */
    void arrive(long input, long output) {
        meeting++;
        for (int peer = 0; peer < lines.length; peer++) {
            long line = lines[peer] + (long) rank * RegionLayout.LINE;
            long said = line + SAID + ((meeting & 1) << 4);
            Memory.putLong(said, input);
            Memory.putLong(said + 8, output);
            Memory.putLongRelease(line, meeting);
        }
        bell.ringOthers();
    }

    /** A rank that has not come yet, or -1. */
    int missing() {
        for (int peer = 0; peer < lines.length; peer++) {
            if (Memory.getLongAcquire(lines[rank] + (long) peer * RegionLayout.LINE) < meeting) {
                return peer;
            }
        }
        return -1;
    }

    /** What a rank said of its input when it came. */
    long input(int peer) {
        return Memory.getLong(said(peer));
    }

    /** What a rank said of its output when it came. */
    long output(int peer) {
        return Memory.getLong(said(peer) + 8);
    }

    private long said(int peer) {
        return lines[rank] + (long) peer * RegionLayout.LINE + SAID + ((meeting & 1) << 4);
    }
}
