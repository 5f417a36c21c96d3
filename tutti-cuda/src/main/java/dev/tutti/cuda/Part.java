package dev.tutti.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * What differs when the ranks of a launch are processes: each launches its part of the grid, and they meet before they touch each
 * other's memory and after. The layout is that of {@code Meeting} in {@code meeting.cuh}.
 */
final class Part {
    /** Ranks that a meeting has room for. */
    static final int MOST_RANKS = 96;

    /** Messages from one rank to another in one launch. */
    static final int MOST_TIMES = 255;

    static final int MEETING_BYTES = 72 + MOST_RANKS;

    private static final int LARGE_THREADS = 512;
    private static final int SMALL_THREADS = 128;
    private static final int VECTOR_BYTES = 16;
    private static final int ONE_BLOCK_VECTORS = 1024;
    private static final int TIMES = 72;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** Where the counters of a rank are; see {@link Control}. */
    record Place(long lines, long others, long ended, long hostWords) {}

    private final Place place;
    private final int part;
    private final int parts;
    private final int blocks;
    private final byte[] times;
    private final long patienceNanos;
    private final int delays;
    private final long called;
    private final int apart;
    private final byte @Nullable [] receives;

    /**
     * Makes a part.
     *
     * @param blocks that this rank may have waiting on the device at once
     * @param times for each rank 1 if it is met, else 0; for messages how many are sent to each
     * @param delays a seed for delays on the device, 0 for none
     * @param called what ranks that meet must agree on; 0 for nothing
     * @param receives for messages: how many are received of each rank; else null
     * @param apart whether they share a device, as {@link dev.tutti.cuda.kernel.KernelSet} says it
     */
    Part(
            Place place,
            int part,
            int parts,
            int blocks,
            byte[] times,
            long patienceNanos,
            int delays,
            long called,
            byte @Nullable [] receives,
            int apart) {
        this.place = place;
        this.part = part;
        this.parts = parts;
        this.blocks = blocks;
        this.times = times.clone();
        this.patienceNanos = patienceNanos;
        this.delays = delays;
        this.called = called;
        this.receives = receives == null ? null : receives.clone();
        this.apart = apart;
    }

    boolean isMessages() {
        return receives != null;
    }

    int apart() {
        return apart;
    }

    /** A launch of a kernel whose parameters end with a meeting. All ranks get the same grid for the same data. */
    Step step(long function, MemorySegment args, long bytes, int rows, int columns) {
        long vectors = Math.max(1, (bytes + VECTOR_BYTES - 1) / VECTOR_BYTES);
        int threads = vectors * rows * columns < 2L * blocks * parts * LARGE_THREADS ? SMALL_THREADS : LARGE_THREADS;
        int y = Math.min(rows, blocks);
        int z = Math.min(columns, Math.max(1, blocks / y));
        long most = Math.max(1, blocks / (y * z));
        if (rows * columns == 1 && vectors <= (long) ONE_BLOCK_VECTORS * parts) {
            // One block has nobody to tell the others for.
            threads = LARGE_THREADS;
            most = 1;
        }
        long needed = (vectors + (long) threads * parts - 1) / ((long) threads * parts);
        int tail = MEETING_BYTES + (receives == null ? 0 : MOST_RANKS);
        MemorySegment all = Arena.ofAuto().allocate(args.byteSize() + tail, 16);
        all.copyFrom(args);
        write(all.asSlice(args.byteSize()), rows, columns);
        return new Step(function, (int) Math.min(needed, most), y, z, threads, all);
    }

    void write(MemorySegment meeting, int rows, int columns) {
        meeting.set(LONG, 0, place.lines());
        meeting.set(LONG, 8, place.others());
        meeting.set(LONG, 16, place.ended());
        meeting.set(LONG, 24, place.hostWords());
        meeting.set(LONG, 32, patienceNanos);
        meeting.set(LONG, 40, called);
        meeting.set(INT, 48, part);
        meeting.set(INT, 52, parts);
        meeting.set(INT, 56, rows);
        meeting.set(INT, 60, columns);
        meeting.set(INT, 64, times.length);
        meeting.set(INT, 68, delays);
        MemorySegment.copy(times, 0, meeting, ValueLayout.JAVA_BYTE, TIMES, times.length);
        if (receives != null) {
            MemorySegment.copy(receives, 0, meeting, ValueLayout.JAVA_BYTE, MEETING_BYTES, receives.length);
        }
    }
}
