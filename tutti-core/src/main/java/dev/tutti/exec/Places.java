package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import dev.tutti.posix.StreamingCopy;
import dev.tutti.reduce.Kernels;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Places in a call's memory that has no address: heap arrays, which the collector moves, and segments that somebody could close. In
 * bound records a place stands where else an address stands; it is negative, and adding to it goes forward in the memory.
 *
 * <pre>
 *   1 bit  1 | 1 bit  0 input, 1 output | 62 bits  bytes from its beginning
 * </pre>
 *
 * Data is copied straight between places and addresses. A fold of one array into another goes straight through a kernel for
 * arrays, as far as there is one; any other fold, and packets, go through tiles that stay in the first-level cache.
 */
final class Places {
    static final long INPUT = 1L << 63;
    static final long OUTPUT = INPUT | 1L << 62;

    private static final long OFFSET_MASK = (1L << 62) - 1;

    private static final long TILE_BYTES = 8 << 10;
    /** Between tiles, so that a store does not hold up loads from the same offset in another page. */
    private static final long TILE_GAP = 256;

    private Places() {}

    /** Whether any of these words is a place. */
    static boolean isAmong(long[] code, int first, int count, long destination) {
        long all = destination;
        for (int i = 0; i < count; i++) {
            all |= code[first + i];
        }
        return all < 0;
    }

    private static Operand operand(long place, Endpoint endpoint) {
        return place < OUTPUT ? endpoint.input : endpoint.output;
    }

    /** Copies between two places, or a place and an address. */
    static void copy(long from, long to, long bytes, Endpoint endpoint) {
        if (from >= 0) {
            operand(to, endpoint).store(to & OFFSET_MASK, from, bytes);
        } else if (to >= 0) {
            operand(from, endpoint).load(from & OFFSET_MASK, to, bytes);
        } else if (!operand(from, endpoint)
                .copyTo(from & OFFSET_MASK, operand(to, endpoint), to & OFFSET_MASK, bytes)) {
            for (long done = 0; done < bytes; done += TILE_BYTES) {
                long length = Math.min(TILE_BYTES, bytes - done);
                copy(from + done, endpoint.tileAddress, length, endpoint);
                copy(endpoint.tileAddress, to + done, length, endpoint);
            }
        }
    }

    /**
     * As {@link #copy}, past the caches where that can be done. To an address by way of a tile, which stays in the first-level cache; to a
     * place, which only long calls do, directly, for which it needs objects.
     */
    static void stream(long from, long to, long bytes, Endpoint endpoint) {
        if (to >= 0) {
            for (long done = 0; done < bytes; done += TILE_BYTES) {
                long length = Math.min(TILE_BYTES, bytes - done);
                copy(from + done, endpoint.tileAddress, length, endpoint);
                Memory.stream(endpoint.tileAddress, to + done, length);
            }
            return;
        }
        MemorySegment source = memory(from, bytes, endpoint);
        MemorySegment destination = memory(to, bytes, endpoint);
        if (source == null || destination == null || source.equals(destination) || !StreamingCopy.isAvailable()) {
            copy(from, to, bytes, endpoint);
        } else {
            StreamingCopy.copy(source, destination);
        }
    }

    /** As {@link #copy}, to an address, by {@link Memory#copyString}; what could be closed meanwhile by way of a tile. */
    static void copyString(long from, long to, long bytes, Endpoint endpoint) {
        if (operand(from, endpoint).loadString(from & OFFSET_MASK, to, bytes)) {
            return;
        }
        for (long done = 0; done < bytes; done += TILE_BYTES) {
            long length = Math.min(TILE_BYTES, bytes - done);
            copy(from + done, endpoint.tileAddress, length, endpoint);
            Memory.copyString(endpoint.tileAddress, to + done, length);
        }
    }

    private static @Nullable MemorySegment memory(long word, long bytes, Endpoint endpoint) {
        return word >= 0
                ? Memory.ALL.asSlice(word, bytes)
                : operand(word, endpoint).movable(word & OFFSET_MASK, bytes);
    }

