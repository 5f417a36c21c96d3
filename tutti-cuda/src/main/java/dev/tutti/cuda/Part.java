package dev.tutti.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What differs when the ranks of a launch are processes: each launches its part of the grid, and they meet before they touch each
 * other's memory and after. The layout is that of {@code Meeting} in {@code meeting.cuh}.
 */
final class Part {
    /** Ranks that a meeting has room for. */
    static final int MOST_RANKS = 96;

    /** Blocks of a rank that a meeting has room for. */
    static final int MOST_BLOCKS = 512;

    /** Messages from one rank to another in one launch. */
    static final int MOST_TIMES = 255;

    static final int MEETING_BYTES = 72;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /**
     * Whose part it is.
     *
     * @param rank who
     * @param ranks how many there are
     * @param meets whether they wait for each other on the device
     * @param apart whether they share a device, as {@link dev.tutti.cuda.kernel.KernelSet} says it
     * @param blocks that each may have waiting on the device at once
     */
    record Ranks(int rank, int ranks, boolean meets, int apart, int blocks) {}

    /** How many messages this rank sends to each and receives of each. */
    record Messages(byte[] sends, byte[] receives) {}

    private final Control.Place place;
    private final Ranks ranks;
    private final long patienceNanos;
    private final int delays;
    private final long called;
    private final @Nullable Messages messages;

    /**
     * Makes a part.
     *
     * @param place where the counters of this rank are
     * @param delays a seed for delays on the device, 0 for none
     * @param called what ranks that meet must agree on; 0 for nothing
     * @param messages null: a collective, whose work the ranks share
     */
    Part(Control.Place place, Ranks ranks, long patienceNanos, int delays, long called, @Nullable Messages messages) {
        this.place = place;
        this.ranks = ranks;
        this.patienceNanos = patienceNanos;
        this.delays = delays;
        this.called = called;
        this.messages = messages;
    }

    boolean isMessages() {
        return messages != null;
    }

    int apart() {
        return ranks.apart();
    }

    int ranks() {
        return ranks.ranks();
    }

    /**
     * A launch of a kernel whose parameters end with a meeting. All ranks divide the same data in the same way: blocks take the cells'
     * blocks, as one launch would have them, in turn.
     *
     * @param places of a kernel of messages; else 0
     */
    Step step(long function, MemorySegment args, long bytes, int rows, int columns, int vectors, int places) {
        int parts = messages == null ? ranks.ranks() : 1;
        int cells = rows * columns;
        long atOnce = (long) ranks.blocks() * parts;
        Grid grid = Grid.shared(bytes, cells, vectors, atOnce);
        long needed = ((long) grid.blocks() * cells + parts - 1) / parts;
        int blocks = (int) Math.min(needed, ranks.blocks());
        MemorySegment all = Arena.ofAuto().allocate(args.byteSize() + MEETING_BYTES + 2L * places, 16);
        all.copyFrom(args);
        write(all.asSlice(args.byteSize()), grid.blocks(), rows, columns);
        if (messages != null) {
            writeMessages(all.asSlice(args.byteSize() + MEETING_BYTES), places);
        }
        return new Step(function, blocks, 1, 1, grid.threads(), all);
    }

    /** What a kernel of messages has behind its meeting. */
    void writeMessages(MemorySegment ends, int places) {
        Messages counts = Objects.requireNonNull(messages);
        MemorySegment.copy(counts.sends(), 0, ends, ValueLayout.JAVA_BYTE, 0, counts.sends().length);
        MemorySegment.copy(counts.receives(), 0, ends, ValueLayout.JAVA_BYTE, places, counts.receives().length);
    }

    void write(MemorySegment meeting, int across, int rows, int columns) {
        boolean shares = messages == null;
        meeting.set(LONG, 0, place.own());
        meeting.set(LONG, 8, place.all());
        meeting.set(LONG, 16, place.hostWords());
        meeting.set(LONG, 24, patienceNanos);
        meeting.set(LONG, 32, called);
        meeting.set(INT, 40, ranks.rank());
        meeting.set(INT, 44, ranks.meets() ? ranks.ranks() : 0);
        meeting.set(INT, 48, shares ? ranks.rank() : 0);
        meeting.set(INT, 52, shares ? ranks.ranks() : 1);
        meeting.set(INT, 56, across);
        meeting.set(INT, 60, rows);
        meeting.set(INT, 64, columns);
        meeting.set(INT, 68, delays);
    }
}
