package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;

/**
 * Counters between ranks. One writer each, so a signal is a release store of a local count. Beside the counter stand the
 * signatures of the last two launches: the receiver checks them at its first wait for a peer in a launch.
 */
final class Signals {
    private static final int PAIR = RegionLayout.PAIR - RegionLayout.SIGNATURE;

    private Signals() {}

    static void signal(long[] code, int pc, Endpoint endpoint) {
        int channels = Records.sources(code[pc]);
        long slot = RegionLayout.SIGNATURE + ((endpoint.launch & 1) << 3);
        for (int i = 0; i < channels; i++) {
            long line = code[pc + 1 + 2 * i];
            long where = code[pc + 2 + 2 * i];
            if (endpoint.pairs != null) {
                Memory.putLong(line + slot + PAIR, endpoint.pairs.sent(peer(where)));
            }
            Memory.putLong(line + slot, endpoint.signed(sendSignature(endpoint, where)));
            Memory.putLongRelease(line, ++endpoint.sent[(int) where]);
            endpoint.bell.ring(peer(where));
        }
    }

    /** Whether channel {@code i} of a WAIT has its signal; if so it is consumed and its signature checked. */
    static boolean tryWait(long[] code, int pc, int i, Endpoint endpoint) {
        long line = code[pc + 1 + 2 * i];
        long where = code[pc + 2 + 2 * i];
        int wanted = endpoint.expected[(int) where] + 1;
        if ((int) Memory.getLongAcquire(line) - wanted < 0) {
            return false;
        }
        endpoint.expected[(int) where] = wanted;
        if ((where & Records.CHECK) != 0) {
            check(line, where, endpoint);
        }
        return true;
    }

    /** Waits for every channel of a WAIT. */
    static void await(long[] code, int pc, Endpoint endpoint) {
        int channels = Records.sources(code[pc]);
        for (int i = 0; i < channels; i++) {
            long line = code[pc + 1 + 2 * i];
            long where = code[pc + 2 + 2 * i];
            int wanted = endpoint.expected[(int) where] + 1;
            for (int turns = 0; (int) Memory.getLongAcquire(line) - wanted < 0; turns++) {
                if (!endpoint.stall.look(turns)) {
                    boolean coreWanted = endpoint.pace.isShared() && isCoreWanted(code, pc, i, endpoint);
                    endpoint.stall.pause(turns, coreWanted);
                }
            }
            endpoint.expected[(int) where] = wanted;
            if ((where & Records.CHECK) != 0) {
                check(line, where, endpoint);
            }
        }
    }

    /** Whether a rank that has not signalled yet may need this rank's core to get there; see {@link Posts}. */
    private static boolean isCoreWanted(long[] code, int pc, int from, Endpoint endpoint) {
        int channels = Records.sources(code[pc]);
        if (channels < endpoint.size - 1) {
            return true;
        }
        for (int i = from; i < channels; i++) {
            long where = code[pc + 2 + 2 * i];
            if (endpoint.neighbours.isHere(peer(where))
                    && (int) Memory.getLongOpaque(code[pc + 1 + 2 * i]) - endpoint.expected[(int) where] <= 0) {
                return true;
            }
        }
        return false;
    }

    private static void check(long line, long where, Endpoint endpoint) {
        long slot = RegionLayout.SIGNATURE + ((endpoint.launch & 1) << 3);
        if (Memory.getLong(line + slot) != endpoint.signed(receiveSignature(endpoint, where))) {
            throw endpoint.pairs == null
                    ? endpoint.stall.mismatch()
                    : endpoint.stall.pairMismatch(peer(where), Memory.getLong(line + slot + PAIR));
        }
    }

    private static int sendSignature(Endpoint endpoint, long where) {
        PairCounts pairs = endpoint.pairs;
        return pairs == null ? endpoint.signature : Signature.digest(endpoint.signature, pairs.sent(peer(where)), 1);
    }

    private static int receiveSignature(Endpoint endpoint, long where) {
        PairCounts pairs = endpoint.pairs;
        return pairs == null
                ? endpoint.signature
                : Signature.digest(endpoint.signature, pairs.received(peer(where)), 1);
    }

    static int peer(long where) {
        return (int) (where >>> 32) & 0xFFFF;
    }
}
