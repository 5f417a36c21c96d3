package dev.tutti.plan.json;

import static dev.tutti.plan.json.PlanLinker.require;

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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes operations of one lane out of what the file says, through the lane's tables. */
final class OpLinker {
    private final PlanLinker plan;
    private final int self;
    private final Raw.Lane lane;
    private final Raw.Rank rank;
    private final List<RankPlan.Channel> channels;
    private final int memoryChannels;
    private final List<RankPlan.Group> groups;
    private final boolean blocks;

    OpLinker(
            PlanLinker plan,
            int self,
            Raw.Lane lane,
            Raw.Rank rank,
            List<RankPlan.Channel> channels,
            int memoryChannels,
            List<RankPlan.Group> groups,
            boolean blocks) {
        this.plan = plan;
        this.self = self;
        this.lane = lane;
        this.rank = rank;
        this.channels = channels;
        this.memoryChannels = memoryChannels;
        this.groups = groups;
        this.blocks = blocks;
    }

    List<Op> all(List<Raw.Op> ops, String path) {
        List<Op> linked = new ArrayList<>(ops.size());
        for (int i = 0; i < ops.size(); i++) {
            linked.add(op(ops.get(i), path + "[" + i + "]"));
        }
        return linked;
    }

    private Op op(Raw.Op raw, String path) {
        Code code = Objects.requireNonNull(raw.code);
        List<Integer> ids = channels(raw, code, path);
        List<Chunk> sources;
        List<Chunk> destinations;
        if (code == Code.GROUP_REDUCE && raw.chunk != null) {
            require(raw.bufferOffset != Raw.ABSENT && raw.size != Raw.ABSENT, path, "needs buffer_offset and size");
            sources = ofGroup(ids.getFirst(), raw.bufferOffset, raw.size, path + ".buffer_offset");
            destinations = List.of(local(raw.chunk, path + ".dst_chunk"));
        } else {
            sources = operands(raw, raw.sources, code, ids, path + ".src_buff");
            destinations = operands(raw, raw.destinations, code, ids, path + ".dst_buff");
        }
        if (raw.extra != null && raw.extra.fansOut) {
            require(!sources.isEmpty() && sources.stream().distinct().count() == 1, path, "fans out from one source");
            sources = sources.subList(0, 1);
        }
        if (raw.extra != null && !raw.extra.like.isEmpty()) {
            List<@Nullable Chunk> like =
                    like(raw.extra.like, sources.size() + destinations.size(), path + ".tutti.like");
            destinations = withLike(destinations, like, sources.size());
            sources = withLike(sources, like, 0);
        }
        Op op = new Op(
                code,
                sources,
                destinations,
                ids,
                semaphores(raw, path),
                fold(raw, code, path),
                plainPosition(raw, code, sources.size(), path),
                raw.extra != null && raw.extra.finishes,
                raw.sliceOf == Raw.ABSENT ? null : new Op.Slice(raw.sliceIndex, raw.sliceOf),
                barrier(raw, code, path),
                loop(raw, code, path));
        Operands.check(op, self, channels, path, raw.extra != null && raw.extra.fansOut, blocks);
        return op;
    }

    private static int plainPosition(Raw.Op raw, Code code, int sources, String path) {
        if (raw.extra != null && raw.extra.plainPosition != Raw.ABSENT) {
            require(raw.extra.plainPosition < Math.max(1, sources), path + ".tutti.plain_position", "is too large");
            return raw.extra.plainPosition;
        }
        // The format folds packets in the order listed, the plain source last.
        return code.folds() && code.shape() == Code.Shape.PACKET ? Math.max(0, sources - 1) : 0;
    }

    private @Nullable ReduceOp fold(Raw.Op raw, Code code, String path) {
        if (!code.folds() || (raw.extra != null && raw.extra.callOperator)) {
            return null;
        }
        String name = raw.reduceOp;
        if (name == null) {
            return null;
        }
        return switch (name) {
            case "sum" -> ReduceOp.SUM;
            case "min" -> ReduceOp.MIN;
            case "max" -> ReduceOp.MAX;
            case "prod" -> ReduceOp.PROD;
            case "avg" -> ReduceOp.AVG;
            case "and" -> ReduceOp.AND;
            case "or" -> ReduceOp.OR;
            case "xor" -> ReduceOp.XOR;
            default -> throw new PlanFormatException(path + ".reduce_op", "there is no operator '" + name + "'", null);
        };
    }

