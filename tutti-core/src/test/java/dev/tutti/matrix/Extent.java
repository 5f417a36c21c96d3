package dev.tutti.matrix;

import dev.tutti.DataType;

/** How many elements a block has: the numbers at which something changes, and their neighbours. */
enum Extent {
    ZERO(Base.NOTHING, 0),
    ONE(Base.NOTHING, 1),
    BELOW_RANKS(Base.RANKS, -1),
    RANKS(Base.RANKS, 0),
    ABOVE_RANKS(Base.RANKS, 1),
    PRIME_7(Base.NOTHING, 7),
    PRIME_61(Base.NOTHING, 61),
    PRIME_1009(Base.NOTHING, 1009),
    BELOW_16_BYTES(Base.BYTES_16, -1),
    BYTES_16(Base.BYTES_16, 0),
    ABOVE_16_BYTES(Base.BYTES_16, 1),
    BELOW_64_BYTES(Base.BYTES_64, -1),
    BYTES_64(Base.BYTES_64, 0),
    ABOVE_64_BYTES(Base.BYTES_64, 1),
    BELOW_PACKET_LIMIT(Base.PACKET_LIMIT, -1),
    PACKET_LIMIT(Base.PACKET_LIMIT, 0),
    ABOVE_PACKET_LIMIT(Base.PACKET_LIMIT, 1),
    BELOW_CHUNK(Base.CHUNK, -1),
    CHUNK(Base.CHUNK, 0),
    ABOVE_CHUNK(Base.CHUNK, 1),
    BELOW_WINDOW(Base.WINDOW, -1),
    WINDOW(Base.WINDOW, 0),
    ABOVE_WINDOW(Base.WINDOW, 1),
    OVER_THREE_WINDOWS(Base.THREE_WINDOWS, 5);

    private enum Base {
        NOTHING,
        RANKS,
        BYTES_16,
        BYTES_64,
        PACKET_LIMIT,
        CHUNK,
        WINDOW,
        THREE_WINDOWS
    }

    private final Base base;
    private final int more;

    Extent(Base base, int more) {
        this.base = base;
        this.more = more;
    }

    boolean needsWindow() {
        return base == Base.CHUNK || base == Base.WINDOW || base == Base.THREE_WINDOWS;
    }

    /** The number of elements; chunk and window are in bytes. */
    long count(DataType type, int ranks, long chunkBytes, long windowBytes) {
        long elements = switch (base) {
            case NOTHING -> 0;
            case RANKS -> ranks;
            case BYTES_16 -> 16 / type.bytes();
            case BYTES_64 -> 64 / type.bytes();
            case PACKET_LIMIT -> 1024 / type.bytes();
            case CHUNK -> chunkBytes / type.bytes();
            case WINDOW -> windowBytes / type.bytes();
            case THREE_WINDOWS -> 3 * windowBytes / type.bytes();
        };
        return elements + more;
    }
}
