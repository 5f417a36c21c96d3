package dev.tutti.channel;

import dev.tutti.TuttiException;
import dev.tutti.memory.Memory;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a rank tells its peers about itself: which operation it is in, which it did before, what it has finished, whether it
 * has gone, and why it aborted. Peers read it only when they are stuck or about to overwrite a slot, so writing costs a few
 * stores to lines that nobody else touches.
 */
public final class Board {
    /** Why a communicator was aborted; the position is the code in memory. */
    public enum Reason {
        NONE,
        MISMATCH,
        TIMEOUT,
        PEER_FAILED,
        ABORTED
    }

    /** How many runs of operations of the past a board tells of. A run is as many operations in a row as are all the same. */
    public static final int HISTORY = RegionLayout.HISTORY_ENTRIES;

    private static final long CLOSED = 1;
    private static final int CAUSE_HEADER = 24;
    private static final int LONGEST_OPERATION = 512;
    private static final int MOST_RANK_WORDS = 128;
    private static final BitSet NOBODY = new BitSet();

    private final Fabric fabric;
    private final int rank;
    private final int size;
    private final long own;
    private final Bell bell;
    private boolean retired;

    /** How many runs have been announced, and what the last one is. */
    private long runs;

    private long runMeta;
    private long runCount;
    private long runExtra;

    public Board(Fabric fabric, int rank, int size) {
        this.fabric = fabric;
        this.rank = rank;
        this.size = size;
        this.own = fabric.region(rank);
        this.bell = new Bell(fabric, rank, size);
    }

    /** Wakes peers, and lets this rank sleep. */
    public Bell bell() {
        return bell;
    }

    /** Announces operation {@code number}, the next one; pairs with the acquires in {@link #readOperation}. */
    public void publishOperation(long number, long meta, long count, long extra) {
        if (meta != runMeta || count != runCount || extra != runExtra || runs == 0) {
            beginRun(number, meta, count, extra);
        }
        publishOperation(number);
    }

    /** Announces the next operation, which is the same as the last one. */
    public void publishOperation(long number) {
        Memory.putLongRelease(own + RegionLayout.POSITION, number);
        // Whoever sees what this operation writes to others' memory also sees what it is.
        VarHandle.storeStoreFence();
    }

    private void beginRun(long number, long meta, long count, long extra) {
        runMeta = meta;
        runCount = count;
        runExtra = extra;
        runs++;
        long entry = entry(own, runs);
        Memory.putLong(entry, -1);
        Memory.putLongRelease(entry + 8, meta);
        Memory.putLongRelease(entry + 16, count);
        Memory.putLongRelease(entry + 24, extra);
        Memory.putLongRelease(entry, number);
        Memory.putLongRelease(own + RegionLayout.RUNS, runs);
    }

    /** Number of the operation that a rank entered last; 0 before the first. */
    public long position(int peer) {
        return Memory.getLongAcquire(fabric.region(peer) + RegionLayout.POSITION);
    }

    /** Reads what a rank announced as operation {@code number}; false if it has not, or it is too long ago. */
    public boolean readOperation(int peer, long number, long[] metaCountExtra) {
        if (position(peer) < number) {
            return false;
        }
        long newest = runs(peer);
        for (int ago = 0; ago < HISTORY; ago++) {
            long entry = entry(fabric.region(peer), newest - ago);
            long first = Memory.getLongAcquire(entry);
            if (first <= number) {
                metaCountExtra[0] = Memory.getLongAcquire(entry + 8);
                metaCountExtra[1] = Memory.getLongAcquire(entry + 16);
                metaCountExtra[2] = Memory.getLongAcquire(entry + 24);
                // Entries are replaced oldest first: if this one is still there, so are all that came after it.
                return first > 0 && Memory.getLongAcquire(entry) == first;
            }
        }
        return false;
    }

