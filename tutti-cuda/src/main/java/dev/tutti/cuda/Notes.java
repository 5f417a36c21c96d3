package dev.tutti.cuda;

import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What ranks tell each other with every collective call: what they call, and where their memory is. Words of 8 bytes for each rank:
 *
 * <pre>
 *   0  meta     1  count    2  extra    3  the operator's scalar
 *   4  elements of the input            5  of the output
 *   6  how many allocations of it have gone since the last call; then their serials follow in another exchange
 *   7  whether this rank can make the call again without telling
 *   8  the input's handle              21  the output's handle
 * </pre>
 */
final class Notes implements AutoCloseable {
    private static final int GONE = 6;
    private static final int KEPT = 7;
    private static final int IN = 8;
    private static final int OUT = IN + Handle.WORDS;
    private static final int WORDS = OUT + Handle.WORDS;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final Communicator host;
    private final CudaDevice device;
    private final Exports exports;
    private final Imports imports;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment own = arena.allocate(8L * WORDS, 64);
    private final MemorySegment all;
    private final Prepared exchange;

    Notes(Communicator host, CudaDevice device, Exports exports, Imports imports) {
        this.host = host;
        this.device = device;
        this.exports = exports;
        this.imports = imports;
        this.all = arena.allocate(8L * WORDS * host.size(), 64);
        this.exchange = host.prepareAllGather(
                dev.tutti.Buffer.of(own, DataType.INT64), dev.tutti.Buffer.of(all, DataType.INT64));
    }

    /**
     * Gives everybody this rank's note, and has everybody's when it returns. Returning, everybody has called.
     *
     * @param call on memory that the others can map
     * @param kept whether this rank can make it again without telling
     */
    void exchange(CudaCall call, boolean kept) {
        own.set(LONG, 0, call.meta());
        own.set(LONG, 8, call.count);
        own.set(LONG, 16, call.extra);
        own.set(LONG, 24, call.op == null ? 0 : Double.doubleToRawLongBits(call.op.scalar()));
        own.set(LONG, 32, call.in == null ? 0 : call.in.count());
        own.set(LONG, 40, call.out == null ? 0 : call.out.count());
        long[] gone = exports.takeGone();
        own.set(LONG, 8L * GONE, gone.length);
        own.set(LONG, 8L * KEPT, kept ? 1 : 0);
        write(call.in, IN);
        write(call.out, OUT);
        exchange.run();
        dropGone(gone);
    }

    /** Whoever has freed memory says which, before anything new is mapped: the driver may have used the same place again. */
    private void dropGone(long[] gone) {
        boolean any = false;
        for (int rank = 0; rank < host.size(); rank++) {
            long at = 8L * (WORDS * rank + GONE);
            any |= all.get(LONG, at) != 0;
            all.set(LONG, at, 0);
        }
        if (any) {
            byte[] bytes = new byte[8 * gone.length];
            java.nio.ByteBuffer.wrap(bytes).asLongBuffer().put(gone);
            List<byte[]> everybody = host.allGatherBytes(bytes);
            for (int rank = 0; rank < host.size(); rank++) {
                java.nio.LongBuffer serials =
                        java.nio.ByteBuffer.wrap(everybody.get(rank)).asLongBuffer();
                while (serials.hasRemaining()) {
                    imports.drop(rank, serials.get());
                }
            }
        }
    }

    private void write(@Nullable CudaBuffer buffer, int word) {
        if (buffer == null || buffer.bytes() == 0) {
            Handle.writeNone(own, 8L * word);
        } else {
            Objects.requireNonNull(exports.of(buffer)).write(own, 8L * word, buffer.pointer());
        }
    }

    /** Whether every rank can make the call again without telling. */
    boolean areKept() {
        for (int rank = 0; rank < host.size(); rank++) {
            if (word(rank, KEPT) == 0) {
                return false;
            }
        }
        return true;
    }

    /** All of what was exchanged; equal for calls that are the same on every rank. */
    long[] words() {
        return all.toArray(LONG);
    }

    /** The calls of all ranks, on memory as this process sees it; throws if they do not fit together. */
    CudaCall[] calls(CudaCall mine, long number) {
        for (int rank = 0; rank < host.size(); rank++) {
            if (word(rank, 0) != mine.meta() || word(rank, 1) != mine.count || word(rank, 2) != mine.extra) {
                throw new MismatchException(disagreement(number), null);
            }
        }
        long[] counts = mine.count < 0 ? exchangeCounts(mine) : new long[0];
        CudaCall[] calls = new CudaCall[host.size()];
        for (int rank = 0; rank < calls.length; rank++) {
            ReduceOp op = mine.op != null && mine.op.kind() == ReduceOp.Kind.PRE_MUL_SUM
                    ? ReduceOp.preMulSum(Double.longBitsToDouble(word(rank, 3)))
                    : mine.op;
            calls[rank] = rank == host.rank()
                    ? mine
                    : mine.by(
                            op,
                            buffer(rank, mine.type, IN, word(rank, 4)),
                            buffer(rank, mine.type, OUT, word(rank, 5)),
                            mine.count < 0 ? counts(counts, rank, 0) : mine.inCounts,
                            mine.count < 0 ? counts(counts, rank, 1) : mine.outCounts);
        }
        Mismatch.check(number, calls).ifPresent(text -> {
            throw new MismatchException(text, null);
        });
        return calls;
    }

    /** Gives everybody counts that ranks only compare in pairs: for each rank whether it has the two, then the two. */
    private long[] exchangeCounts(CudaCall mine) {
        int size = host.size();
        long[] given = new long[2 + 2 * size];
        if (mine.inCounts != null) {
            given[0] = 1;
            System.arraycopy(mine.inCounts, 0, given, 2, size);
        }
        if (mine.outCounts != null) {
            given[1] = 1;
            System.arraycopy(mine.outCounts, 0, given, 2 + size, size);
        }
        long[] gathered = new long[given.length * size];
        host.allGather(given, gathered);
        return gathered;
    }

    /** A rank's counts of what was gathered: of its input (0) or of its output (1). */
    private long @Nullable [] counts(long[] gathered, int rank, int which) {
        int size = host.size();
        int at = rank * (2 + 2 * size);
        int from = at + 2 + which * size;
        return gathered[at + which] == 0 ? null : java.util.Arrays.copyOfRange(gathered, from, from + size);
    }

    private @Nullable CudaBuffer buffer(int rank, DataType type, int word, long count) {
        long pointer = imports.pointer(rank, all, 8L * (WORDS * rank + word));
        return pointer == 0 && count > 0 ? null : CudaBuffer.external(device, pointer, type, count);
    }

    private String disagreement(long number) {
        for (int rank = 1; rank < host.size(); rank++) {
            for (int word = 0; word < 3; word++) {
                if (word(rank, word) != word(0, word)) {
                    return Mismatch.text(number, 0, described(0), rank, described(rank));
                }
            }
        }
        throw new IllegalStateException("all ranks agree");
    }

    private String described(int rank) {
        String what = dev.tutti.exec.Signature.describe(word(rank, 0), Math.max(0, word(rank, 1)));
        return word(rank, 2) != 0 ? what + " with counts #" + Long.toHexString(word(rank, 2)) : what;
    }

    private long word(int rank, int word) {
        return all.get(LONG, 8L * (WORDS * rank + word));
    }

    @Override
    public void close() {
        arena.close();
    }
}
