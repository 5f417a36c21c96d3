package dev.tutti.cuda;

import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The counters by which kernels of several processes meet. On the device, in memory that the others map:
 *
 * <pre>
 *   0        a line of 128 bytes for each rank: that rank writes words 0 to 3, this one words 9 and 10
 *   12288    how often all have met; blocks of the running launch that have ended
 *   12416    a number by which others see that they have mapped the right memory
 *   12544    for each rank the address here of its counters
 *   13312    for each rank 512 words: the last meeting that each block of that rank has left
 * </pre>
 *
 * In pinned memory of the host: a word that ends all waiting, a word that says that waiting was ended, and for each rank whom
 * it was for.
 */
final class Control implements AutoCloseable {
    private static final int LINE_BYTES = 128;
    private static final int MAGIC = (Part.MOST_RANKS + 1) * LINE_BYTES;
    private static final int ALL = MAGIC + LINE_BYTES;
    private static final int LEFT = ALL + Part.MOST_RANKS * Long.BYTES;
    static final int BYTES = LEFT + Part.MOST_RANKS * Part.MOST_BLOCKS * Long.BYTES;

    private static final int HOST_WORDS = 2 + Part.MOST_RANKS;
    private static final int GIVE_UP = 0;
    private static final int GAVE_UP = 1;
    private static final int MISSED = 2;
    private static final VarHandle WORD = ValueLayout.JAVA_INT.arrayElementVarHandle();

    private final CudaBuffer memory;
    private final CudaBuffer host;
    private final long magic;

    /** Takes the memory over: it is closed with this, or at once if this cannot be made. */
    Control(CudaBuffer memory, long magic) {
        this.memory = memory;
        this.magic = magic;
        boolean made = false;
        try {
            MemorySegment zeros = Arena.ofAuto().allocate(BYTES, 8);
            zeros.set(ValueLayout.JAVA_LONG, MAGIC, magic);
            memory.copyFrom(zeros);
            host = CudaBuffer.allocatePinned(memory.device(), DataType.INT32, HOST_WORDS);
            host.hostSegment().fill((byte) 0);
            made = true;
        } finally {
            if (!made) {
                memory.close();
            }
        }
    }

    CudaBuffer memory() {
        return memory;
    }

    long magic() {
        return magic;
    }

    /** Whether what was mapped is the control memory that was made with this number. */
    static boolean isMapped(CudaDevice device, long pointer, long magic) {
        long[] found = new long[1];
        CudaBuffer.external(device, pointer + MAGIC, DataType.UINT64, 1).copyTo(found);
        return found[0] == magic;
    }

    /** Writes where everybody's control memory is mapped. */
    void introduce(long[] mapped) {
        memory.slice(ALL / Long.BYTES, mapped.length).copyFrom(mapped);
    }

    /** Where a rank's counters are, the addresses of everybody's, and the words of the host. */
    record Place(long own, long all, long hostWords) {}

    Place place() {
        long base = memory.pointer();
        return new Place(base, base + ALL, host.pointer());
    }

    /** Ends whatever waits on the device, now and later. */
    void giveUp() {
        WORD.setVolatile(host.hostSegment(), 0L, (long) GIVE_UP, 1);
    }

    /** Whether a launch has ended without meeting everybody. */
    boolean gaveUp() {
        return (int) WORD.getVolatile(host.hostSegment(), 0L, (long) GAVE_UP) != 0;
    }

    /** Why a launch gave up on a rank; the numbers are those of {@code meeting.cuh}. */
    enum Reason {
        NONE,
        NOT_COME,
        NOT_LEFT,
        OTHER_CALL
    }

    /** The ranks that a launch gave up on for a reason. */
    List<Integer> missed(Reason reason) {
        List<Integer> ranks = new ArrayList<>();
        for (int rank = 0; rank < Part.MOST_RANKS; rank++) {
            if ((int) WORD.getVolatile(host.hostSegment(), 0L, (long) MISSED + rank) == reason.ordinal()) {
                ranks.add(rank);
            }
        }
        return ranks;
    }

    @Override
    public void close() {
        memory.close();
        host.close();
    }
}
