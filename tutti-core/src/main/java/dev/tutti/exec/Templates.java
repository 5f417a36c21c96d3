package dev.tutti.exec;

import dev.tutti.memory.Memory;
import java.lang.foreign.ValueLayout;

/**
 * Tiny plans that have code of their own, because decoding their few records would take as long as running them. A template is
 * recognised by the shape of its records and does exactly what the interpreter would.
 *
 * <pre>
 *   BARRIER   SIGNAL, WAIT
 *   SLOTS     DATA copy to peers, SIGNAL, WAIT, DATA fold          one-shot through slots
 *   PACKETS   PACKETS to peers, PACKETS fold into plain memory     one-shot of packets
 *   MOVES     PACKETS to peers, PACKETS from peers, DATA copies    one-shot that folds nothing
 *   COPIES    DATA copies, SIGNAL, WAIT                            one-shot through slots that folds nothing
 *   POSTS     DATA, POST, FETCH                                    one-shot in which peers read what a rank shows
 * </pre>
 */
final class Templates {
    static final int NONE = 0;
    static final int BARRIER = 1;
    static final int SLOTS = 2;
    static final int PACKETS = 3;
    static final int MOVES = 4;
    static final int COPIES = 5;
    static final int POSTS = 6;

    /** Above this the interpreter is as fast. */
    private static final long MOST_BYTES = 64 << 10;

    private static final long MOST_PACKET_BYTES = 256;
    /** More is copied in as few stores as can be: a peer that looks for a post takes its lines away between two of them. */
    private static final long MOST_WORD_BYTES = 63;

    private Templates() {}

    static int recognise(long[] code) {
        if (isPosts(code)) {
            return POSTS;
        }
        if (isCopies(code)) {
            return COPIES;
        }
        if (isMoves(code)) {
            return MOVES;
        }
        int second = code.length == 0 ? 0 : Records.words(code[0]);
        if (second == 0 || second >= code.length) {
            return NONE;
        }
        int third = second + Records.words(code[second]);
        int first = Records.kind(code[0]);
        if (first == Records.SIGNAL && Records.kind(code[second]) == Records.WAIT && third == code.length) {
            return BARRIER;
        }
        if (first == Records.PACKETS && third == code.length && isPacketOneShot(code, second)) {
            return PACKETS;
        }
        return first == Records.DATA && isSlotOneShot(code, second, third) ? SLOTS : NONE;
    }

