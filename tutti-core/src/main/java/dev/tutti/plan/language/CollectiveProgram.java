package dev.tutti.plan.language;

import dev.tutti.Collective;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A plan for all ranks, written as one program. Operations are appended to lanes in the order in which they are written; {@link #build}
 * checks that signals and waits match, runs the passes and gives the plan.
 *
 * {@snippet :
 * CollectiveProgram program = CollectiveProgram.of("exchange", Collective.ALL_REDUCE, 2, 1);
 * for (int rank = 0; rank < 2; rank++) {
 *     int peer = 1 - rank;
 *     Chunks mine = program.rank(rank).input();
 *     Chunks arrived = program.rank(peer).scratch(2);
 *     program.memoryChannel(peer, rank).putPackets(arrived, mine, lane(0));
 * }
 * }
 *
 * <p>Each pass can be switched off: {@link #fusion}, {@link #dataSync}, {@link #autoSync}; {@link #instances} writes the whole program
 * several times over, each copy on its part of the data.
 */
public final class CollectiveProgram {
    private final String name;
    private final String purpose;
    private final int ranks;
    private final int chunkFactor;
    private final List<ProgramRank> members = new ArrayList<>();
    private Protocol protocol = Protocol.SIMPLE;
    private int instances = 1;
    private boolean inPlace;
    private boolean fuses = true;
    private boolean syncs = true;
    private boolean autoSyncs = true;
    private boolean reuses;
    private boolean doubleScratch;
    private int threads = PlanHeader.DEFAULT_THREADS;
    private int alignment = PlanHeader.DEFAULT_ALIGNMENT;
    private long minBytes;
    private long maxBytes = PlanHeader.UNLIMITED;
    private @Nullable Loop loop;

    /** A loop that is being written: one step for each lane that has operations in it. */
    private record Loop(long unitBytes, int chunks, Map<List<Step>, Step> perLane) {}

    private CollectiveProgram(String name, String purpose, int ranks, int chunkFactor, int inputs, int outputs) {
        if (ranks < 1 || chunkFactor < 1) {
            throw new IllegalArgumentException(
                    "ranks and chunk factor must be at least 1, got " + ranks + " and " + chunkFactor);
        }
        this.name = Objects.requireNonNull(name, "name");
        this.purpose = purpose;
        this.ranks = ranks;
        this.chunkFactor = chunkFactor;
        for (int rank = 0; rank < ranks; rank++) {
            members.add(new ProgramRank(this, rank, inputs, outputs));
        }
    }

    /**
     * A program for a collective.
     *
     * @param name what messages and pictures call it
     * @param collective what it computes
     * @param ranks how many ranks take part
     * @param chunkFactor chunks of each rank's share
     * @return an empty program
     */
    public static CollectiveProgram of(String name, Collective collective, int ranks, int chunkFactor) {
        boolean reduces = collective == Collective.ALL_REDUCE;
        int inputs = reduces ? ranks : Math.max(1, collective.inputBlocks(ranks));
        int outputs = reduces ? ranks : Math.max(1, collective.outputBlocks(ranks));
        return new CollectiveProgram(
                name,
                PlanHeader.purposeOf(collective),
                ranks,
                chunkFactor,
                inputs * chunkFactor,
                outputs * chunkFactor);
    }

    /**
     * A program for something else.
     *
     * @param name what messages and pictures call it
     * @param purpose {@link PlanHeader#TEST}, {@link PlanHeader#SENDRECV} or {@link PlanHeader#CUSTOM}
     * @param ranks how many ranks take part
     * @param inputChunks chunks of each input
     * @param outputChunks chunks of each output
     * @return an empty program
     */
    public static CollectiveProgram of(String name, String purpose, int ranks, int inputChunks, int outputChunks) {
        return new CollectiveProgram(name, purpose, ranks, 1, inputChunks, outputChunks);
    }

    /**
     * A rank.
     *
     * @param id 0 to ranks-1
     * @return its side of the program
     */
    public ProgramRank rank(int id) {
        return members.get(Objects.checkIndex(id, ranks));
    }

    /**
     * The number of ranks.
     *
     * @return at least 1
     */
    public int ranks() {
        return ranks;
    }

    /**
     * Chunks of each rank's share.
     *
     * @return the chunk factor
     */
    public int chunkFactor() {
        return chunkFactor;
    }

    /**
     * A new memory channel. The k-th from a to b is the other end of the k-th from b to a.
     *
     * @param to the rank at the other end
     * @param from the rank that uses this end
     * @return this end
     */
    public MemoryChannel memoryChannel(int to, int from) {
        return new MemoryChannel(rank(from), checkedPeer(to, from), rank(from).addChannel(ChannelType.MEMORY, to));
    }

    /**
     * A new port channel.
     *
     * @param to the rank at the other end
     * @param from the rank that uses this end
     * @return this end
     */
    public PortChannel portChannel(int to, int from) {
        return new PortChannel(rank(from), checkedPeer(to, from), rank(from).addChannel(ChannelType.PORT, to));
    }

    /**
     * A new switch channel: one memory of several ranks, reached at once.
     *
     * @param space which memory of each
     * @param group the ranks, in the order in which they are folded
     * @return the channel; {@link SwitchChannel#at} is a rank's view of it
     */
    public SwitchChannel switchChannel(Space space, int... group) {
        if (group.length == 0) {
            throw new IllegalArgumentException("a switch channel needs ranks");
        }
        return new SwitchChannel(this, space, group);
    }

    private int checkedPeer(int to, int from) {
        Objects.checkIndex(to, ranks);
        if (to == from) {
            throw new IllegalArgumentException("rank " + from + " cannot have a channel to itself");
        }
        return to;
    }

    /**
     * Writes a loop: on each lane that has operations in the body they are repeated over pieces of the chunks.
     *
     * @param unitBytes bytes of a piece
     * @param chunks chunks that are covered
     * @param body writes the operations
     * @return this
     */
    public CollectiveProgram loop(long unitBytes, int chunks, Runnable body) {
        if (loop != null) {
            throw new IllegalStateException("loops cannot stand in each other");
        }
        if (unitBytes < 1 || chunks < 1) {
            throw new IllegalArgumentException(
                    "a loop needs a unit of at least 1 byte and 1 chunk, got " + unitBytes + " and " + chunks);
        }
        loop = new Loop(unitBytes, chunks, new java.util.IdentityHashMap<>());
        try {
            body.run();
        } finally {
            loop = null;
        }
        return this;
    }

    /** Appends to a lane, or to the loop that is being written there. */
    void append(List<Step> lane, Step step) {
        Loop open = loop;
        if (open == null) {
            lane.add(step);
            return;
        }
        Step inner = open.perLane.computeIfAbsent(lane, absent -> {
            Step made = Step.loop(open.unitBytes, open.chunks);
            lane.add(made);
            return made;
        });
        Objects.requireNonNull(inner.loop()).body().add(step);
    }

    /**
     * Says how transfers announce themselves; plain data by default.
     *
     * @param used packets if scratch holds any
     * @return this
     */
    public CollectiveProgram protocol(Protocol used) {
        protocol = Objects.requireNonNull(used, "used");
        return this;
    }

    /**
     * Writes the program several times over, each copy on its part of every chunk, with lanes and channels of its own.
     *
     * @param copies at least 1
     * @return this
     */
    public CollectiveProgram instances(int copies) {
        if (copies < 1) {
            throw new IllegalArgumentException("instances must be at least 1, got " + copies);
        }
        instances = copies;
        return this;
    }

    /**
     * Says that input and output are meant to be the same memory.
     *
     * @param same true if they are
     * @return this
     */
    public CollectiveProgram inPlace(boolean same) {
        inPlace = same;
        return this;
    }

    /**
     * Switches the fusion of neighbouring operations.
     *
     * @param on true by default
     * @return this
     */
    public CollectiveProgram fusion(boolean on) {
        fuses = on;
        return this;
    }

    /**
     * Switches the meetings of threads that operations ask for by {@link DataSync}.
     *
     * @param on true by default
     * @return this
     */
    public CollectiveProgram dataSync(boolean on) {
        syncs = on;
        return this;
    }

    /**
     * Switches automatic meetings of threads between operations of a lane that touch the same chunks.
     *
     * @param on true by default
     * @return this
     */
    public CollectiveProgram autoSync(boolean on) {
        autoSyncs = on;
        return this;
    }

    /**
     * Says that one context serves all buffers.
     *
     * @param on false by default
     * @return this
     */
    public CollectiveProgram reuseResources(boolean on) {
        reuses = on;
        return this;
    }

    /**
     * Says that launches alternate between two halves of scratch.
     *
     * @param on false by default
     * @return this
     */
    public CollectiveProgram doubleScratch(boolean on) {
        doubleScratch = on;
        return this;
    }

    /**
     * Sets what GPUs want to know: threads per lane.
     *
     * @param number 1024 by default
     * @return this
     */
    public CollectiveProgram threadsPerLane(int number) {
        threads = number;
        return this;
    }

    /**
     * Sets the alignment of chunks and slices.
     *
     * @param bytes 16 by default
     * @return this
     */
    public CollectiveProgram alignment(int bytes) {
        alignment = bytes;
        return this;
    }

    /**
     * Sets which messages the plan is for.
     *
     * @param min smallest, inclusive
     * @param max longest, inclusive; {@link PlanHeader#UNLIMITED} for no limit
     * @return this
     */
    public CollectiveProgram messageBytes(long min, long max) {
        minBytes = min;
        maxBytes = max;
        return this;
    }

    /**
     * Checks the program, runs the passes and gives the plan.
     *
     * @return the plan
     * @throws IllegalStateException if signals and waits between two ranks do not match
     */
    public Plan build() {
        Pairing.check(members);
        List<RankPlan> parts = members.stream()
                .map(new Assembly(purpose, ranks, fuses, syncs, autoSyncs)::part)
                .toList();
        PlanHeader header = new PlanHeader(
                PlanHeader.Style.POSITIONS,
                purpose,
                inPlace,
                reuses,
                doubleScratch,
                threads,
                alignment,
                minBytes,
                maxBytes);
        return Plan.of(name, header, 0, protocol, parts).replicated(instances);
    }

    static boolean isScratch(Chunks chunks) {
        return chunks.space() == Space.SCRATCH;
    }

    static void require(boolean holds, Code code, int rank, String problem) {
        if (!holds) {
            throw new IllegalArgumentException(code.symbol() + " of rank " + rank + ": " + problem);
        }
    }
}
