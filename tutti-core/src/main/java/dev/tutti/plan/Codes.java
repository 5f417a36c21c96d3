package dev.tutti.plan;

import java.util.List;

/** Names a transfer after where its operands lie, in the words of the plan format. */
final class Codes {
    private Codes() {}

    static Code of(int self, List<Chunk> sources, List<Chunk> destinations) {
        boolean readsPeers = sources.stream().anyMatch(chunk -> chunk.rank() != self);
        boolean writesPeers = destinations.stream().anyMatch(chunk -> chunk.rank() != self);
        if (sources.size() == 1) {
            return writesPeers ? Code.PUT : readsPeers ? Code.GET : Code.COPY;
        }
        if (readsPeers) {
            return writesPeers ? Code.READ_REDUCE_SEND : Code.READ_REDUCE;
        }
        return writesPeers ? Code.REDUCE_SEND : Code.REDUCE;
    }
}
