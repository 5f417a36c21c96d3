package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Reach;
import dev.tutti.plan.Space;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import dev.tutti.spi.RegionLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts sizes into a rank's part of a plan. Chunks are cut on whole granules, the remainder going to the first ones, and clipped
 * to the true length; empty chunks keep their signals.
 */
final class Resolver {
    private final RankPlan plan;
    private final Reach reach;
    private final Endpoint endpoint;
    private final BlockCuts cuts;
    private final DataType type;
    private final @Nullable ReduceOp op;
    private final long scratchStride;
    private final long packetStride;
    private final boolean posts;
    private final int postFlags;
    private final Set<Integer> checked = new HashSet<>();
    private long[] out = new long[64];
    private int length;

    private Resolver(
            Plan whole,
            RankPlan plan,
            Endpoint endpoint,
            Geometry geometry,
            DataType type,
            @Nullable ReduceOp op,
            long maxChunkBytes,
            boolean posts) {
        this.plan = plan;
        this.reach = whole.reach();
        this.endpoint = endpoint;
        this.cuts = new BlockCuts(plan, geometry, endpoint.pairs != null);
        this.type = type;
        this.op = op;
        this.scratchStride = posts ? shownStride(maxChunkBytes) : scratchStride(maxChunkBytes);
        this.packetStride = packetStride(maxChunkBytes);
        this.posts = posts;
        this.postFlags = posts ? Posts.flags(whole.collective().hearsFromAll(), shownBytes(plan, maxChunkBytes)) : 0;
    }

    /** Room that a chunk takes in scratch. */
    static long scratchStride(long maxChunkBytes) {
        return Math.max(128, Memory.roundUp(maxChunkBytes, 128));
    }

    /** Room that a chunk takes in what is posted: only its owner writes there, so chunks may share lines. */
    private static long shownStride(long maxChunkBytes) {
        return Memory.roundUp(maxChunkBytes, 4);
    }

    /** What a posted launch shows on every rank: within a post, or whole lines. */
    static long shownBytes(RankPlan plan, long maxChunkBytes) {
        long bytes = plan.scratchChunks() * shownStride(maxChunkBytes);
        return bytes <= Posts.ROOM ? bytes : Memory.roundUp(bytes, RegionLayout.LINE);
    }

    /** Room that a chunk takes in the packet area: a signature word and twice the data. */
    static long packetStride(long maxChunkBytes) {
        return Memory.roundUp(8 + 2 * Memory.roundUp(maxChunkBytes, 4), 64);
    }

    static Program resolve(
            Plan whole,
            RankPlan plan,
            Endpoint endpoint,
            Geometry geometry,
            DataType type,
            @Nullable ReduceOp op,
            long maxChunkBytes,
            boolean posts,
            boolean onlyLaunch) {
        Resolver resolver = new Resolver(whole, plan, endpoint, geometry, type, op, maxChunkBytes, posts);
        long[][] lanes = new long[plan.lanes().size()][];
        for (int lane = 0; lane < lanes.length; lane++) {
            lanes[lane] = resolver.lane(lane, plan.lanes().get(lane));
        }
        boolean meets = whole.reach() == Reach.PEERS && endpoint.size > 1;
        long[] entry = meets ? resolver.meeting(lanes.length) : null;
        long[] exit = meets ? resolver.meeting(0) : null;
        long footprint = posts ? shownBytes(plan, maxChunkBytes) : plan.scratchChunks() * scratchStride(maxChunkBytes);
        // One launch after the other on the same memory finds it in its cache, unless another rank used that meanwhile.
        boolean passes = !onlyLaunch || endpoint.sharesCores;
        long passing = passes ? passingBlocks(whole) * plan.chunksPerBlock() * maxChunkBytes : Program.NONE_PASS;
        return new Program(
                whole, plan, lanes, entry, exit, footprint, passing, posts, geometry.outputBlocks(), endpoint);
    }

