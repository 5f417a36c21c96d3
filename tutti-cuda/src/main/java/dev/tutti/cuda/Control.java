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
 *   0        a line of 128 bytes for each rank: that rank writes words 0 to 3, this one words 8 to 10
 *   12288    for each rank the address here of its line for this rank
 *   13056    blocks of the running launch that have ended
 *   13120    a number by which others see that they have mapped the right memory
 * </pre>
 *
 * In pinned memory of the host: a word that ends all waiting, a word that says that waiting was ended, and for each rank whom
 * it was for.
 */
final class Control implements AutoCloseable {
    static final int BYTES = 16384;

    private static final int LINE_BYTES = 128;
    private static final int OTHERS = Part.MOST_RANKS * LINE_BYTES;
    private static final int ENDED = OTHERS + Part.MOST_RANKS * Long.BYTES;
    private static final int MAGIC = ENDED + 64;
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

    /** Writes where the others' lines for this rank are, given where their control memory is mapped. */
    void introduce(int rank, long[] mapped) {
        long[] lines = new long[mapped.length];
        java.util.Arrays.setAll(lines, other -> mapped[other] + (long) rank * LINE_BYTES);
        memory.slice(OTHERS / Long.BYTES, lines.length).copyFrom(lines);
    }

    Part.Place place() {
        long base = memory.pointer();
        return new Part.Place(base, base + OTHERS, base + ENDED, host.pointer());
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
