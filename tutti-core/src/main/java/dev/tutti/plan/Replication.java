package dev.tutti.plan;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes every lane several times: copy k of n works on sub-chunk k of each chunk and has its own channels, semaphores
 * and barriers, so that the copies never meet. Ids become {@code id * n + k} on every rank, which keeps ends paired.
 */
final class Replication {
    private final int times;
    private final int copy;

    private Replication(int times, int copy) {
        this.times = times;
        this.copy = copy;
    }

    static RankPlan apply(RankPlan plan, int times) {
        if (times == 1) {
            return plan;
        }
        List<RankPlan.Channel> channels = new ArrayList<>();
        for (RankPlan.Channel channel : plan.channels()) {
            for (int k = 0; k < times; k++) {
                channels.add(new RankPlan.Channel(channel.type(), channel.peer(), channel.ordinal() * times + k));
            }
        }
        List<RankPlan.Group> groups = new ArrayList<>();
        for (RankPlan.Group group : plan.groups()) {
            for (int k = 0; k < times; k++) {
                groups.add(group);
            }
        }
        List<Integer> semaphores = new ArrayList<>();
        for (int initial : plan.semaphores()) {
            for (int k = 0; k < times; k++) {
                semaphores.add(initial);
            }
        }
        List<List<Op>> lanes = new ArrayList<>();
        for (List<Op> lane : plan.lanes()) {
            for (int k = 0; k < times; k++) {
                Replication replication = new Replication(times, k);
                lanes.add(lane.stream().map(replication::op).toList());
            }
        }
        return new RankPlan(
                plan.rank(),
                plan.ranks(),
                plan.inputChunks() * times,
                plan.outputChunks() * times,
                plan.chunksPerBlock() * times,
                plan.scratchChunks() * times,
                plan.packetChunks() * times,
                channels,
                groups,
                semaphores,
                lanes);
    }

    private Op op(Op op) {
        return new Op(
                op.code(),
                op.sources().stream().map(this::chunk).toList(),
                op.destinations().stream().map(this::chunk).toList(),
                op.channels().stream().map(this::id).toList(),
                op.semaphores().stream().map(this::id).toList(),
                op.fold(),
                op.plainPosition(),
                op.finishes(),
                op.slice(),
                op.barrier() == null
                        ? null
                        : new Op.Barrier(id(op.barrier().id()), op.barrier().lanes()),
                op.loop() == null
                        ? null
                        : new Op.Loop(
                                op.loop().unitBytes(),
                                op.loop().chunks(),
                                op.loop().body().stream().map(this::op).toList()));
    }

    private Chunk chunk(Chunk chunk) {
        return new Chunk(
                chunk.rank(),
                chunk.space(),
                chunk.index() * times + copy * chunk.count(),
                chunk.count(),
                like(chunk.like()));
    }

    private @Nullable Chunk like(@Nullable Chunk like) {
        return like == null ? null : chunk(like);
    }

    private int id(int id) {
        return id * times + copy;
    }
}
