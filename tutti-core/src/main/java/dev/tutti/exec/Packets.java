package dev.tutti.exec;

import dev.tutti.memory.Memory;
import java.lang.foreign.ValueLayout;

/**
 * Packets: 64-bit words, four bytes of data below, the launch's flag above, so that data and its announcement arrive together.
 * A message may be preceded by a word with the call's signature. The last word of a message whose length is no multiple of
 * four carries fewer bytes.
 */
final class Packets {
    private static final int TILE = Endpoint.PACKET_TILE_BYTES;
    /** Bytes of data that are passed on at a time. */
    private static final long RAW_PIECE = 16 << 10;

    private static final long DATA_MASK = 0xFFFFFFFFL;

    private Packets() {}

    /**
     * Runs a PACKETS record from payload byte {@code from} on, as far as packets have arrived.
     *
     * @return the record's length when it is done, else the complement of the byte to go on from
     */
    static long run(long[] code, int pc, long from, Endpoint endpoint) {
        long header = code[pc];
        long bytes = code[pc + 1];
        int flags = Records.flags(header);
        boolean signed = (flags & Records.SIGNED) != 0;
        int packetSources = Records.sources(header);
        int packetDestinations = Records.destinations(header);
        int plainSources = flags & Records.PLAIN_SOURCE;
        int firstPacketSource = pc + Records.OPERANDS + plainSources;
        int next = firstPacketSource + packetSources;
        if ((flags & Records.RAW) != 0) {
            long reached = passOn(code, firstPacketSource, next, packetDestinations, from, bytes);
            endpoint.bell.ringOthers();
            return reached;
        }
        boolean stores = (flags & Records.PLAIN_DESTINATION) != 0;
        long plainBytes = (flags & Records.CLIPPED) != 0 ? code[pc + Records.words(header) - 1] : bytes;
        long store = stores ? code[next] : 0;
        int firstPacketDestination = stores ? next + 1 : next;

        if (signed && from == 0) {
            if (packetSources > 0 && !signaturesArrived(code, firstPacketSource, packetSources, endpoint)) {
                return ~0;
            }
            sign(code, firstPacketDestination, packetDestinations, endpoint);
        }
        int lead = signed ? 8 : 0;
        long position = from;
        while (position < bytes) {
            int length = (int) Math.min(TILE, bytes - position);
            long value;
            int plainLength = (int) Math.clamp(plainBytes - position, 0, length);
            if (packetSources == 0) {
                value = plain(code, pc, position, length, plainLength, endpoint);
            } else {
                if (!unpackAll(code, firstPacketSource, packetSources, lead, position, length, endpoint)) {
                    if (packetDestinations > 0 && position > from) {
                        endpoint.bell.ringOthers();
                    }
                    return ~position;
                }
                value = foldTiles(code, pc, packetSources, plainSources, position, length, plainLength, endpoint);
            }
            if (stores) {
                Transfers.copy(value, store + position, plainLength, endpoint);
            }
            for (int i = 0; i < packetDestinations; i++) {
                pack(value, code[firstPacketDestination + i] + lead + 2 * position, length, endpoint.launch << 32);
            }
            position += length;
        }
        if (packetDestinations > 0) {
            endpoint.bell.ringOthers();
        }
        return position;
    }

    /** Writes the words that precede packets; pairs with the acquire in {@link #signaturesArrived}. */
    private static void sign(long[] code, int first, int count, Endpoint endpoint) {
        long word = endpoint.signed(endpoint.signature);
        for (int i = 0; i < count; i++) {
            Memory.putLongRelease(code[first + i], word);
        }
    }

    private static boolean signaturesArrived(long[] code, int first, int count, Endpoint endpoint) {
        long expected = endpoint.signed(endpoint.signature);
        for (int i = 0; i < count; i++) {
            long word = Memory.getLongAcquire(code[first + i]);
            if (word != expected) {
                if (word >>> 32 == expected >>> 32) {
                    throw endpoint.stall.mismatch();
                }
                return false;
            }
        }
        return true;
    }

    /** Copies words as they are, each in one piece, so that whoever waits for one sees all of it or nothing. */
    private static long passOn(long[] code, int source, int first, int count, long from, long bytes) {
        long end = Math.min(bytes, from + RAW_PIECE);
        for (long at = 2 * from; at < 2 * end; at += 8) {
            long word = Memory.getLongAcquire(code[source] + at);
            for (int i = 0; i < count; i++) {
                Memory.putLongRelease(code[first + i] + at, word);
            }
        }
        return end == bytes ? end : ~end;
    }