    /** The operation with which a rank's last run but {@code ago} began; 0 or less if it cannot be told. */
    public long runStart(int peer, int ago) {
        return Memory.getLongAcquire(entry(fabric.region(peer), runs(peer) - ago));
    }

    private long runs(int peer) {
        return Memory.getLongAcquire(fabric.region(peer) + RegionLayout.RUNS);
    }

    /** Says that launch {@code launch} no longer reads this rank's slots; pairs with the acquire in {@link #finished}. */
    public void publishFinished(long launch) {
        Memory.putLongRelease(own + RegionLayout.FINISHED, launch);
    }

    public long finished(int peer) {
        return Memory.getLongAcquire(fabric.region(peer) + RegionLayout.FINISHED);
    }

    public void publishClosed() {
        Memory.putLongRelease(own + RegionLayout.STATE, CLOSED);
        bell.ringOthers();
    }

    public boolean isClosed(int peer) {
        return Memory.getLongAcquire(fabric.region(peer) + RegionLayout.STATE) == CLOSED;
    }

    /** After an abort: says that nothing of this rank runs on this communicator any more, nor ever will. */
    public void publishLeft() {
        publishLeft(rank);
    }

    private void publishLeft(int leaver) {
        Memory.putLongRelease(fabric.region(leaver) + RegionLayout.LEFT, 1);
    }

    public boolean hasLeft(int peer) {
        return Memory.getLongAcquire(fabric.region(peer) + RegionLayout.LEFT) != 0;
    }

    public boolean isAborted() {
        return Memory.getLongOpaque(own + RegionLayout.ABORT) != 0;
    }

    public long abortAddress() {
        return own + RegionLayout.ABORT;
    }

    /**
     * Aborts the communicator for everybody, unless somebody was faster. The first to set the master word on rank 0 decides the
     * cause; every caller then spreads that decision, so a winner that dies right after does not leave others unaware.
     */
    public void abort(Reason reason, String text, @Nullable Throwable cause) {
        abort(reason, text, cause, null, NOBODY);
    }

    /**
     * The same, with facts for programs.
     *
     * @param operation the operation that it happened in, as texts call it, or null
     * @param ranks whom it is about
     */
    public void abort(Reason reason, String text, @Nullable Throwable cause, @Nullable String operation, BitSet ranks) {
        long master = fabric.region(0) + RegionLayout.MASTER;
        // Threads of one rank share the place of the text, and a late one must not write over what was decided.
        synchronized (this) {
            if (retired) {
                return;
            }
            if (Memory.getLongAcquire(master) == 0) {
                if (cause != null) {
                    fabric.keepCause(rank, cause);
                }
                writeCause(text, operation == null ? "" : operation, ranks);
                Memory.compareAndSetLong(master, 0, ((long) reason.ordinal() << 32) | rank);
            }
            spreadAbort();
        }
    }

    /** Sees to it that every rank that enters an operation from now on finds the abort: whoever was first may not be there yet. */
    public synchronized void spreadAbort() {
        if (retired) {
            return;
        }
        long decision = Memory.getLongAcquire(fabric.region(0) + RegionLayout.MASTER);
        for (int peer = 0; peer < size; peer++) {
            Memory.putLongRelease(fabric.region(peer) + RegionLayout.ABORT, decision);
            bell.ring(peer);
        }
    }

    /** A rank's process has ended: aborts, unless it had done its part. For any thread, also when this rank has left. */
    public synchronized void abortUnlessClosed(int ended, String text) {
        if (retired) {
            return;
        }
        // It can no longer say so itself; and first, so that whoever finds the abort need not wait for it to leave.
        publishLeft(ended);
        if (!isClosed(ended)) {
            Memory.putLongRelease(fabric.region(ended) + RegionLayout.FAILED, 1);
            abort(Reason.PEER_FAILED, text, null, null, only(ended));
        }
    }

    /** A rank has failed, and its process goes on: aborts, unless it had done its part. For any thread, also when this rank has left. */
    public synchronized void abortUnlessClosed(int failed, String text, Throwable cause) {
        if (!retired && !isClosed(failed)) {
            abort(Reason.PEER_FAILED, text, cause, null, only(failed));
        }
    }

