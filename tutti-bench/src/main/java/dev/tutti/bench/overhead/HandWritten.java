package dev.tutti.bench.overhead;

import dev.tutti.DataType;
import dev.tutti.memory.Memory;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What somebody would write by hand for two ranks of one process, with the protocols that Tutti uses and nothing else: what ranks
 * must agree on travels before the packets, beside the counter and in front of what is posted, and is compared; but no lock, no checks of arguments, no plan, no
 * board, no deadline. The floor for {@link OverheadProcess}.
 */
final class HandWritten {
    private static final int POSTS = 32 << 10;
    private static final int SLOTS = 64 << 10;
    private static final int SLOTS_BYTES = 2 << 20;
    /** From so many bytes on slots go round. */
    private static final int ROTATED = 2 << 10;

    private static final int SLOT_GAP = 1 << 10;
    private static final int KERNEL = Kernels.id(DataType.FLOAT32, Fold.SUM);

    private final long own;
    private final long peer;
    private final long ownPackets;
    private final long peerPackets;
    private final long ownSlots;
    private final long peerSlots;
    private final long ownCounter;
    private final long peerCounter;
    private final boolean first;
    private final long[] sources = new long[2];
    private int launch;
    private int history;

    /** One rank's side, of memory that outlives it. */
    HandWritten(MemorySegment own, MemorySegment peer, boolean first) {
        this.own = own.address();
        this.peer = peer.address();
        this.ownCounter = own.address();
        this.peerCounter = peer.address();
        this.ownPackets = own.address() + 4096;
        this.peerPackets = peer.address() + 4096;
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

    /** One-shot exchange of packets, up to 256 bytes of float32. */
    void packets(long address, int bytes) {
        int flag = ++launch;
        long half = 8 + ((flag & 1) << 11);
        long high = (long) flag << 32;
        int words = bytes >> 2;
        long signed = signed(bytes);
        Memory.putLongRelease(peerPackets + half - 8, signed);
        for (int i = 0; i < words; i++) {
            long data = Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address + 4L * i) & 0xFFFFFFFFL;
            Memory.putLongRelease(peerPackets + half + 8L * i, high | data);
        }
        long theirs;
        do {
            theirs = Memory.getLongAcquire(ownPackets + half - 8);
        } while ((int) (theirs >>> 32) != flag);
        requireAgreement(theirs, signed);
        for (int i = 0; i < words; i++) {
            long word;
            do {
                word = Memory.getLongAcquire(ownPackets + half + 8L * i);
            } while ((int) (word >>> 32) != flag);
            float mine = Memory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address + 4L * i);
            Memory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address + 4L * i, mine + Float.intBitsToFloat((int) word));
        }
    }

    /** One-shot exchange of posts, each in the memory of whoever writes it: signature and data side by side, up to 312 bytes of float32. */
    void post(long address, int bytes) {
        int number = ++launch;
        long half = POSTS + ((number & 1) << 10);
        long signed = signed(bytes);
        Memory.copy(address, own + half + 8, bytes);
        Memory.putLongRelease(own + half, signed);
        long theirs = Memory.getLongAcquire(peer + half);
        while ((int) (theirs >>> 32) != number) {
            Thread.onSpinWait();
            theirs = Memory.getLongAcquire(peer + half);
        }
        requireAgreement(theirs, signed);
        fold(address, peer + half + 8, bytes);
    }

    /** One-shot exchange through a slot and a counter, up to 32 KB of float32. */
    void slot(long address, int bytes) {
        int number = ++launch;
        int stride = bytes + SLOT_GAP;
        int turn = bytes < ROTATED ? 0 : (number >>> 1) % (SLOTS_BYTES / stride);
        long slot = (number & 1) * (long) SLOTS_BYTES + turn * (long) stride;
        Memory.copy(address, peerSlots + slot, bytes);
        meet(number, bytes);
        fold(address, ownSlots + slot, bytes);
    }

    private void fold(long address, long theirs, int bytes) {
        sources[first ? 0 : 1] = address;
        sources[first ? 1 : 0] = theirs;
        Kernels.reduce(KERNEL, sources, 0, 2, 0, address, bytes >> 2, 0, -1);
    }

    void barrier() {
        meet(++launch, 0);
    }

    private void meet(int number, int digest) {
        long place = 8 + ((number & 1) << 3);
        long signed = signed(digest);
        Memory.putLong(peerCounter + place, signed);
        Memory.putLongRelease(peerCounter, number);
        while ((int) Memory.getLongAcquire(ownCounter) - number < 0) {
            Thread.onSpinWait();
        }
        requireAgreement(Memory.getLong(ownCounter + place), signed);
    }
}