    private static Op.@Nullable Barrier barrier(Raw.Op raw, Code code, String path) {
        if (code != Code.BARRIER) {
            return null;
        }
        require(
                raw.barrierId != Raw.ABSENT && raw.barrierLanes != Raw.ABSENT,
                path,
                "needs barrier_id and num_threadblocks");
        return new Op.Barrier(raw.barrierId, raw.barrierLanes);
    }

    private Op.@Nullable Loop loop(Raw.Op raw, Code code, String path) {
        if (code != Code.PIPELINE) {
            return null;
        }
        require(
                raw.unitBytes != Raw.ABSENT && raw.loopChunks != Raw.ABSENT,
                path,
                "needs iter_context with unit_size and num_chunks");
        List<Raw.Op> body = raw.body;
        require(body != null, path, "needs ops");
        for (int i = 0; i < Objects.requireNonNull(body).size(); i++) {
            require(body.get(i).code != Code.PIPELINE, path + ".ops[" + i + "]", "a pipeline cannot stand in another");
        }
        return new Op.Loop(raw.unitBytes, raw.loopChunks, all(body, path + ".ops"));
    }

    private List<Integer> semaphores(Raw.Op raw, String path) {
        for (int i = 0; i < raw.semaphores.length; i++) {
            require(
                    raw.semaphores[i] < rank.semaphores.size(),
                    path + ".semaphore_ids[" + i + "]",
                    "rank " + self + " has no semaphore " + raw.semaphores[i]);
        }
        return Arrays.stream(raw.semaphores).boxed().toList();
    }

    /** Ids of the rank's channels; for group operations, of its groups. */
    private List<Integer> channels(Raw.Op raw, Code code, String path) {
        if (code.isGroup()) {
            return List.of(group(raw, path));
        }
        int[] named = raw.channelIds;
        if (named == null || named.length == 0) {
            return List.of();
        }
        require(raw.channelType != null, path, "needs channel_type");
        ChannelType type = Objects.requireNonNull(raw.channelType);
        require(type != ChannelType.SWITCH, path + ".channel_type", code.symbol() + " does not go through a switch");
        List<Integer> ids = new ArrayList<>(named.length);
        for (int k = 0; k < named.length; k++) {
            String at = path + ".channel_ids[" + k + "]";
            int id = lookUp(lane.channels, type, named[k], at, "channel");
            int known = type == ChannelType.MEMORY ? memoryChannels : channels.size() - memoryChannels;
            require(id < known, at, "rank " + self + " has no " + type + " channel " + id);
            ids.add(type == ChannelType.MEMORY ? id : memoryChannels + id);
        }
        return ids;
    }

    private int group(Raw.Op raw, String path) {
        int named = Raw.ABSENT;
        for (Raw.Ref ref : raw.sources) {
            named = Math.max(named, ref.group);
        }
        for (Raw.Ref ref : raw.destinations) {
            require(named == Raw.ABSENT || ref.group == Raw.ABSENT || named == ref.group, path, "names two groups");
            named = Math.max(named, ref.group);
        }
        if (named == Raw.ABSENT && raw.channelIds != null && raw.channelIds.length == 1) {
            named = raw.channelIds[0];
        }
        require(named != Raw.ABSENT, path, "needs a switch channel");
        int id = lookUp(lane.channels, ChannelType.SWITCH, named, path, "channel");
        require(id < groups.size(), path, "rank " + self + " has no switch channel " + id);
        return id;
    }

    private int lookUp(List<Raw.Table> tables, ChannelType type, int id, String path, String what) {
        for (Raw.Table table : tables) {
            if (table.type == type) {
                require(
                        id < table.ids.length,
                        path,
                        "the lane's table of " + type + " " + what + "s has " + table.ids.length + " entries, none is "
                                + id);
                return table.ids[id];
            }
        }
        throw new PlanFormatException(path, "the lane has no table of " + type + " " + what + "s", null);
    }