    /** Blocks of input and output that a launch takes through every rank's cache. With a root it may be none: outputs go past it. */
    private static long passingBlocks(Plan whole) {
        long input = whole.collective().inputBlocks(whole.ranks());
        long output = whole.collective().outputBlocks(whole.ranks());
        return whole.collective().isRooted() ? 0 : input + output;
    }

    /** A meeting of all ranks, after which so many lanes may reach into peers' memory. */
    private long[] meeting(int lanes) {
        length = 0;
        int others = endpoint.size - 1;
        emit(Records.header(Records.SIGNAL, others, 0, 0, 1 + 2 * others));
        for (int i = 1; i <= others; i++) {
            RankPlan.Channel channel = meetingChannel(i);
            emit(endpoint.outbound(channel.peer(), 0), where(channel));
        }
        emit(Records.header(Records.WAIT, others, 0, 0, 1 + 2 * others));
        for (int i = 1; i <= others; i++) {
            RankPlan.Channel channel = meetingChannel(i);
            emit(endpoint.inbound(channel.peer(), 0), where(channel) | Records.CHECK);
        }
        for (int lane = 0; lane < lanes; lane++) {
            emit(Records.header(Records.ARRIVE, 0, 0, 0, 2), lane);
        }
        return Arrays.copyOf(out, length);
    }

    private RankPlan.Channel meetingChannel(int distance) {
        return new RankPlan.Channel(ChannelType.MEMORY, (endpoint.rank + distance) % endpoint.size, 0);
    }

    private long[] lane(int lane, List<Op> ops) {
        length = 0;
        boolean arrived = reach != Reach.GUARDED;
        if (!arrived) {
            // Peers' memory must not be touched before their signature is known to be the same, in whichever lane.
            checked.clear();
        }
        for (Op each : ops) {
            if (!arrived && reachesPeers(each)) {
                arrived = true;
                emit(Records.header(Records.ARRIVE, 0, 0, 0, 2), lane);
            }
            switch (each.code().shape()) {
                case PLAIN -> plain(each);
                case PACKET -> packets(each);
                case CONTROL -> control(each);
            }
        }
        return Arrays.copyOf(out, length);
    }

    private boolean reachesPeers(Op each) {
        return reachesPeers(each.sources()) || reachesPeers(each.destinations());
    }

    private boolean reachesPeers(List<Chunk> chunks) {
        for (Chunk chunk : chunks) {
            if (isPeers(chunk)) {
                return true;
            }
        }
        return false;
    }

    private boolean isPeers(Chunk chunk) {
        return chunk.space() != Space.SCRATCH && chunk.rank() != plan.rank();
    }

    private void control(Op each) {
        switch (each.code()) {
            case NOP, FLUSH -> {} // a lane is one thread, and puts to addressable memory are done when they return
            case SIGNAL, RELAXED_SIGNAL -> signal(each.channels());
            case WAIT, RELAXED_WAIT -> await(each.channels());
            case ACQUIRE -> semaphores(Records.ACQUIRE, each.semaphores());
            case RELEASE -> semaphores(Records.RELEASE, each.semaphores());
            case BARRIER -> {
                Op.Barrier barrier = java.util.Objects.requireNonNull(each.barrier());
                emit(Records.header(Records.BARRIER, 0, 0, 0, 3), barrier.id(), barrier.lanes());
            }
            default -> throw new IllegalArgumentException("cannot run " + each + " of rank " + plan.rank());
        }
    }

    private void signal(List<Integer> channels) {
        if (posts) {
            emit(Records.header(Records.POST, 0, 0, postFlags, 1));
            return;
        }
        emit(Records.header(Records.SIGNAL, channels.size(), 0, 0, 1 + 2 * channels.size()));
        for (int id : channels) {
            RankPlan.Channel channel = channel(id);
            emit(endpoint.outbound(channel.peer(), channel.ordinal()), where(channel));
        }
    }