    private static boolean isPosts(long[] code) {
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            int kind = Records.kind(code[pc]);
            if (kind == Records.POST || kind == Records.FETCH) {
                return true;
            }
        }
        return false;
    }

    private static boolean isCopies(long[] code) {
        boolean copies = false;
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            int kind = Records.kind(code[pc]);
            boolean copy = kind == Records.DATA && isShortCopy(code, pc);
            if (!copy && kind != Records.SIGNAL && kind != Records.WAIT) {
                return false;
            }
            copies |= copy;
        }
        return copies;
    }

    private static boolean isShortCopy(long[] code, int pc) {
        return Records.kernel(code[pc + 2]) == Records.COPY && code[pc + 1] <= MOST_BYTES;
    }

    private static boolean isMoves(long[] code) {
        boolean packets = false;
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            int kind = Records.kind(code[pc]);
            if ((kind != Records.DATA && kind != Records.PACKETS)
                    || Records.kernel(code[pc + 2]) != Records.COPY
                    || code[pc + 1] > MOST_PACKET_BYTES
                    || (code[pc + 1] & 3) != 0) {
                return false;
            }
            int flags = Records.flags(code[pc]);
            if (kind == Records.PACKETS
                    && !(Records.sources(code[pc]) == 0 && flags == (Records.SIGNED | Records.PLAIN_SOURCE))
                    && !(Records.sources(code[pc]) == 1
                            && Records.destinations(code[pc]) == 0
                            && flags == (Records.SIGNED | Records.PLAIN_DESTINATION))) {
                return false;
            }
            packets |= kind == Records.PACKETS;
        }
        return packets;
    }

    private static boolean isPacketOneShot(long[] code, int second) {
        int pack = Records.flags(code[0]);
        int fold = Records.flags(code[second]);
        return Records.kind(code[second]) == Records.PACKETS
                && code[second + 1] == code[1]
                && code[1] > 0
                && code[1] <= MOST_PACKET_BYTES
                && (code[1] & 3) == 0
                && Records.sources(code[0]) == 0
                && pack == (Records.SIGNED | Records.PLAIN_SOURCE)
                && Records.kernel(code[2]) == Records.COPY
                && Records.destinations(code[second]) == 0
                && fold == (Records.SIGNED | Records.PLAIN_SOURCE | Records.PLAIN_DESTINATION)
                && Records.kernel(code[second + 2]) != Records.COPY;
    }

    private static boolean isSlotOneShot(long[] code, int second, int third) {
        if (third >= code.length) {
            return false;
        }
        int fourth = third + Records.words(code[third]);
        return fourth < code.length
                && fourth + Records.words(code[fourth]) == code.length
                && Records.kind(code[second]) == Records.SIGNAL
                && Records.kind(code[third]) == Records.WAIT
                && Records.kind(code[fourth]) == Records.DATA
                && code[fourth + 1] == code[1]
                && Records.kernel(code[2]) == Records.COPY
                && Records.destinations(code[fourth]) == 1
                && Records.kernel(code[fourth + 2]) != Records.COPY
                && Records.kernel(code[fourth + 2]) != Records.USER
                && code[1] <= MOST_BYTES;
    }

    static void run(int template, long[] code, Endpoint endpoint) {
        if (template == PACKETS) {
            packets(code, endpoint);
        } else if (template == MOVES) {
            moves(code, endpoint);
        } else if (template == COPIES) {
            copies(code, endpoint);
        } else if (template == POSTS) {
            posts(code, endpoint);
        } else if (template == SLOTS) {
            slots(code, endpoint);
        } else {
            barrier(code, endpoint);
        }
    }

    private static void barrier(long[] code, Endpoint endpoint) {
        Signals.signal(code, 0, endpoint);
        Signals.await(code, Records.words(code[0]), endpoint);
    }

    private static void slots(long[] code, Endpoint endpoint) {
        long bytes = code[1];
        long source = code[Records.OPERANDS];
        int signal = Records.words(code[0]);
        for (int i = Records.OPERANDS + 1; i < signal; i++) {
            endpoint.stores.toBusyPeersSlot(source, code[i], bytes);
        }
        Signals.signal(code, signal, endpoint);
        int wait = signal + Records.words(code[signal]);
        Signals.await(code, wait, endpoint);
        int fold = wait + Records.words(code[wait]);
        int sources = Records.sources(code[fold]);
        Transfers.fold(
                Records.kernel(code[fold + 2]),
                Records.scaled(code[fold + 2]),
                code,
                fold + Records.OPERANDS,
                sources,
                0,
                code[fold + Records.OPERANDS + sources],
                bytes,
                endpoint);
    }

    private static void copies(long[] code, Endpoint endpoint) {
        for (int pc = 0; pc < code.length; ) {
            int next = pc + Records.words(code[pc]);
            int kind = Records.kind(code[pc]);
            if (kind == Records.SIGNAL) {
                Signals.signal(code, pc, endpoint);
            } else if (kind == Records.WAIT) {
                Signals.await(code, pc, endpoint);
            } else {
                // What peers wait for comes first, and they are told before the rest.
                int firstSlot = next - Records.slots(code[pc + 2]);
                int signal = next;
                copyToSlots(code, pc, firstSlot, next, endpoint);
                if (firstSlot < signal && signal < code.length && Records.kind(code[signal]) == Records.SIGNAL) {
                    Signals.signal(code, signal, endpoint);
                    next += Records.words(code[signal]);
                }
                copyShort(code, pc, pc + Records.OPERANDS + 1, firstSlot, endpoint);
            }
            pc = next;
        }
    }

    private static void posts(long[] code, Endpoint endpoint) {
        for (int pc = 0; pc < code.length; ) {
            int next = pc + Records.words(code[pc]);
            int kind = Records.kind(code[pc]);
            if (kind == Records.POST) {
                endpoint.posts.post(code, pc);
            } else if (kind == Records.FETCH) {
                endpoint.posts.await(code, pc);
            } else if (isShortCopy(code, pc)) {
                copyShort(code, pc, pc + Records.OPERANDS + 1, next, endpoint);
            } else {
                Transfers.run(code, pc, 0, code[pc + 1], endpoint);
            }
            pc = next;
        }
    }

    private static void copyToSlots(long[] code, int pc, int from, int to, Endpoint endpoint) {
        long bytes = code[pc + 1];
        if (bytes <= MOST_WORD_BYTES) {
            copyShort(code, pc, from, to, endpoint);
            return;
        }
        for (int i = from; i < to; i++) {
            endpoint.stores.toSlot(code[pc + Records.OPERANDS], code[i], bytes);
        }
    }

    private static void copyShort(long[] code, int pc, int from, int to, Endpoint endpoint) {
        int bytes = (int) code[pc + 1];
        // A block that has ended in an earlier launch has nothing left to copy, nor a place in an array.
        for (int i = from; i < to && bytes > 0; i++) {
            copyShort(code[pc + Records.OPERANDS], code[i], bytes, endpoint);
        }
    }

    static void copyShort(long source, long destination, int bytes, Endpoint endpoint) {
        if (source == destination) {
            return;
        }
        if (bytes > MOST_WORD_BYTES || (source | destination) < 0) {
            Transfers.copy(source, destination, bytes, endpoint);
        } else {
            copyWords(source, destination, bytes);
        }
    }

    /** Copies a few bytes without the call that a long copy is. */
    private static void copyWords(long source, long destination, int bytes) {
        int at = 0;
        for (; at + 8 <= bytes; at += 8) {
            Memory.ALL.set(
                    ValueLayout.JAVA_LONG_UNALIGNED,
                    destination + at,
                    Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, source + at));
        }
        if (at + 4 <= bytes) {
            Memory.ALL.set(
                    ValueLayout.JAVA_INT_UNALIGNED,
                    destination + at,
                    Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, source + at));
            at += 4;
        }
        for (; at < bytes; at++) {
            Memory.ALL.set(ValueLayout.JAVA_BYTE, destination + at, Memory.ALL.get(ValueLayout.JAVA_BYTE, source + at));
        }
    }

    private static void moves(long[] code, Endpoint endpoint) {
        long flag = endpoint.launch << 32;
        long signed = endpoint.signed(endpoint.signature);
        for (int pc = 0; pc < code.length; ) {
            long header = code[pc];
            int bytes = (int) code[pc + 1];
            long source = code[pc + Records.OPERANDS];
            int next = pc + Records.words(header);
            if (Records.kind(header) == Records.DATA) {
                for (int i = pc + Records.OPERANDS + 1; i < next; i++) {
                    copy(source, code[i], bytes, endpoint);
                }
            } else if (Records.sources(header) == 0) {
                source = Places.address(source, Packets.tile(endpoint, 0), bytes, endpoint);
                for (int i = pc + Records.OPERANDS + 1; i < next; i++) {
                    Memory.putLongRelease(code[i], signed);
                    Packets.pack(source, code[i] + 8, bytes, flag);
                }
                endpoint.bell.ringOthers();
            } else {
                long destination = code[pc + Records.OPERANDS + 1];
                long result = destination < 0 ? Packets.tile(endpoint, 0) : destination;
                receive(source, result, bytes, signed, endpoint);
                if (destination < 0) {
                    Places.copy(result, destination, bytes, endpoint);
                }
            }
            pc = next;
        }
    }

    static void copy(long source, long destination, int bytes, Endpoint endpoint) {
        if ((source | destination) < 0) {
            Places.copy(source, destination, bytes, endpoint);
            return;
        }
        for (int at = 0; at < bytes; at += 4) {
            Memory.ALL.set(
                    ValueLayout.JAVA_INT_UNALIGNED,
                    destination + at,
                    Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, source + at));
        }
    }

    private static void packets(long[] code, Endpoint endpoint) {
        int bytes = (int) code[1];
        int fold = Records.words(code[0]);
        int packetSources = Records.sources(code[fold]);
        long plain = Packets.tile(endpoint, packetSources);
        long source = Places.address(code[Records.OPERANDS], plain, bytes, endpoint);
        long flag = endpoint.launch << 32;
        long signed = endpoint.signed(endpoint.signature);
        for (int i = Records.OPERANDS + 1; i < fold; i++) {
            Memory.putLongRelease(code[i], signed);
            Packets.pack(source, code[i] + 8, bytes, flag);
        }
        endpoint.bell.ringOthers();
        // What is sent need not be what is folded: a reduce-scatter sends the peer's block and keeps its own.
        long own = code[fold + Records.OPERANDS] == code[Records.OPERANDS]
                ? source
                : Places.address(code[fold + Records.OPERANDS], plain, bytes, endpoint);
        long destination = code[fold + Records.OPERANDS + 1 + packetSources];
        long result = destination < 0 ? plain : destination;
        foldPackets(code, fold, own, result, bytes, signed, endpoint);
        if (destination < 0) {
            Places.copy(result, destination, bytes, endpoint);
        }
    }

    private static void foldPackets(
            long[] code, int fold, long own, long destination, int bytes, long signed, Endpoint endpoint) {
        int packetSources = Records.sources(code[fold]);
        int first = fold + Records.OPERANDS + 1;
        long[] sources = endpoint.foldSources;
        int plainPosition = Records.plainPosition(code[fold + 2]);
        int next = 0;
        for (int i = 0; i <= packetSources; i++) {
            if (i == plainPosition) {
                sources[i] = own;
            } else {
                sources[i] = Packets.tile(endpoint, next);
                receive(code[first + next], sources[i], bytes, signed, endpoint);
                next++;
            }
        }
        Transfers.fold(
                Records.kernel(code[fold + 2]),
                Records.scaled(code[fold + 2]),
                sources,
                0,
                packetSources + 1,
                0,
                destination,
                bytes,
                endpoint);
    }

    private static void receive(long packets, long destination, int bytes, long signed, Endpoint endpoint) {
        if (awaitWord(packets, signed, endpoint) != signed) {
            throw endpoint.stall.mismatch();
        }
        for (int at = 0; at < bytes; at += 4) {
            long word = awaitWord(packets + 8 + 2L * at, signed, endpoint);
            Memory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, destination + at, (int) word);
        }
    }

    /** Waits until a word carries the flag that the signature carries; as {@link Exchange#await}. */
    private static long awaitWord(long address, long signed, Endpoint endpoint) {
        int turns = endpoint.pace.turns();
        for (int turn = 0; turn < turns; turn++) {
            long word = Memory.getLongAcquire(address);
            if ((word ^ signed) >>> 32 == 0) {
                return word;
            }
            Thread.onSpinWait();
        }
        return awaitWordPatiently(address, signed, endpoint);
    }

    private static long awaitWordPatiently(long address, long signed, Endpoint endpoint) {
        int turns = endpoint.pace.turns();
        while (true) {
            long word = Memory.getLongAcquire(address);
            if ((word ^ signed) >>> 32 == 0) {
                return word;
            }
            turns = endpoint.stall.pause(turns);
        }
    }
}
