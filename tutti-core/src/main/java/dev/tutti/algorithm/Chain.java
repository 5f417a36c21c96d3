package dev.tutti.algorithm;

import static dev.tutti.algorithm.Peers.and;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.RankBuilder;
import java.util.List;

/** From one rank to the next: every rank works on S bytes only, and rounds follow each other down the line. */
final class Chain {
    /** Pieces that are on their way at once: more keep more ranks busy, and cost more signals. */
    static final int PIECES = 4;

    private Chain() {}

    /**
     * Scan: rank r adds its part to what came and passes it on.
     *
     * <pre>
     *   rank 0 ──x0──► rank 1 ──x0+x1──► rank 2 ──x0+x1+x2──► …
     * </pre>
     *
     * Cost: n-1 steps, S copied, 2·S folded.
     */
    static void scan(RankBuilder me) {
        me.scratchSlots(1);
        Chunk own = me.input(0);
        Chunk result = me.output(0);
        Lane lane = me.lane();
        boolean last = me.rank() == me.size() - 1;
        if (me.rank() > 0) {
            lane.await(me.channel(me.rank() - 1));
        }
        lane.finishReduce(
                me.rank() == 0 ? List.of(own) : List.of(me.scratch(0, own), own),
                last ? and(result) : and(result, me.scratchOf(me.rank() + 1, 0, own)));
        if (!last) {
            lane.signal(me.channel(me.rank() + 1));
        }
    }

    /**
     * Exscan: rank r keeps what came and passes it on with its own part added.
     *
     * <p>Cost: n-1 steps, S copied, 2·S folded.
     */
    static void exscan(RankBuilder me) {
        me.scratchSlots(1);
        Chunk own = me.input(0);
        Lane lane = me.lane();
        if (me.rank() > 0) {
            lane.await(me.channel(me.rank() - 1));
        }
        if (me.rank() < me.size() - 1) {
            lane.reduce(
                    me.rank() == 0 ? List.of(own) : List.of(me.scratch(0, own), own),
                    me.scratchOf(me.rank() + 1, 0, own));
            lane.signal(me.channel(me.rank() + 1));
        }
        if (me.rank() > 0) {
            lane.finishReduce(List.of(me.scratch(0, own)), me.output(0));
        }
    }

    /**
     * Broadcast in pieces, from the root round the ring.
     *
     * <pre>
     *   root   ──3──2──1──0──►  next  ──1──0──►  next  ──►  …
     * </pre>
     *
     * Cost: n-1 steps for the first piece; 2·S copied by each.
     */
    static void broadcast(RankBuilder me) {
        int n = me.size();
        me.chunksPerBlock(PIECES).scratchSlots(PIECES);
        Lane lane = me.lane();
        int next = (me.rank() + 1) % n;
        boolean root = me.rank() == me.root();
        boolean last = next == me.root();
        for (int piece = 0; piece < PIECES; piece++) {
            Chunk result = me.output(piece);
            if (!root) {
                lane.await(me.channel(Math.floorMod(me.rank() - 1, n)));
            }
            lane.copy(
                    root ? me.input(piece) : me.scratch(piece, result),
                    last ? and(result) : and(result, me.scratchOf(next, piece, result)));
            if (!last) {
                lane.signal(me.channel(next));
            }
        }
    }
}