    private static long plain(long[] code, int pc, long position, int length, int plainLength, Endpoint endpoint) {
        long fold = code[pc + 2];
        int kernel = Records.kernel(fold);
        if (kernel == Records.COPY) {
            long source = code[pc + Records.OPERANDS] + position;
            return plainLength == length && source >= 0
                    ? source
                    : filledUp(source, plainLength, length, tile(endpoint, 0), endpoint);
        }
        long tile = tile(endpoint, 0);
        Transfers.fold(kernel, Records.scaled(fold), code, pc + Records.OPERANDS, 1, position, tile, length, endpoint);
        return tile;
    }

    private static boolean unpackAll(
            long[] code, int first, int count, int lead, long position, int length, Endpoint endpoint) {
        int flag = endpoint.flag();
        for (int i = 0; i < count; i++) {
            if (!unpack(code[first + i] + lead + 2 * position, tile(endpoint, i), length, flag)) {
                return false;
            }
        }
        return true;
    }

    private static long foldTiles(
            long[] code,
            int pc,
            int packetSources,
            int plainSources,
            long position,
            int length,
            int plainLength,
            Endpoint endpoint) {
        long fold = code[pc + 2];
        if (Records.kernel(fold) == Records.COPY) {
            return tile(endpoint, 0);
        }
        long[] sources = endpoint.foldSources;
        int plainPosition = plainSources == 0 ? -1 : Records.plainPosition(fold);
        long plain = plainSources == 0 ? 0 : code[pc + Records.OPERANDS] + position;
        if (plainSources != 0 && (plainLength < length || plain < 0)) {
            plain = filledUp(plain, plainLength, length, tile(endpoint, packetSources), endpoint);
        }
        int tile = 0;
        for (int i = 0; i < packetSources + plainSources; i++) {
            sources[i] = i == plainPosition ? plain : tile(endpoint, tile++);
        }
        long result = tile(endpoint, 0);
        Transfers.fold(
                Records.kernel(fold),
                Records.scaled(fold),
                sources,
                0,
                packetSources + plainSources,
                0,
                result,
                length,
                endpoint);
        return result;
    }

    private static long filledUp(long source, int plainLength, int length, long tile, Endpoint endpoint) {
        if (plainLength < length) {
            Memory.fill(tile, length, (byte) 0);
        }
        Transfers.copy(source, tile, plainLength, endpoint);
        return tile;
    }

    static long tile(Endpoint endpoint, int index) {
        return endpoint.tileAddress + 2L * Endpoint.TILE_BYTES + (long) index * TILE;
    }

    static void pack(long source, long packets, int bytes, long flag) {
        int words = bytes >> 2;
        for (int i = 0; i < words; i++) {
            long data = Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, source + 4L * i) & DATA_MASK;
            Memory.putLongRelease(packets + 8L * i, flag | data);
        }
        if ((bytes & 3) != 0) {
            Memory.putLongRelease(packets + 8L * words, flag | partialWord(source + 4L * words, bytes & 3));
        }
    }

    private static long partialWord(long source, int bytes) {
        long data = 0;
        for (int i = 0; i < bytes; i++) {
            data |= (Memory.ALL.get(ValueLayout.JAVA_BYTE, source + i) & 0xFFL) << (8 * i);
        }
        return data;
    }

    static boolean unpack(long packets, long destination, int bytes, int flag) {
        int words = bytes >> 2;
        for (int i = 0; i < words; i++) {
            long word = Memory.getLongAcquire(packets + 8L * i);
            if ((int) (word >>> 32) != flag) {
                return false;
            }
            Memory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, destination + 4L * i, (int) word);
        }
        if ((bytes & 3) != 0) {
            long word = Memory.getLongAcquire(packets + 8L * words);
            if ((int) (word >>> 32) != flag) {
                return false;
            }
            for (int i = 0; i < (bytes & 3); i++) {
                Memory.ALL.set(ValueLayout.JAVA_BYTE, destination + 4L * words + i, (byte) (word >>> (8 * i)));
            }
        }
        return true;
    }
}
