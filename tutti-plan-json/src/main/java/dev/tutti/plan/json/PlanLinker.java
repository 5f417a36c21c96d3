package dev.tutti.plan.json;

import dev.tutti.Collective;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Reach;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Looks up every id of a file that has been read, and checks that what it names exists. */
final class PlanLinker {
    /** Group operations have an operand for each rank of the group: together no more than this. */
    private static final long MAX_OPERANDS = 32L << 20;

    private final Raw.File file;
    private final List<Raw.Rank> ranks;
    private long operands;
    private boolean blocks;
    /** In Tutti's own plans all ranks have as many slots as the one with the most. */
    private int mostScratch;

    PlanLinker(Raw.File file) {
        this.file = file;
        this.ranks = required(file.ranks, "gpus");
    }

    Plan link() {
        String name = required(file.name, "name");
        Protocol protocol = protocol(required(file.protocol, "protocol"));
        if (ranks.isEmpty()) {
            throw new PlanFormatException("gpus", "a plan needs at least one rank", null);
        }
        Raw.Extra extra = file.extra;
        PlanHeader.Style style = style(extra);
        String purpose =
                extra != null && extra.collective != null ? extra.collective : required(file.collective, "collective");
        PlanHeader header = new PlanHeader(
                style,
                purpose,
                required(file.inPlace, "inplace"),
                file.reuseResources,
                file.doubleScratch,
                file.threadsPerBlock,
                file.alignment,
                file.minBytes,
                file.maxBytes);
        int root = extra == null ? 0 : extra.root;
        if (root >= ranks.size()) {
            throw new PlanFormatException("tutti.root", "there is no rank " + root, null);
        }
        if (style == PlanHeader.Style.BLOCKS && header.collective() == null) {
            throw new PlanFormatException("tutti.collective", "there is no collective '" + purpose + "'", null);
        }
        blocks = style == PlanHeader.Style.BLOCKS;
        for (int id = 0; id < ranks.size(); id++) {
            check(id);
            mostScratch = Math.max(mostScratch, ranks.get(id).scratchChunks);
        }
        List<RankPlan> parts = new ArrayList<>();
        for (int id = 0; id < ranks.size(); id++) {
            parts.add(part(id, header));
        }
        Plan plan = Plan.of(name, header, root, protocol, parts);
        return extra == null || extra.reach == null ? plan : plan.reaching(reach(extra.reach));
    }

    private static PlanHeader.Style style(Raw.@Nullable Extra extra) {
        if (extra == null || extra.style.equals("positions")) {
            return PlanHeader.Style.POSITIONS;
        }
        if (extra.style.equals("blocks")) {
            return PlanHeader.Style.BLOCKS;
        }
        throw new PlanFormatException("tutti.style", "is blocks or positions, not '" + extra.style + "'", null);
    }

    private static Reach reach(String name) {
        for (Reach reach : Reach.values()) {
            if (reach.name().toLowerCase(Locale.ROOT).equals(name)) {
                return reach;
            }
        }
        throw new PlanFormatException("tutti.reach", "there is no reach '" + name + "'", null);
    }

    private static Protocol protocol(String name) {
        return switch (name) {
            case "Simple" -> Protocol.SIMPLE;
            case "LL" -> Protocol.PACKET;
            default -> throw new PlanFormatException("protocol", "is Simple or LL, not '" + name + "'", null);
        };
    }

    private void check(int id) {
        Raw.Rank rank = ranks.get(id);
        String path = "gpus[" + id + "]";
        if (rank.id != id) {
            throw new PlanFormatException(
                    path + ".id", "must be " + id + ", is " + (rank.id == Raw.ABSENT ? "missing" : rank.id), null);
        }
        require(rank.inputChunks != Raw.ABSENT, path, "needs input_chunks");
        require(rank.outputChunks != Raw.ABSENT, path, "needs output_chunks");
        require(rank.scratchChunks != Raw.ABSENT, path, "needs scratch_chunks");
        for (int i = 0; i < rank.remoteBuffers.size(); i++) {
            requireRank(rank.remoteBuffers.get(i).rank, path + ".remote_buffers[" + i + "].rank");
        }
    }

    private RankPlan part(int id, PlanHeader header) {
        Raw.Rank rank = ranks.get(id);
        String path = "gpus[" + id + "]";
        List<RankPlan.Channel> channels = new ArrayList<>();
        addChannels(channels, rank, ChannelType.MEMORY, path, id);
        int memoryChannels = channels.size();
        addChannels(channels, rank, ChannelType.PORT, path, id);
        List<RankPlan.Group> groups = groups(rank, path);
        List<List<dev.tutti.plan.Op>> lanes = new ArrayList<>();
        for (int lane = 0; lane < rank.lanes.size(); lane++) {
            Raw.Lane raw = rank.lanes.get(lane);
            String lanePath = path + ".threadblocks[" + lane + "]";
            if (raw.id != lane) {
                throw new PlanFormatException(
                        lanePath + ".id",
                        "must be " + lane + ", is " + (raw.id == Raw.ABSENT ? "missing" : raw.id),
                        null);
            }
            OpLinker linker = new OpLinker(
                    this, id, raw, rank, channels, memoryChannels, groups, header.style() == PlanHeader.Style.BLOCKS);
            lanes.add(linker.all(raw.ops, lanePath + ".ops"));
        }
        Raw.RankExtra extra = rank.extra;
        int scratchChunks =
                extra == null || extra.scratchChunks == Raw.ABSENT ? rank.scratchChunks : extra.scratchChunks;
        int packetChunks = extra == null || extra.packetChunks == Raw.ABSENT ? rank.scratchChunks : extra.packetChunks;
        return new RankPlan(
                id,
                ranks.size(),
                rank.inputChunks,
                rank.outputChunks,
                chunksPerBlock(rank, header, path),
                scratchChunks,
                packetChunks,
                channels,
                groups,
                rank.semaphores,
                lanes);
    }

