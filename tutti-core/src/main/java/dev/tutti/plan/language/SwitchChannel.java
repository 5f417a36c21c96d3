package dev.tutti.plan.language;

import dev.tutti.ReduceOp;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One memory of several ranks, reached at once: what a switch folds and copies on the way. */
public final class SwitchChannel {
    private final CollectiveProgram program;
    private final Space space;
    private final List<Integer> group;
    private final Map<Integer, View> views = new HashMap<>();

    SwitchChannel(CollectiveProgram program, Space space, int... group) {
        this.program = program;
        this.space = space;
        this.group = Arrays.stream(group).boxed().toList();
        if (this.group.stream().distinct().count() < group.length) {
            throw new IllegalArgumentException("a rank is in the group twice: " + this.group);
        }
        for (int rank : group) {
            int id = program.rank(rank).addGroup(new RankPlan.Group(space, this.group));
            views.put(rank, new View(program.rank(rank), id));
        }
    }

    /**
     * The channel as a rank of the group uses it.
     *
     * @param rank which rank
     * @return its view
     */
    public View at(int rank) {
        View view = views.get(rank);
        if (view == null) {
            throw new IllegalArgumentException("rank " + rank + " is not in the group " + group);
        }
        return view;
    }

    /** A rank's side of a switch channel. */
    public final class View {
        private final ProgramRank rank;
        private final int id;

        private View(ProgramRank rank, int id) {
            this.rank = rank;
            this.id = id;
        }

        /**
         * Folds a region over the group.
         *
         * @param offset first chunk of the region
         * @param size its chunks
         * @param to memory of this rank for the result
         * @param op how
         * @param lane which lane
         */
        public void reduce(int offset, int size, Chunks to, ReduceOp op, int lane) {
            rank.requireOwn(Code.GROUP_REDUCE, to);
            rank.data(
                    Code.GROUP_REDUCE,
                    region(offset, size),
                    List.of(to),
                    ChannelType.SWITCH,
                    List.of(id),
                    op,
                    Lanes.lane(lane));
        }

        /**
         * Stores data of this rank to the whole group.
         *
         * @param from memory of this rank
         * @param offset first chunk of the region
         * @param size its chunks
         * @param lane which lane
         */
        public void broadcast(Chunks from, int offset, int size, int lane) {
            store(Code.GROUP_STORE, from, offset, size, lane);
        }

        /**
         * Waits for packets in this rank's scratch and stores them to the whole group.
         *
         * @param from scratch of this rank
         * @param offset first chunk of the region
         * @param size its chunks
         * @param lane which lane
         */
        public void broadcastPackets(Chunks from, int offset, int size, int lane) {
            rank.requireScratch(Code.GROUP_STORE_PACKETS, from);
            CollectiveProgram.require(
                    space == Space.SCRATCH, Code.GROUP_STORE_PACKETS, rank.id(), "packets need a channel on scratch");
            store(Code.GROUP_STORE_PACKETS, from, offset, size, lane);
        }

        private void store(Code code, Chunks from, int offset, int size, int lane) {
            rank.requireOwn(code, from);
            rank.data(
                    code, List.of(from), region(offset, size), ChannelType.SWITCH, List.of(id), null, Lanes.lane(lane));
        }

        private List<Chunks> region(int offset, int size) {
            List<Chunks> all = new ArrayList<>();
            for (int member : group) {
                Chunks whole = switch (space) {
                    case INPUT -> program.rank(member).input();
                    case OUTPUT -> program.rank(member).output();
                    case SCRATCH ->
                        new Chunks(member, space, 0, program.rank(member).scratchChunks());
                };
                all.add(whole.slice(offset, offset + size));
            }
            return all;
        }
    }
}