    /** This rank has left: an abort from now on does nothing, as the memory may be somebody else's by then. */
    public synchronized void retire() {
        retired = true;
    }

    public Reason abortReason() {
        return Reason.values()[(int) (Memory.getLongAcquire(own + RegionLayout.ABORT) >>> 32)];
    }

    /** The rank whose abort came first. */
    public int abortRank() {
        return (int) Memory.getLongAcquire(own + RegionLayout.ABORT);
    }

    public String abortText() {
        long at = cause();
        return string(at + CAUSE_HEADER + bytesOfRanks(at) + bytesOfOperation(at), Memory.getLongAcquire(at));
    }

    /** What programs are told of the abort: after failures, also of those that were noticed later. */
    public TuttiException.Facts abortFacts(String communicator) {
        long at = cause();
        String operation = string(at + CAUSE_HEADER + bytesOfRanks(at), bytesOfOperation(at));
        List<Integer> ranks = new ArrayList<>();
        for (int each = 0; each < size; each++) {
            boolean told = each < Byte.SIZE * bytesOfRanks(at)
                    && (Memory.getLong(at + CAUSE_HEADER + (long) each / Long.SIZE * Long.BYTES) >>> each & 1) != 0;
            if (told || (abortReason() == Reason.PEER_FAILED && hasFailed(each))) {
                ranks.add(each);
            }
        }
        return new TuttiException.Facts(communicator, operation.isEmpty() ? null : operation, ranks);
    }

    private boolean hasFailed(int peer) {
        return Memory.getLongAcquire(fabric.region(peer) + RegionLayout.FAILED) != 0;
    }

    private long cause() {
        return fabric.region(abortRank()) + RegionLayout.CAUSE;
    }

    private static long bytesOfOperation(long cause) {
        return Memory.getLong(cause + 8);
    }

    private static long bytesOfRanks(long cause) {
        return Memory.getLong(cause + 16);
    }

    private static String string(long from, long length) {
        byte[] bytes = new byte[(int) length];
        MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_BYTE, from, bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    public @Nullable Throwable abortCause() {
        return fabric.cause(abortRank());
    }

    private void writeCause(String text, String operation, BitSet ranks) {
        long at = own + RegionLayout.CAUSE;
        long next = at + CAUSE_HEADER;
        for (int word = 0; word < rankWords(); word++) {
            long[] bits = ranks.get(word * Long.SIZE, (word + 1) * Long.SIZE).toLongArray();
            Memory.putLong(next, bits.length == 0 ? 0 : bits[0]);
            next += Long.BYTES;
        }
        long operationBytes = write(operation, next, LONGEST_OPERATION);
        next += operationBytes;
        long textBytes = write(text, next, at + RegionLayout.CAUSE_BYTES - next);
        Memory.putLong(at + 8, operationBytes);
        Memory.putLong(at + 16, (long) rankWords() * Long.BYTES);
        Memory.putLongRelease(at, textBytes);
    }

    /** Of very many ranks only the first are told. */
    private int rankWords() {
        return Math.min((size + Long.SIZE - 1) / Long.SIZE, MOST_RANK_WORDS);
    }

    private static long write(String text, long to, long most) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = (int) Math.min(bytes.length, most);
        MemorySegment.copy(bytes, 0, Memory.ALL, ValueLayout.JAVA_BYTE, to, length);
        return length;
    }

    /** A set of these ranks. */
    public static BitSet only(int... ranks) {
        BitSet set = new BitSet();
        for (int each : ranks) {
            set.set(each);
        }
        return set;
    }

    private static long entry(long region, long run) {
        return region
                + RegionLayout.HISTORY
                + (run & (RegionLayout.HISTORY_ENTRIES - 1)) * RegionLayout.HISTORY_ENTRY_BYTES;
    }
}
