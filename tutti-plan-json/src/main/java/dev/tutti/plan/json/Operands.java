package dev.tutti.plan.json;

import static dev.tutti.plan.json.PlanLinker.require;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.List;

/** What operands each operation takes: how many, whose, and of which memory. */
final class Operands {
    private Operands() {}

    static void check(Op op, int self, List<RankPlan.Channel> channels, String path, boolean fansOut, boolean blocks) {
        Code code = op.code();
        String symbol = code.symbol();
        int sources = op.sources().size();
        int destinations = op.destinations().size();
        switch (code.shape()) {
            case CONTROL -> {
                require(sources == 0 && destinations == 0, path, symbol + " takes no chunks");
                control(op, channels, path);
                return;
            }
            case PLAIN, PACKET ->
                require(sources > 0 && destinations > 0, path, symbol + " needs src_buff and dst_buff");
        }
        boolean port = !op.channels().isEmpty()
                && !code.isGroup()
                && channels.get(op.channels().getFirst()).type() == ChannelType.PORT;
        sameLength(op, path);
        if (code.isPairwise() && !fansOut) {
            require(sources == destinations, path, symbol + " needs as many destinations as sources");
            require(
                    !port || op.channels().size() == sources,
                    path + ".channel_ids",
                    symbol + " needs one channel for each of its " + sources + " pairs, has "
                            + op.channels().size());
        }
        if (blocks) {
            return; // Tutti's own plans name their folds after what they touch; the executor takes any mixture
        }
        switch (code) {
            case COPY, PACK, UNPACK -> {
                require(sources == 1 && destinations == 1, path, symbol + " has one source and one destination");
                local(op.sources(), self, path + ".src_buff");
                local(op.destinations(), self, path + ".dst_buff");
            }
            case PUT, PUT_SIGNAL, PUT_SIGNAL_FLUSH, PUT_PACKETS -> {
                local(op.sources(), self, path + ".src_buff");
                remote(op.destinations(), self, path + ".dst_buff");
                require(
                        (code != Code.PUT_SIGNAL && code != Code.PUT_SIGNAL_FLUSH) || port,
                        path,
                        symbol + " goes through port channels");
            }
            case GET -> {
                remote(op.sources(), self, path + ".src_buff");
                local(op.destinations(), self, path + ".dst_buff");
            }
            case REDUCE, REDUCE_PACKETS -> {
                local(op.sources(), self, path + ".src_buff");
                require(destinations == 1, path + ".dst_buff", symbol + " has one destination");
                local(op.destinations(), self, path + ".dst_buff");
            }
            case REDUCE_SEND, REDUCE_SEND_PACKETS -> {
                local(op.sources(), self, path + ".src_buff");
                sends(op, self, 1, path);
            }
            case READ_REDUCE -> {
                reads(op, self, path);
                require(destinations == 1, path + ".dst_buff", symbol + " has one destination");
                local(op.destinations(), self, path + ".dst_buff");
            }
            case READ_REDUCE_SEND -> {
                reads(op, self, path);
                sends(op, self, 1, path);
            }
            case READ_PUT_PACKETS -> {
                require(sources == 1, path + ".src_buff", symbol + " has one source");
                local(op.sources(), self, path + ".src_buff");
                remote(op.destinations(), self, path + ".dst_buff");
                require(
                        !port || op.channels().size() == destinations,
                        path + ".channel_ids",
                        symbol + " needs one channel for each destination");
            }
            case REDUCE_COPY_PACKETS -> {
                local(op.sources(), self, path + ".src_buff");
                require(destinations == 2, path + ".dst_buff", symbol + " has two destinations");
                local(op.destinations(), self, path + ".dst_buff");
            }
            case REDUCE_COPY_SEND_PACKETS -> {
                local(op.sources(), self, path + ".src_buff");
                require(destinations >= 2, path + ".dst_buff", symbol + " has two local destinations");
                sends(op, self, 2, path);
            }
            case GROUP_STORE, GROUP_STORE_PACKETS -> {
                require(sources == 1, path + ".src_buff", symbol + " has one source");
                local(op.sources(), self, path + ".src_buff");
            }
            default -> {}
        }
        if (code.shape() == Code.Shape.PACKET) {
            packets(op, port, path);
        }
    }

    private static void control(Op op, List<RankPlan.Channel> channels, String path) {
        switch (op.code()) {
            case SIGNAL, WAIT, RELAXED_SIGNAL, RELAXED_WAIT ->
                require(!op.channels().isEmpty(), path, op.code().symbol() + " needs channel_ids");
            case FLUSH -> {
                require(!op.channels().isEmpty(), path, "flush needs channel_ids");
                for (int id : op.channels()) {
                    require(channels.get(id).type() == ChannelType.PORT, path, "flush is for port channels");
                }
            }
            case ACQUIRE, RELEASE ->
                require(!op.semaphores().isEmpty(), path, op.code().symbol() + " needs semaphore_ids");
            default -> {}
        }
    }

    /** Packets lie in scratch, and nowhere else. */
    private static void packets(Op op, boolean port, String path) {
        int plainSources = op.code() == Code.UNPACK
                        || op.code() == Code.READ_PUT_PACKETS
                        || op.code() == Code.GROUP_STORE_PACKETS
                        || (op.code() == Code.PUT_PACKETS && port)
                ? 0
                : op.code() == Code.PUT_PACKETS ? op.sources().size() : 1;
        int plainDestinations = op.code() == Code.UNPACK || op.code().folds() ? 1 : 0;
        scratch(op.sources(), plainSources, path + ".src_buff");
        scratch(op.destinations(), plainDestinations, path + ".dst_buff");
    }

    private static void scratch(List<Chunk> chunks, int from, String path) {
        for (int i = from; i < chunks.size(); i++) {
            require(chunks.get(i).space() == Space.SCRATCH, path + "[" + i + "]", "packets live in scratch only");
        }
    }

    private static void sameLength(Op op, String path) {
        int count = op.sources().getFirst().count();
        boolean pairs = op.code().isPairwise()
                && op.sources().size() == op.destinations().size();
        for (int i = 0; i < op.sources().size(); i++) {
            require(pairs || op.sources().get(i).count() == count, path + ".src_buff[" + i + "].size", "differs");
        }
        for (int i = 0; i < op.destinations().size(); i++) {
            int wanted = pairs ? op.sources().get(i).count() : count;
            require(
                    op.destinations().get(i).count() == wanted,
                    path + ".dst_buff[" + i + "].size",
                    "must be that of the source, " + wanted);
        }
    }

    private static void reads(Op op, int self, String path) {
        local(op.sources().subList(0, 1), self, path + ".src_buff");
        remote(op.sources().subList(1, op.sources().size()), self, path + ".src_buff");
    }

    private static void sends(Op op, int self, int kept, String path) {
        local(op.destinations().subList(0, kept), self, path + ".dst_buff");
        remote(op.destinations().subList(kept, op.destinations().size()), self, path + ".dst_buff");
    }

    private static void local(List<Chunk> chunks, int self, String path) {
        for (Chunk chunk : chunks) {
            require(chunk.rank() == self, path, chunk + " is a peer's, must be rank " + self + "'s own");
        }
    }

    private static void remote(List<Chunk> chunks, int self, String path) {
        for (Chunk chunk : chunks) {
            require(chunk.rank() != self, path, chunk + " is rank " + self + "'s own, must be a peer's");
        }
    }
}