    private void await(List<Integer> channels) {
        if (posts) {
            emit(Records.header(Records.FETCH, channels.size(), 0, postFlags, 1 + 2 * channels.size()));
            for (int id : channels) {
                int peer = channel(id).peer();
                emit(endpoint.posts.first(peer), peer);
            }
            return;
        }
        emit(Records.header(Records.WAIT, channels.size(), 0, 0, 1 + 2 * channels.size()));
        for (int id : channels) {
            RankPlan.Channel channel = channel(id);
            long check = checked.add(channel.peer()) ? Records.CHECK : 0;
            emit(endpoint.inbound(channel.peer(), channel.ordinal()), where(channel) | check);
        }
    }

    private RankPlan.Channel channel(int id) {
        RankPlan.Channel channel = plan.channels().get(id);
        if (channel.type() == ChannelType.SWITCH || channel.ordinal() >= endpoint.channelsPerPeer) {
            throw new IllegalArgumentException("plan needs channel " + channel + "; there are "
                    + endpoint.channelsPerPeer + " per pair; use fewer lanes or set TUTTI_CHANNELS");
        }
        return channel;
    }

    private long where(RankPlan.Channel channel) {
        return ((long) channel.peer() << 32) | (channel.peer() * endpoint.channelsPerPeer + channel.ordinal());
    }

    private void semaphores(int kind, List<Integer> ids) {
        emit(Records.header(kind, ids.size(), 0, 0, 1 + ids.size()));
        ids.forEach(id -> emit(id.longValue()));
    }

    private void plain(Op each) {
        long bytes = cuts.length(each.sources().getFirst().extent());
        int sources = each.sources().size();
        int destinations = each.destinations().size();
        int scaled = scaled(op, plan.rank(), each.sources());
        emit(
                Records.header(Records.DATA, sources, destinations, 0, Records.OPERANDS + sources + destinations),
                bytes,
                Records.fold(
                        kernel(each, op, type, sources, scaled) | eachScaled(each),
                        scaled,
                        slots(each.destinations())));
        for (Chunk chunk : each.sources()) {
            emit(plainOperand(chunk));
        }
        for (Chunk chunk : each.destinations()) {
            emit(plainOperand(chunk));
        }
    }

    /** Where preMulSum reads peers' inputs: their scalars are known by rank, so the sources must be everybody's input in rank order. */
    private int eachScaled(Op each) {
        if (op == null || op.kind() != ReduceOp.Kind.PRE_MUL_SUM || !readsInputOfPeer(each)) {
            return 0;
        }
        if (each.sources().size() > Transfers.MOST_SCALED) {
            throw new IllegalArgumentException(
                    "rank " + plan.rank() + " cannot fold " + each.sources().size()
                            + " inputs with preMulSum where they lie, only " + Transfers.MOST_SCALED
                            + ": use an algorithm that does not read peers' memory");
        }
        for (int i = 0; i < each.sources().size(); i++) {
            Chunk source = each.sources().get(i);
            if (source.space() != Space.INPUT || source.rank() != i) {
                throw new IllegalArgumentException("rank " + plan.rank() + " cannot run " + each
                        + " with preMulSum: it folds peers' inputs, but not those of all in rank order");
            }
        }
        return Records.EACH_SCALED;
    }

    private boolean readsInputOfPeer(Op each) {
        for (Chunk chunk : each.sources()) {
            if (chunk.space() == Space.INPUT && chunk.rank() != plan.rank()) {
                return true;
            }
        }
        return false;
    }

    /** How many of the last destinations are slots, or peers' memory. */
    private int slots(List<Chunk> destinations) {
        int first = destinations.size();
        while (first > 0 && isSlot(destinations.get(first - 1))) {
            first--;
        }
        return destinations.size() - first;
    }

    private boolean isSlot(Chunk chunk) {
        return chunk.space() == Space.SCRATCH || chunk.rank() != plan.rank();
    }

