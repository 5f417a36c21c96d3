package dev.tutti.plan.language;

import dev.tutti.ReduceOp;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One rank of a program: its buffers, its semaphores, and what its lanes do without other ranks. */
public final class ProgramRank {
    private final CollectiveProgram program;
    private final int id;
    private final Chunks input;
    private final Chunks output;
    private final List<List<Step>> lanes = new ArrayList<>();
    private final List<Integer> memoryPeers = new ArrayList<>();
    private final List<Integer> portPeers = new ArrayList<>();
    private final List<RankPlan.Group> groups = new ArrayList<>();
    private final List<Integer> semaphores = new ArrayList<>();
    /** Sets of lanes that meet; the place of one is the barrier's id. */
    private final List<List<Integer>> meetings = new ArrayList<>();

    private int scratchChunks;

    ProgramRank(CollectiveProgram program, int id, int inputs, int outputs) {
        this.program = program;
        this.id = id;
        this.input = new Chunks(id, Space.INPUT, 0, inputs);
        this.output = new Chunks(id, Space.OUTPUT, 0, outputs);
    }

    /**
     * Its number.
     *
     * @return the rank
     */
    public int id() {
        return id;
    }

    /**
     * What the caller passes in.
     *
     * @return all chunks of the input
     */
    public Chunks input() {
        return input;
    }

    /**
     * Where the caller wants the result.
     *
     * @return all chunks of the output
     */
    public Chunks output() {
        return output;
    }

    /**
     * More scratch.
     *
     * @param chunks how many
     * @return the next chunks of scratch
     */
    public Chunks scratch(int chunks) {
        if (chunks < 1) {
            throw new IllegalArgumentException("scratch of rank " + id + " needs at least one chunk, got " + chunks);
        }
        scratchChunks += chunks;
        return new Chunks(id, Space.SCRATCH, scratchChunks - chunks, chunks);
    }

    /**
     * A semaphore between lanes of this rank.
     *
     * @param initial its first value
     * @return the semaphore
     */
    public Semaphore semaphore(int initial) {
        semaphores.add(initial);
        return new Semaphore(this, semaphores.size() - 1);
    }

    /**
     * Copies.
     *
     * @param to where to, on this rank
     * @param from what, on this rank
     * @param on the lanes that do it
     */
    public void copy(Chunks to, Chunks from, Lanes on) {
        local(Code.COPY, List.of(from), List.of(to), null, on);
    }

    /**
     * Makes packets of data.
     *
     * @param to scratch of this rank
     * @param from data of this rank
     * @param on the lanes that do it
     */
    public void copyPackets(Chunks to, Chunks from, Lanes on) {
        requireScratch(Code.PACK, to);
        local(Code.PACK, List.of(from), List.of(to), null, on);
    }

    /**
     * Waits for packets and makes data of them.
     *
     * @param to data of this rank
     * @param from scratch of this rank
     * @param on the lanes that do it
     */
    public void unpackPackets(Chunks to, Chunks from, Lanes on) {
        requireScratch(Code.UNPACK, from);
        local(Code.UNPACK, List.of(from), List.of(to), null, on);
    }

    /**
     * Folds chunks of this rank into the first.
     *
     * @param first the first source, and the destination
     * @param others the other sources
     * @param op how
     * @param on the lanes that do it
     */
    public void reduce(Chunks first, List<Chunks> others, ReduceOp op, Lanes on) {
        reduce(first, first, others, op, on);
    }

    /**
     * Folds chunks of this rank.
     *
     * @param to the destination
     * @param first the first source
     * @param others the other sources
     * @param op how
     * @param on the lanes that do it
     */
    public void reduce(Chunks to, Chunks first, List<Chunks> others, ReduceOp op, Lanes on) {
        local(Code.REDUCE, sources(first, others), List.of(to), op, on);
    }

    /**
     * Waits for packets and folds them with data.
     *
     * @param to the destination
     * @param first the data
     * @param others the packets, scratch of this rank
     * @param op how
     * @param on the lanes that do it
     */
    public void reducePackets(Chunks to, Chunks first, List<Chunks> others, ReduceOp op, Lanes on) {
        others.forEach(each -> requireScratch(Code.REDUCE_PACKETS, each));
        local(Code.REDUCE_PACKETS, sources(first, others), List.of(to), op, on);
    }

