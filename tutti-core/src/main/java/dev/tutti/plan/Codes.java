package dev.tutti.plan;

import java.util.List;

/** Names a transfer after where its operands lie, in the words of the plan format. */
final class Codes {
    private Codes() {}

    static Code of(int self, List<Chunk> sources, List<Chunk> destinations) {
        boolean readsPeers = reachesPeers(self, sources);
        boolean writesPeers = reachesPeers(self, destinations);
        if (sources.size() == 1) {
            return writesPeers ? Code.PUT : readsPeers ? Code.GET : Code.COPY;
        }
        if (readsPeers) {
            return writesPeers ? Code.READ_REDUCE_SEND : Code.READ_REDUCE;
        }
        return writesPeers ? Code.REDUCE_SEND : Code.REDUCE;
    }

    private static boolean reachesPeers(int self, List<Chunk> chunks) {
        for (Chunk chunk : chunks) {
            if (chunk.rank() != self) {
                return true;
            }
        }
        return false;
    }
}