    private void packets(Op each) {
        boolean plainSource = each.code() != Code.UNPACK && each.code() != Code.READ_PUT_PACKETS;
        boolean plainDestination = each.code() != Code.PUT_PACKETS && each.code() != Code.READ_PUT_PACKETS;
        List<Chunk> packetSources =
                each.sources().subList(plainSource ? 1 : 0, each.sources().size());
        List<Chunk> packetDestinations = each.destinations()
                .subList(plainDestination ? 1 : 0, each.destinations().size());
        long bytes = cuts.length(each.sources().getFirst().extent());
        int scaled =
                plainSource && scaled(op, plan.rank(), each.sources().subList(0, 1)) == 0 ? each.plainPosition() : -1;
        int flags = Records.SIGNED
                | (plainSource ? Records.PLAIN_SOURCE : 0)
                | (plainDestination ? Records.PLAIN_DESTINATION : 0);
        int operands = each.sources().size() + each.destinations().size();
        int sources = packetSources.size() + (plainSource ? 1 : 0);
        emit(
                Records.header(
                        Records.PACKETS,
                        packetSources.size(),
                        packetDestinations.size(),
                        flags,
                        Records.OPERANDS + operands),
                bytes,
                Records.fold(kernel(each, op, type, sources, scaled), scaled, each.plainPosition()));
        if (plainSource) {
            emit(plainOperand(each.sources().getFirst()));
        }
        for (Chunk chunk : packetSources) {
            emit(packetOperand(chunk));
        }
        if (plainDestination) {
            emit(plainOperand(each.destinations().getFirst()));
        }
        for (Chunk chunk : packetDestinations) {
            emit(packetOperand(chunk));
        }
    }

    /** The source that preMulSum multiplies: the rank's own fresh input. */
    static int scaled(@Nullable ReduceOp op, int rank, List<Chunk> sources) {
        if (op != null && op.kind() == ReduceOp.Kind.PRE_MUL_SUM) {
            for (int i = 0; i < sources.size(); i++) {
                if (sources.get(i).space() == Space.INPUT && sources.get(i).rank() == rank) {
                    return i;
                }
            }
        }
        return -1;
    }

    static int kernel(Op each, @Nullable ReduceOp op, DataType type, int sources, int scaled) {
        ReduceOp operator = each.fold() != null ? each.fold() : op;
        if (operator == null) {
            return Records.COPY;
        }
        boolean divides = operator.kind() == ReduceOp.Kind.AVG && each.finishes();
        if (sources == 1 && scaled < 0 && !divides) {
            return Records.COPY;
        }
        return switch (operator.kind()) {
            case SUM -> Kernels.id(type, Fold.SUM);
            case PROD -> Kernels.id(type, Fold.PROD);
            case MIN -> Kernels.id(type, Fold.MIN);
            case MAX -> Kernels.id(type, Fold.MAX);
            case AND -> Kernels.id(type, Fold.AND);
            case OR -> Kernels.id(type, Fold.OR);
            case XOR -> Kernels.id(type, Fold.XOR);
            case AVG -> Kernels.id(type, divides ? Fold.AVG : Fold.SUM);
            case PRE_MUL_SUM -> Kernels.id(type, scaled >= 0 ? Fold.MUL_SUM : Fold.SUM);
            case USER -> Records.USER;
        };
    }

    private long plainOperand(Chunk chunk) {
        return switch (chunk.space()) {
            case INPUT -> Records.operand(Records.INPUT, reachable(chunk), cuts.offset(chunk));
            case OUTPUT -> Records.operand(Records.OUTPUT, reachable(chunk), cuts.offset(chunk));
            case SCRATCH -> Records.operand(Records.SCRATCH, chunk.rank(), chunk.index() * scratchStride);
        };
    }

    private int reachable(Chunk chunk) {
        if (reach == Reach.OWN && isPeers(chunk)) {
            throw new IllegalArgumentException("rank " + plan.rank() + " cannot reach " + chunk
                    + ": a plan that reaches into peers' buffers has to be marked so, see Plan.reaching");
        }
        return chunk.rank();
    }

    private long packetOperand(Chunk chunk) {
        return Records.operand(Records.PACKET_AREA, chunk.rank(), chunk.index() * packetStride);
    }

    private void emit(long... words) {
        if (length + words.length > out.length) {
            out = Arrays.copyOf(out, Math.max(2 * out.length, length + words.length));
        }
        System.arraycopy(words, 0, out, length, words.length);
        length += words.length;
    }
}