    /** Where a few bytes can be read: where they are, or in a tile to which those of a place are copied. */
    static long address(long from, long tile, long bytes, Endpoint endpoint) {
        if (from >= 0) {
            return from;
        }
        operand(from, endpoint).load(from & OFFSET_MASK, tile, bytes);
        return tile;
    }

    /** As {@link Kernels#reduce}, where sources and destination may be places. */
    static void fold(
            int kernel,
            int scaled,
            long[] code,
            int first,
            int sources,
            long offset,
            long destination,
            long bytes,
            Endpoint endpoint) {
        int own = onlyPlace(code, first, sources);
        if (destination >= 0
                || own < 0
                || !foldArrays(kernel, scaled, code, first, sources, own, offset, destination, bytes, endpoint)) {
            foldTiles(kernel, scaled, code, first, sources, offset, destination, bytes, endpoint);
        }
    }

    private static int onlyPlace(long[] code, int first, int sources) {
        int found = -1;
        for (int i = 0; i < sources; i++) {
            if (code[first + i] < 0) {
                if (found >= 0) {
                    return -1;
                }
                found = i;
            }
        }
        return found;
    }

    /** Kernels for arrays begin with the array; that may change the order of the first two sources, which changes no result. */
    private static boolean foldArrays(
            int kernel,
            int scaled,
            long[] code,
            int first,
            int sources,
            int own,
            long offset,
            long destination,
            long bytes,
            Endpoint endpoint) {
        Operand from = operand(code[first + own], endpoint);
        Operand to = operand(destination, endpoint);
        Object fromArray = from.array();
        Object toArray = to.array();
        boolean scalesOther = scaled >= 0 && scaled != own;
        if (own > 1
                || scalesOther
                || fromArray == null
                || toArray == null
                || !Kernels.takesArrays(kernel, sources, toArray, fromArray)) {
            return false;
        }
        int shift = endpoint.elementShift;
        long[] others = code;
        int firstOther = first + 1 - own;
        if (own == 1 && sources > 2) {
            others = endpoint.foldSources(sources);
            others[0] = code[first];
            System.arraycopy(code, first + 2, others, 1, sources - 2);
            firstOther = 0;
        }
        Kernels.reduceHeap(
                kernel,
                toArray,
                to.arrayIndex() + (int) ((destination & OFFSET_MASK) >>> shift),
                fromArray,
                from.arrayIndex() + (int) ((code[first + own] + offset & OFFSET_MASK) >>> shift),
                others,
                firstOther,
                sources - 1,
                offset,
                (int) (bytes >>> shift),
                endpoint.aux,
                Math.min(scaled, 0));
        return true;
    }

    private static void foldTiles(
            int kernel,
            int scaled,
            long[] code,
            int first,
            int sources,
            long offset,
            long destination,
            long bytes,
            Endpoint endpoint) {
        long[] addresses = endpoint.foldSources(sources);
        long stride = tileStride(code, first, sources, destination);
        long piece = Math.min(TILE_BYTES, stride);
        for (long done = 0; done < bytes; done += piece) {
            long length = Math.min(piece, bytes - done);
            long tile = endpoint.tileAddress;
            long result = destination + done;
            if (destination < 0) {
                result = tile;
                tile += stride;
            }
            for (int i = 0; i < sources; i++) {
                addresses[i] = code[first + i] + offset + done;
                if (addresses[i] < 0) {
                    copy(addresses[i], tile, length, endpoint);
                    addresses[i] = tile;
                    tile += stride;
                }
            }
            Kernels.reduce(
                    kernel, addresses, 0, sources, 0, result, length >>> endpoint.elementShift, endpoint.aux, scaled);
            if (destination < 0) {
                copy(result, destination + done, length, endpoint);
            }
        }
    }

    /** How far tiles can be apart if there is to be one for each place. */
    private static long tileStride(long[] code, int first, int sources, long destination) {
        int tiles = destination < 0 ? 1 : 0;
        for (int i = 0; i < sources; i++) {
            tiles += code[first + i] < 0 ? 1 : 0;
        }
        return Math.min(TILE_BYTES + TILE_GAP, 2L * Endpoint.TILE_BYTES / tiles & -64);
    }
}
