package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.posix.StreamingFold;
import dev.tutti.posix.StreamingFold.Operation;
import dev.tutti.reduce.Kernels;
import java.lang.foreign.MemorySegment;

/**
 * Plain data: fold the sources, store to the destinations. Pieces are small enough that an abort is seen soon and no copy
 * holds up a safepoint, and that with several destinations the piece just written is still in the nearest cache, where that pays.
 */
final class Transfers {
    static final int PIECE = 128 << 10;
    /** Shorter ones stay in the nearest cache, but each copy by the processor's own instruction waits for the stores before it. */
    private static final int FAN_OUT_PIECE = 32 << 10;

    /** Tiles of products stay in the first-level cache, and do not lie at the same place of a page. */
    private static final long SCALED_PIECE = 4 << 10;

    private static final long SCALED_GAP = 192;

    /** So many tiles of products have room for a line each. */
    static final int MOST_SCALED = 2 * Endpoint.TILE_BYTES / 64;

    private Transfers() {}

    /** Runs bytes {@code [from, to)} of a DATA record. */
    static void run(long[] code, int pc, long from, long to, Endpoint endpoint) {
        boolean streams = endpoint.stores.streamsResults(Records.slots(code[pc + 2]));
        Operation streamed = streams ? StreamedFolds.of(code, pc, endpoint) : null;
        if (streamed == null) {
            runInPieces(code, pc, from, to, endpoint);
            return;
        }
        long destination = code[pc + Records.OPERANDS + Records.sources(code[pc])];
        long first = Math.min(to, Memory.roundUp(destination + from, StreamingFold.LINE) - destination);
        long last = first + (to - first) / StreamingFold.LINE * StreamingFold.LINE;
        runInPieces(code, pc, from, first, endpoint);
        StreamedFolds.run(streamed, code, pc, first, last, endpoint);
        runInPieces(code, pc, last, to, endpoint);
    }

    private static void runInPieces(long[] code, int pc, long from, long to, Endpoint endpoint) {
        long header = code[pc];
        int sources = Records.sources(header);
        int destinations = Records.destinations(header);
        int firstSource = pc + Records.OPERANDS;
        int firstDestination = firstSource + sources;
        long fold = code[pc + 2];
        int kernel = Records.kernel(fold);
        int outputs = destinations - Records.slots(fold);
        int written =
                kernel == Records.COPY ? written(code, firstSource, firstDestination, destinations) : destinations;
        boolean shortened = written > 1 && endpoint.stores.likesShortPieces(kernel != Records.COPY);
        long piece = shortened ? FAN_OUT_PIECE : PIECE;
        for (long offset = from; offset < to; offset += piece) {
            long bytes = Math.min(piece, to - offset);
            long source = code[firstSource] + offset;
            int copied = 0;
            if (kernel != Records.COPY) {
                source = code[firstDestination] + offset;
                copied = 1;
                fold(kernel, Records.scaled(fold), code, firstSource, sources, offset, source, bytes, endpoint);
            }
            for (; copied < destinations; copied++) {
                long destination = code[firstDestination + copied] + offset;
                if (destination == source) {
                    continue;
                }
                if (copied < outputs) {
                    endpoint.stores.toOutput(source, destination, bytes);
                } else {
                    endpoint.stores.toSlot(source, destination, bytes);
                }
            }
            // Long pieces take their time, and nobody knows what a user's function takes.
            if ((bytes == piece || kernel == Records.USER) && endpoint.board.isAborted()) {
                throw endpoint.stall.failure();
            }
        }
    }

    /** How many destinations of a copy are written: in place, one of them is where the data is. */
    private static int written(long[] code, int source, int firstDestination, int destinations) {
        int written = 0;
        for (int i = 0; i < destinations; i++) {
            written += code[firstDestination + i] == code[source] ? 0 : 1;
        }
        return written;
    }

