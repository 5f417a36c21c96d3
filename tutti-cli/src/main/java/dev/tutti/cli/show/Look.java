package dev.tutti.cli.show;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.RankPlan;
import java.util.List;
import java.util.stream.Collectors;

/** Colours and words for operations. */
enum Look {
    COPY("copy, put, get", "#56a0d8", "#0b3c5d"),
    REDUCE("reduce", "#f0a03c", "#5a3200"),
    PACKETS("packets", "#b98ad8", "#3d1a57"),
    GROUP("whole group (switch)", "#ea7fa8", "#5c1230"),
    SIGNAL("signal", "#8fcf9b", "#14491f"),
    WAIT("wait", "#d3d8de", "#39424c"),
    LOCAL("barrier, semaphore, nop", "#e8ddc4", "#5b4a1c"),
    LOOP("loop", "#f4f1ea", "#5b4a1c");

    final String words;
    final String fill;
    final String ink;

    Look(String words, String fill, String ink) {
        this.words = words;
        this.fill = fill;
        this.ink = ink;
    }

    static Look of(Code code) {
        return switch (code) {
            case SIGNAL, RELAXED_SIGNAL -> SIGNAL;
            case WAIT, RELAXED_WAIT, FLUSH -> WAIT;
            case NOP, BARRIER, ACQUIRE, RELEASE -> LOCAL;
            case PIPELINE -> LOOP;
            default ->
                code.isGroup() ? GROUP : code.shape() == Code.Shape.PACKET ? PACKETS : code.folds() ? REDUCE : COPY;
        };
    }

    /** A few words that fit into a box: who is told, or what goes where. */
    static String detail(RankPlan part, Op op) {
        return switch (op.code()) {
            case SIGNAL, RELAXED_SIGNAL -> "→ " + peers(part, op);
            case WAIT, RELAXED_WAIT, FLUSH -> "← " + peers(part, op);
            case ACQUIRE, RELEASE ->
                "sem " + op.semaphores().stream().map(String::valueOf).collect(Collectors.joining(","));
            case BARRIER ->
                op.barrier() == null
                        ? ""
                        : "#" + op.barrier().id() + " of " + op.barrier().lanes();
            case NOP, PIPELINE -> "";
            default -> flow(part.rank(), op);
        };
    }

    private static String peers(RankPlan part, Op op) {
        List<Integer> peers =
                op.channels().stream().map(id -> part.channels().get(id).peer()).toList();
        return peers.size() > 4
                ? peers.size() + " ranks"
                : peers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static String flow(int self, Op op) {
        if (op.code().isGroup()) {
            int members = Math.max(op.sources().size(), op.destinations().size());
            Chunk chunk = op.destinations().size() > 1
                    ? op.destinations().getFirst()
                    : op.sources().getFirst();
            return chunk.space().symbol() + chunk.index() + " on " + members + " ranks";
        }
        List<Chunk> sources = op.sources();
        List<Chunk> destinations = op.destinations();
        String from = sources.size() <= 2
                ? sources.stream().map(chunk -> place(self, chunk)).collect(Collectors.joining("+"))
                : place(self, sources.getFirst()) + "+" + (sources.size() - 1);
        String to = destinations.size() == 1
                ? place(self, destinations.getFirst())
                : place(self, destinations.getFirst()) + " +" + (destinations.size() - 1);
        return from + "→" + to;
    }

    private static String place(int self, Chunk chunk) {
        String run = chunk.count() == 1 ? "" : "‥" + (chunk.index() + chunk.count() - 1);
        return chunk.space().symbol() + chunk.index() + run + (chunk.rank() == self ? "" : "@" + chunk.rank());
    }
}