    /**
     * Lets lanes of this rank meet; one lane alone lets its threads meet.
     *
     * @param which the lanes
     */
    public void barrier(int... which) {
        if (which.length == 0) {
            throw new IllegalArgumentException("a barrier of rank " + id + " needs lanes");
        }
        List<Integer> set = Arrays.stream(which).boxed().toList();
        if (set.size() == 1) {
            append(set.getFirst(), Step.nop());
            return;
        }
        if (!meetings.contains(set)) {
            meetings.add(set);
        }
        Op.Barrier barrier = new Op.Barrier(meetings.indexOf(set), set.size());
        for (int lane : set) {
            append(
                    lane,
                    new Step(
                            Code.BARRIER,
                            List.of(),
                            List.of(),
                            null,
                            List.of(),
                            null,
                            null,
                            barrier,
                            null,
                            DataSync.NONE));
        }
    }

    private static List<Chunks> sources(Chunks first, List<Chunks> others) {
        if (others.isEmpty()) {
            throw new IllegalArgumentException("a reduce of " + first + " needs something to fold it with");
        }
        List<Chunks> all = new ArrayList<>();
        all.add(first);
        all.addAll(others);
        return all;
    }

    private void local(Code code, List<Chunks> from, List<Chunks> to, @Nullable ReduceOp op, Lanes on) {
        from.forEach(chunks -> requireOwn(code, chunks));
        to.forEach(chunks -> requireOwn(code, chunks));
        data(code, from, to, null, List.of(), op, on);
    }

    /** Appends an operation on data to a lane, or its parts to the lanes of a group. */
    void data(
            Code code,
            List<Chunks> from,
            List<Chunks> to,
            @Nullable ChannelType type,
            List<Integer> ids,
            @Nullable ReduceOp op,
            Lanes on) {
        int size = from.getFirst().size();
        for (Chunks each : from) {
            CollectiveProgram.require(
                    each.size() == size, code, id, "sources have different sizes: " + from.getFirst() + " and " + each);
        }
        for (Chunks each : to) {
            CollectiveProgram.require(
                    each.size() == size, code, id, from.getFirst() + " does not fit " + each + ": sizes differ");
        }
        List<Chunk> sources = from.stream().map(Chunks::chunk).toList();
        List<Chunk> destinations = to.stream().map(Chunks::chunk).toList();
        for (int i = 0; i < on.ids().size(); i++) {
            Op.Slice slice = on.group() ? new Op.Slice(i, on.ids().size()) : null;
            append(
                    on.ids().get(i),
                    new Step(code, sources, destinations, type, ids, op, slice, null, null, DataSync.NONE));
        }
    }

    void append(int lane, Step step) {
        if (lane < 0) {
            throw new IllegalArgumentException("lanes count from 0, got " + lane + " on rank " + id);
        }
        while (lanes.size() <= lane) {
            lanes.add(new ArrayList<>());
        }
        program.append(lanes.get(lane), step);
    }

    void requireOwn(Code code, Chunks chunks) {
        CollectiveProgram.require(chunks.rank() == id, code, id, chunks + " is not of this rank");
    }

    /** What a channel reaches on its other side is the peer's. */
    void requireOf(int peer, Code code, Chunks chunks) {
        CollectiveProgram.require(
                chunks.rank() == peer, code, id, chunks + " is not of rank " + peer + ", to which this channel goes");
    }

    void requireScratch(Code code, Chunks chunks) {
        CollectiveProgram.require(
                CollectiveProgram.isScratch(chunks), code, id, "packets live in scratch only, got " + chunks);
    }

    int addChannel(ChannelType type, int peer) {
        List<Integer> peers = type == ChannelType.MEMORY ? memoryPeers : portPeers;
        peers.add(peer);
        return peers.size() - 1;
    }

    int addGroup(RankPlan.Group group) {
        groups.add(group);
        return groups.size() - 1;
    }

    List<Integer> peers(ChannelType type) {
        return type == ChannelType.MEMORY ? memoryPeers : portPeers;
    }

    List<RankPlan.Group> groups() {
        return groups;
    }

    List<Integer> semaphores() {
        return semaphores;
    }

    List<List<Step>> lanes() {
        return lanes;
    }

    int scratchChunks() {
        return scratchChunks;
    }
}
