package dev.tutti.bench.overhead;

import dev.tutti.DataType;
import dev.tutti.memory.Memory;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import dev.tutti.spi.RegionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * What somebody would write by hand for two ranks of one process, with the protocols that Tutti uses and nothing else: what ranks
 * must agree on travels beside the counter and in front of what is posted, and is compared; but no lock, no checks of arguments, no plan, no
 * board, no deadline. The floor for {@link OverheadProcess}.
 */
final class HandWritten {
    private static final int POSTS = 32 << 10;
    private static final int SLOTS = 64 << 10;
    private static final int SLOTS_BYTES = 2 << 20;
    /** From so many bytes on slots go round. */
    private static final int ROTATED = 2 << 10;

    /** Up to so many bytes a loop over words is faster than a call. */
    private static final int FEW_BYTES = 32;

    /** How many multiplications a first look waits for at most, as Tutti's do, and how these limits are tried. */
    private static final int[] LIMITS = {15, 30, 60, 160};

    private static final int WINDOW = 64;
    private static final int TURNS = 3;
    private static final int MOST_BETWEEN = 1 << 17;

    private static final int SLOT_GAP = 1 << 10;
    private static final int KERNEL = Kernels.id(DataType.FLOAT32, Fold.SUM);

    private final long own;
    private final long peer;
    private final long ownSlots;
    private final long peerSlots;
    private final long ownCounter;
    private final long peerCounter;
    private final boolean first;
    private final long[] sources = new long[2];
    /** How many multiplications a first look waits for. */
    private int multiplications;
    /** What they multiply; only the compiler does not know. */
    private long zero;

    private final int[] learned = new int[LIMITS.length];
    private int chosen = 1;
    private final long[] nanos = new long[LIMITS.length];
    private int left = WINDOW;
    private int windows = -1;
    private int between = 1 << 11;
    private long began;

    private int launch;
    private int history;

    /** One rank's side, of memory that outlives it. */
    HandWritten(MemorySegment own, MemorySegment peer, boolean first) {
        this.own = own.address();
        this.peer = peer.address();
        this.ownCounter = own.address();
        this.peerCounter = peer.address();
        this.ownSlots = own.address() + SLOTS;
        this.peerSlots = peer.address() + SLOTS;
        this.first = first;
    }

    /** What each rank needs. */
    static MemorySegment memory(Arena arena) {
        return arena.allocate(SLOTS + 2 * SLOTS_BYTES, 4096);
    }

    /** Launch number and a digest of all calls so far: what both ranks must agree on. */
    private long signed(int digest) {
        history = (history ^ digest) * 0x9E3779B1;
        return (long) launch << 32 | (history & 0xFFFFFFFFL);
    }

    private static void requireAgreement(long theirs, long ours) {
        if (theirs != ours) {
            throw new IllegalStateException("ranks disagree");
        }
    }

    /**
     * One-shot exchange of posts, each in the memory of whoever writes it, up to 1 KB of float32: signature and data side by side, and the lines
     * of the next post taken back before they are needed.
     */
    void post(long address, int bytes) {
        int number = ++launch;
        int head = bytes <= RegionLayout.POST_ROOM ? 8 : RegionLayout.POST_LINE;
        long signed = signed(bytes);
        copy(address, own + place(number) + head, bytes);
        show(number, signed, head + bytes);
        if (!isThere(peer + place(number), signed)) {
            requirePost(number, signed);
        }
        fold(address, peer + place(number) + head, bytes);
    }

    private static void copy(long from, long to, int bytes) {
        if (bytes > FEW_BYTES) {
            Memory.copy(from, to, bytes);
            return;
        }
        for (int at = 0; at < bytes; at += 8) {
            Memory.putLong(to + at, Memory.getLong(from + at));
        }
    }

    private static long place(int number) {
        return POSTS + (number & (RegionLayout.MEETINGS - 1)) * (long) RegionLayout.MEETING_POST_BYTES;
    }

    private void show(int number, long signed, int bytes) {
        Memory.putLongRelease(own + place(number), signed);
        long next = own + place(number + 1);
        for (long line = next; line < next + bytes; line += RegionLayout.POST_LINE) {
            Memory.putLong(line, 0);
        }
    }

    /** The first look, made when what the peer writes is likely to be there, learned as Tutti learns it: one that came too soon makes the next ones later. */
    private boolean isThere(long address, long awaited) {
        if (--left == 0) {
            nextWindow();
        }
        long later = zero;
        for (int i = 0; i < multiplications; i++) {
            later *= later;
        }
        long theirs = Memory.getLongAcquire(address + later);
        if (theirs != awaited) {
            multiplications = Math.min(multiplications + 4, LIMITS[chosen]);
            Thread.onSpinWait();
            return false;
        }
        zero = theirs - awaited;
        if ((left & 15) == 0 && multiplications > 0) {
            multiplications -= 1 + multiplications / 16;
        }
        return true;
    }

    private void nextWindow() {
        long now = System.nanoTime();
        if (windows >= 0) {
            nanos[chosen] += now - began;
        }
        began = now;
        windows++;
        learned[chosen] = multiplications;
        if (windows < TURNS * LIMITS.length) {
            chosen = windows % LIMITS.length;
            left = WINDOW;
        } else {
            for (int i = 0; i < LIMITS.length; i++) {
                chosen = nanos[i] < nanos[chosen] ? i : chosen;
            }
            Arrays.fill(nanos, 0);
            windows = -1;
            left = between;
            between = Math.min(2 * between, MOST_BETWEEN);
        }
        multiplications = learned[chosen];
    }

    private void requirePost(int number, long signed) {
        long theirs = Memory.getLongAcquire(peer + place(number));
        while ((int) (theirs >>> 32) != number) {
            Thread.onSpinWait();
            theirs = Memory.getLongAcquire(peer + place(number));
        }
        requireAgreement(theirs, signed);
    }

    /** One-shot exchange through a slot and a counter, up to 32 KB of float32. */
    void slot(long address, int bytes) {
        int number = ++launch;
        int stride = bytes + SLOT_GAP;
        int turn = bytes < ROTATED ? 0 : (number >>> 1) % (SLOTS_BYTES / stride);
        long slot = (number & 1) * (long) SLOTS_BYTES + turn * (long) stride;
        Memory.copyString(address, peerSlots + slot, bytes);
        meet(number, bytes);
        fold(address, ownSlots + slot, bytes);
    }

    private void fold(long address, long theirs, int bytes) {
        if (bytes <= FEW_BYTES) {
            for (int at = 0; at < bytes; at += 4) {
                float mine = Memory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address + at);
                float other = Memory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, theirs + at);
                Memory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address + at, mine + other);
            }
            return;
        }
        sources[first ? 0 : 1] = address;
        sources[first ? 1 : 0] = theirs;
        Kernels.reduce(KERNEL, sources, 0, 2, 0, address, bytes >> 2, 0, -1);
    }

    void barrier() {
        int number = ++launch;
        long signed = signed(0);
        show(number, signed, 1);
        if (!isThere(peer + place(number), signed)) {
            requirePost(number, signed);
        }
    }

    private void meet(int number, int digest) {
        long place = 8 + ((number & 1) << 3);
        long signed = signed(digest);
        Memory.putLong(peerCounter + place, signed);
        Memory.putLongRelease(peerCounter, number);
        if (!isThere(ownCounter, number)) {
            while ((int) Memory.getLongAcquire(ownCounter) - number < 0) {
                Thread.onSpinWait();
            }
        }
        requireAgreement(Memory.getLong(ownCounter + place), signed);
    }
}