    private List<Chunk> operands(Raw.Op raw, List<Raw.Ref> refs, Code code, List<Integer> ids, String path) {
        List<Chunk> chunks = new ArrayList<>(refs.size());
        plan.countOperands(refs.size(), path);
        for (int i = 0; i < refs.size(); i++) {
            Raw.Ref ref = refs.get(i);
            String at = path + "[" + i + "]";
            require(ref.index != Raw.ABSENT && ref.size != Raw.ABSENT, at, "needs index and size");
            int kinds = (ref.buffer == Raw.ABSENT ? 0 : 1)
                    + (ref.group == Raw.ABSENT ? 0 : 1)
                    + (ref.space == null ? 0 : 1);
            require(kinds == 1, at, "needs one of type, buffer_id and switch_channel_id");
            if (ref.buffer != Raw.ABSENT) {
                chunks.add(remote(raw, ref, at));
            } else if (ref.group != Raw.ABSENT) {
                require(code.isGroup(), at, code.symbol() + " has no operand on a group");
                chunks.addAll(ofGroup(ids.getFirst(), ref.index, ref.size, at));
            } else {
                chunks.add(local(ref, at));
            }
        }
        return chunks;
    }

    private Chunk local(Raw.Ref ref, String path) {
        require(
                ref.space != null && ref.index != Raw.ABSENT && ref.size != Raw.ABSENT,
                path,
                "needs type, index and size");
        return chunk(self, Objects.requireNonNull(ref.space), ref.index, ref.size, path);
    }

    private Chunk remote(Raw.Op raw, Raw.Ref ref, String path) {
        require(raw.channelType != null, path, "an operand on a peer needs the operation's channel_type");
        ChannelType type = Objects.requireNonNull(raw.channelType);
        int id = lookUp(lane.buffers, type, ref.buffer, path + ".buffer_id", "buffer");
        require(id < rank.remoteBuffers.size(), path + ".buffer_id", "rank " + self + " has no remote buffer " + id);
        Raw.RemoteBuffer buffer = rank.remoteBuffers.get(id);
        require(buffer.rank != self, path + ".buffer_id", "a remote buffer of rank " + self + " itself");
        return chunk(buffer.rank, Objects.requireNonNull(buffer.space), ref.index, ref.size, path);
    }

    private List<Chunk> ofGroup(int id, int index, int size, String path) {
        RankPlan.Group group = groups.get(id);
        plan.countOperands(group.ranks().size(), path);
        List<Chunk> chunks = new ArrayList<>(group.ranks().size());
        for (int member : group.ranks()) {
            chunks.add(chunk(member, group.space(), index, size, path));
        }
        return chunks;
    }

    private Chunk chunk(int of, Space space, int index, int size, String path) {
        int chunks = plan.chunks(of, space);
        require(
                (long) index + size <= chunks,
                path,
                "chunks " + index + ".." + ((long) index + size - 1) + " of " + space.symbol() + " on rank " + of
                        + ", which has " + chunks);
        return new Chunk(of, space, index, size, null);
    }

    /** One entry per operand: the chunk that it is like, or null. */
    private List<@Nullable Chunk> like(List<Raw.@Nullable Ref> refs, int operands, String path) {
        require(refs.size() == operands, path, "needs one entry for each of " + operands + " operands");
        List<@Nullable Chunk> like = new ArrayList<>();
        for (int i = 0; i < refs.size(); i++) {
            Raw.Ref ref = refs.get(i);
            like.add(ref == null ? null : local(ref, path + "[" + i + "]"));
        }
        return like;
    }

    private static List<Chunk> withLike(List<Chunk> chunks, List<@Nullable Chunk> like, int from) {
        List<Chunk> linked = new ArrayList<>(chunks.size());
        for (int i = 0; i < chunks.size(); i++) {
            Chunk chunk = chunks.get(i);
            linked.add(new Chunk(chunk.rank(), chunk.space(), chunk.index(), chunk.count(), like.get(from + i)));
        }
        return linked;
    }
}