    /** Chunks of one block: of the whole input, or of one rank's share where the collective has one per rank. */
    private int chunksPerBlock(Raw.Rank rank, PlanHeader header, String path) {
        if (rank.extra != null && rank.extra.chunksPerBlock != Raw.ABSENT) {
            return rank.extra.chunksPerBlock;
        }
        Collective collective = header.collective();
        int inputBlocks = collective == null ? 1 : collective.inputBlocks(ranks.size());
        int outputBlocks = collective == null ? 1 : collective.outputBlocks(ranks.size());
        if (collective != null) {
            requireWhole(rank.inputChunks, inputBlocks, path + ".input_chunks", collective);
            requireWhole(rank.outputChunks, outputBlocks, path + ".output_chunks", collective);
            if (rank.inputChunks > 0
                    && rank.outputChunks > 0
                    && (long) rank.inputChunks * outputBlocks != (long) rank.outputChunks * inputBlocks) {
                throw new PlanFormatException(
                        path,
                        rank.inputChunks + " chunks of input and " + rank.outputChunks
                                + " of output cannot have one size in " + header.purpose() + " of " + ranks.size()
                                + " ranks",
                        null);
            }
        }
        if (rank.inputChunks > 0 && inputBlocks > 0) {
            return rank.inputChunks / inputBlocks;
        }
        return rank.outputChunks > 0 && outputBlocks > 0 ? rank.outputChunks / outputBlocks : 1;
    }

    private void requireWhole(int chunks, int blocks, String path, Collective collective) {
        if (blocks > 1 && chunks % blocks != 0) {
            throw new PlanFormatException(
                    path, chunks + " chunks cannot be shared by " + blocks + " ranks in " + collective, null);
        }
    }

    private void addChannels(List<RankPlan.Channel> channels, Raw.Rank rank, ChannelType type, String path, int self) {
        Map<Integer, Integer> ordinals = new HashMap<>();
        for (int i = 0; i < rank.channels.size(); i++) {
            Raw.Channel channel = rank.channels.get(i);
            if (channel.type == type) {
                for (int k = 0; k < channel.connectedTo.length; k++) {
                    int peer = channel.connectedTo[k];
                    String at = path + ".channels[" + i + "].connected_to[" + k + "]";
                    requireRank(peer, at);
                    require(peer != self, at, "rank " + self + " is joined to itself");
                    channels.add(new RankPlan.Channel(type, peer, ordinals.merge(peer, 1, Integer::sum) - 1));
                }
            }
        }
    }

    private List<RankPlan.Group> groups(Raw.Rank rank, String path) {
        List<RankPlan.Group> groups = new ArrayList<>();
        for (int i = 0; i < rank.channels.size(); i++) {
            Raw.Channel channel = rank.channels.get(i);
            if (channel.type == ChannelType.SWITCH) {
                for (int g = 0; g < channel.groups.size(); g++) {
                    String at = path + ".channels[" + i + "].rank_groups[" + g + "].ranks";
                    groups.add(group(channel.space, channel.groups.get(g), path + ".channels[" + i + "]", at));
                }
            }
        }
        return groups;
    }

    private RankPlan.Group group(@Nullable Space space, int[] members, String channelPath, String at) {
        require(space != null, channelPath, "a switch channel needs buffer_type");
        require(members.length > 0, at, "a group needs ranks");
        for (int k = 0; k < members.length; k++) {
            requireRank(members[k], at + "[" + k + "]");
        }
        require(Arrays.stream(members).distinct().count() == members.length, at, "a rank appears twice in the group");
        return new RankPlan.Group(
                java.util.Objects.requireNonNull(space),
                Arrays.stream(members).boxed().toList());
    }

    /** Chunks that a rank has of a memory. */
    int chunks(int rank, Space space) {
        Raw.Rank raw = ranks.get(rank);
        return switch (space) {
            case INPUT -> raw.inputChunks;
            case OUTPUT -> raw.outputChunks;
            case SCRATCH -> blocks ? mostScratch : raw.scratchChunks;
        };
    }

    void countOperands(int more, String path) {
        operands += more;
        require(operands <= MAX_OPERANDS, path, "the plan has more than " + MAX_OPERANDS + " operands");
    }

    private void requireRank(int rank, String path) {
        require(rank < ranks.size(), path, "there is no rank " + rank + " among " + ranks.size());
    }

    static void require(boolean condition, String path, String problem) {
        if (!condition) {
            throw new PlanFormatException(path, problem, null);
        }
    }

    private static <T> T required(@Nullable T value, String field) {
        if (value == null) {
            throw new PlanFormatException("", "field '" + field + "' is missing", null);
        }
        return value;
    }
}