    /** Copies between addresses or {@link Places}. */
    static void copy(long from, long to, long bytes, Endpoint endpoint) {
        if ((from | to) >= 0) {
            Memory.copy(from, to, bytes);
        } else {
            Places.copy(from, to, bytes, endpoint);
        }
    }

    static void fold(
            int kernel,
            int scaled,
            long[] code,
            int firstSource,
            int sources,
            long offset,
            long destination,
            long bytes,
            Endpoint endpoint) {
        if (kernel == Records.USER) {
            foldByUser(code, firstSource, sources, offset, destination, bytes, endpoint);
        } else if (kernel >= Records.EACH_SCALED) {
            int plain = kernel - Records.EACH_SCALED;
            foldScaled(plain, scaled, code, firstSource, sources, offset, destination, bytes, endpoint);
        } else if (Places.isAmong(code, firstSource, sources, destination)) {
            Places.fold(kernel, scaled, code, firstSource, sources, offset, destination, bytes, endpoint);
        } else {
            Kernels.reduce(
                    kernel,
                    code,
                    firstSource,
                    sources,
                    offset,
                    destination,
                    bytes >> endpoint.elementShift,
                    endpoint.aux,
                    scaled);
        }
    }

    /**
     * Folds everybody's input where it lies. What peers have is multiplied into tiles first, as its owners would multiply what they copy
     * for others, so that the result has the same bits by whichever way.
     */
    private static void foldScaled(
            int kernel,
            int own,
            long[] code,
            int firstSource,
            int sources,
            long offset,
            long destination,
            long bytes,
            Endpoint endpoint) {
        long[] addresses = endpoint.foldSources(sources + 1);
        long stride = Math.min(SCALED_PIECE + SCALED_GAP, 2L * Endpoint.TILE_BYTES / sources & -64);
        long piece = Math.min(SCALED_PIECE, stride);
        for (long done = 0; done < bytes; done += piece) {
            long count = Math.min(piece, bytes - done) >> endpoint.elementShift;
            long tile = endpoint.tileAddress;
            for (int i = 0; i < sources; i++) {
                long source = code[firstSource + i] + offset + done;
                if (i != own) {
                    addresses[sources] = source;
                    Kernels.reduce(kernel, addresses, sources, 1, 0, tile, count, endpoint.peerBuffers.scalar(i), 0);
                    source = tile;
                    tile += stride;
                }
                addresses[i] = source;
            }
            Kernels.reduce(kernel, addresses, 0, sources, 0, destination + done, count, endpoint.aux, own);
        }
    }

    /**
     * The user's function sees aligned private memory only: it may be slow, may throw, and must never see a peer's slot change
     * under it.
     */
    private static void foldByUser(
            long[] code, int firstSource, int sources, long offset, long destination, long bytes, Endpoint endpoint) {
        long accumulator = endpoint.tileAddress;
        long input = accumulator + Endpoint.TILE_BYTES;
        for (long done = 0; done < bytes; done += Endpoint.TILE_BYTES) {
            long length = Math.min(Endpoint.TILE_BYTES, bytes - done);
            copy(code[firstSource] + offset + done, accumulator, length, endpoint);
            for (int i = 1; i < sources; i++) {
                copy(code[firstSource + i] + offset + done, input, length, endpoint);
                callUser(accumulator, input, length, endpoint);
            }
            copy(accumulator, destination + done, length, endpoint);
        }
    }

    private static void callUser(long accumulator, long input, long bytes, Endpoint endpoint) {
        MemorySegment left = Memory.ALL.asSlice(accumulator, bytes);
        MemorySegment right = Memory.ALL.asSlice(input, bytes).asReadOnly();
        try {
            java.util.Objects.requireNonNull(endpoint.function).accept(left, right, bytes >> endpoint.elementShift);
        } catch (Throwable thrown) {
            throw endpoint.stall.userFunctionThrew(thrown);
        }
    }
}
