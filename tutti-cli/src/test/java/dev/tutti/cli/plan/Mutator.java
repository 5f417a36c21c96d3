package dev.tutti.cli.plan;

import dev.tutti.ReduceOp;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Changes one thing in a plan, at random, so that it could still be read from a file. */
final class Mutator {
    /** What is changed. */
    enum Change {
        DROP_SIGNAL,
        DROP_WAIT,
        DROP_TRANSFER,
        DROP_BARRIER,
        DROP_SEMAPHORE,
        DUPLICATE,
        SWAP,
        SHIFT_SOURCE,
        SHIFT_DESTINATION,
        CHANGE_BUFFER,
        CHANGE_PEER,
        CHANGE_CHANNEL,
        CHANGE_SOURCES,
        CHANGE_OPERATOR,
        CHANGE_LANE,
        CHANGE_SLICE,
        CHANGE_LOOP,
        SEMAPHORE_VALUE,
        BARRIER_LANES,
        SCRATCH_HALVES
    }

    /** Where an operation stands. */
    private record At(int rank, int lane, int index, int inner, Op op) {}

    private final Plan plan;
    private final RandomGenerator random;

    Mutator(Plan plan, RandomGenerator random) {
        this.plan = plan;
        this.random = random;
    }

    /** The changed plan, or null if there is nothing of that kind to change. */
    @Nullable
    Plan mutate(Change change) {
        return switch (change) {
            case DROP_SIGNAL -> drop(op -> op.code() == Code.SIGNAL || op.code() == Code.RELAXED_SIGNAL);
            case DROP_WAIT -> drop(op -> op.code() == Code.WAIT || op.code() == Code.RELAXED_WAIT);
            case DROP_TRANSFER -> drop(op -> !op.sources().isEmpty());
            case DROP_BARRIER -> drop(op -> op.code() == Code.BARRIER);
            case DROP_SEMAPHORE -> drop(op -> !op.semaphores().isEmpty());
            case DUPLICATE -> {
                At at = pick(op -> op.code() != Code.NOP && op.code() != Code.FLUSH);
                yield at == null ? null : with(at, List.of(at.op, at.op));
            }
            case SWAP -> swap();
            case SHIFT_SOURCE -> operand(true, this::shift);
            case SHIFT_DESTINATION -> operand(false, this::shift);
            case CHANGE_BUFFER -> operand(random.nextBoolean(), this::otherBuffer);
            case CHANGE_PEER -> operand(random.nextBoolean(), this::otherPeer);
            case CHANGE_CHANNEL -> channel();
            case CHANGE_SOURCES -> sources();
            case CHANGE_OPERATOR -> operator();
            case CHANGE_LANE -> lane();
            case CHANGE_SLICE -> slice();
            case CHANGE_LOOP -> loop();
            case SEMAPHORE_VALUE -> semaphore();
            case BARRIER_LANES -> barrierLanes();
            case SCRATCH_HALVES -> halves();
        };
    }

    private @Nullable At pick(Predicate<Op> wanted) {
        List<At> all = new ArrayList<>();
        for (RankPlan part : plan.all()) {
            for (int lane = 0; lane < part.lanes().size(); lane++) {
                List<Op> ops = part.lanes().get(lane);
                for (int i = 0; i < ops.size(); i++) {
                    Op op = ops.get(i);
                    Op.Loop loop = op.loop();
                    if (wanted.test(op)) {
                        all.add(new At(part.rank(), lane, i, -1, op));
                    }
                    for (int k = 0; loop != null && k < loop.body().size(); k++) {
                        if (wanted.test(loop.body().get(k))) {
                            all.add(new At(part.rank(), lane, i, k, loop.body().get(k)));
                        }
                    }
                }
            }
        }
        return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
    }

    private Plan with(At at, List<Op> instead) {
        List<Op> ops = new ArrayList<>(plan.rank(at.rank).lanes().get(at.lane));
        if (at.inner < 0) {
            ops.remove(at.index);
            ops.addAll(at.index, instead);
        } else {
            Op loop = ops.get(at.index);
            List<Op> body = new ArrayList<>(loop.loop().body());
            body.remove(at.inner);
            body.addAll(at.inner, instead);
            Op.Loop changed = new Op.Loop(loop.loop().unitBytes(), loop.loop().chunks(), body);
            ops.set(at.index, Draft.of(loop, draft -> draft.loop = changed));
        }
        return withLane(at.rank, at.lane, ops);
    }

    private Plan withLane(int rank, int lane, List<Op> ops) {
        RankPlan part = plan.rank(rank);
        List<List<Op>> lanes = new ArrayList<>(part.lanes());
        lanes.set(lane, ops);
        return withPart(part(part, part.semaphores(), lanes));
    }

    /** A rank's part with other semaphores and lanes. */
    static RankPlan part(RankPlan part, List<Integer> semaphores, List<List<Op>> lanes) {
        return new RankPlan(
                part.rank(),
                part.ranks(),
                part.inputChunks(),
                part.outputChunks(),
                part.chunksPerBlock(),
                part.scratchChunks(),
                part.packetChunks(),
                part.channels(),
                part.groups(),
                semaphores,
                lanes);
    }

    private Plan withPart(RankPlan part) {
        List<RankPlan> parts = new ArrayList<>(plan.all());
        parts.set(part.rank(), part);
        return Plan.of(plan.name(), plan.header(), plan.root(), plan.protocol(), parts);
    }

    private @Nullable Plan drop(Predicate<Op> wanted) {
        At at = pick(wanted);
        if (at == null) {
            return null;
        }
        // Of a fused operation on several channels, one.
        if (at.op.sources().isEmpty() && at.op.channels().size() > 1) {
            List<Integer> channels = new ArrayList<>(at.op.channels());
            channels.remove(random.nextInt(channels.size()));
            return with(at, List.of(Draft.of(at.op, draft -> draft.channels = channels)));
        }
        return with(at, List.of());
    }

    private @Nullable Plan swap() {
        At at = pick(op -> op.code() != Code.NOP && op.code() != Code.FLUSH);
        if (at == null || at.inner >= 0) {
            return null;
        }
        List<Op> ops = new ArrayList<>(plan.rank(at.rank).lanes().get(at.lane));
        int next = at.index + 1;
        while (next < ops.size()
                && (ops.get(next).code() == Code.NOP || ops.get(next).code() == Code.FLUSH)) {
            next++;
        }
        if (next == ops.size() || ops.get(next).equals(at.op)) {
            return null;
        }
        Op other = ops.get(next);
        ops.set(next, at.op);
        ops.set(at.index, other);
        return withLane(at.rank, at.lane, ops);
    }

    private interface Rewrite {
        @Nullable
        Chunk of(At at, Chunk chunk, boolean packet);
    }

    private @Nullable Plan operand(boolean source, Rewrite rewrite) {
        At at = pick(op -> !op.sources().isEmpty() && !op.code().isGroup());
        if (at == null) {
            return null;
        }
        List<Chunk> chunks = new ArrayList<>(source ? at.op.sources() : at.op.destinations());
        int which = random.nextInt(chunks.size());
        Chunk changed = rewrite.of(at, chunks.get(which), isPacket(at.op, which, source));
        if (changed == null) {
            return null;
        }
        chunks.set(which, changed);
        return with(at, List.of(Draft.of(at.op, draft -> {
            draft.sources = source ? chunks : draft.sources;
            draft.destinations = source ? draft.destinations : chunks;
        })));
    }

    private static boolean isPacket(Op op, int which, boolean source) {
        if (op.code().shape() != Code.Shape.PACKET) {
            return false;
        }
        return switch (op.code()) {
            case UNPACK -> source;
            case PACK -> !source;
            case PUT_PACKETS -> !source || !op.channels().isEmpty();
            case READ_PUT_PACKETS, GROUP_STORE_PACKETS -> true;
            default -> which > 0;
        };
    }

    private int chunks(int rank, Space space) {
        RankPlan part = plan.rank(rank);
        return switch (space) {
            case INPUT -> part.inputChunks();
            case OUTPUT -> part.outputChunks();
            case SCRATCH -> part.scratchChunks();
        };
    }

    private @Nullable Chunk shift(At at, Chunk chunk, boolean packet) {
        int by = random.nextBoolean() ? 1 : -1;
        int index = chunk.index() + by;
        return index < 0 || index + chunk.count() > chunks(chunk.rank(), chunk.space())
                ? null
                : new Chunk(chunk.rank(), chunk.space(), index, chunk.count(), null);
    }

    private @Nullable Chunk otherBuffer(At at, Chunk chunk, boolean packet) {
        Space space = Space.values()[random.nextInt(3)];
        return packet || space == chunk.space() || chunk.index() + chunk.count() > chunks(chunk.rank(), space)
                ? null
                : new Chunk(chunk.rank(), space, chunk.index(), chunk.count(), null);
    }

    private @Nullable Chunk otherPeer(At at, Chunk chunk, boolean packet) {
        int peer = random.nextInt(plan.ranks());
        return chunk.rank() == at.rank || peer == at.rank || peer == chunk.rank()
                ? null
                : new Chunk(peer, chunk.space(), chunk.index(), chunk.count(), null);
    }

    private @Nullable Plan channel() {
        At at = pick(op -> op.sources().isEmpty() && !op.channels().isEmpty() && op.code() != Code.FLUSH);
        if (at == null) {
            return null;
        }
        List<Integer> channels = new ArrayList<>(at.op.channels());
        int which = random.nextInt(channels.size());
        int id = random.nextInt(plan.rank(at.rank).channels().size());
        if (channels.contains(id)
                || plan.rank(at.rank).channels().get(id).type()
                        != plan.rank(at.rank)
                                .channels()
                                .get(channels.get(which))
                                .type()) {
            return null;
        }
        channels.set(which, id);
        return with(at, List.of(Draft.of(at.op, draft -> draft.channels = channels)));
    }

    private @Nullable Plan sources() {
        At at = pick(
                op -> op.code().folds() && op.sources().size() > 1 && !op.code().isGroup());
        if (at == null) {
            return null;
        }
        List<Chunk> sources = new ArrayList<>(at.op.sources());
        switch (random.nextInt(3)) {
            case 0 -> {
                if (sources.size() < 3) {
                    return null;
                }
                sources.remove(1 + random.nextInt(sources.size() - 1));
            }
            case 1 -> sources.add(sources.get(1 + random.nextInt(sources.size() - 1)));
            default -> {
                if (sources.size() < 3) {
                    return null;
                }
                java.util.Collections.swap(sources, 1, 2);
            }
        }
        return with(at, List.of(Draft.of(at.op, draft -> {
            draft.sources = sources;
            draft.plainPosition = Math.min(draft.plainPosition, sources.size() - 1);
        })));
    }

    private @Nullable Plan operator() {
        At at = pick(op -> op.code().folds() && op.fold() != null);
        if (at == null) {
            return null;
        }
        ReduceOp other = at.op.fold().kind() == ReduceOp.Kind.SUM ? ReduceOp.MAX : ReduceOp.SUM;
        return with(at, List.of(Draft.of(at.op, draft -> draft.fold = other)));
    }

    private @Nullable Plan lane() {
        At at = pick(op -> op.code() != Code.NOP && op.code() != Code.FLUSH);
        int lanes = at == null ? 0 : plan.rank(at.rank).lanes().size();
        if (at == null || at.inner >= 0 || lanes < 2) {
            return null;
        }
        int other = (at.lane + 1 + random.nextInt(lanes - 1)) % lanes;
        Plan without = with(at, List.of());
        List<Op> ops = new ArrayList<>(without.rank(at.rank).lanes().get(other));
        ops.add(random.nextInt(ops.size() + 1), at.op);
        return new Mutator(without, random).withLane(at.rank, other, ops);
    }

    private @Nullable Plan slice() {
        At at = pick(op -> op.slice() != null && op.slice().of() > 1);
        if (at == null) {
            return null;
        }
        Op.Slice slice = at.op.slice();
        Op.Slice changed = random.nextBoolean()
                ? new Op.Slice((slice.index() + 1) % slice.of(), slice.of())
                : new Op.Slice(slice.index(), slice.of() + 1);
        return with(at, List.of(Draft.of(at.op, draft -> draft.slice = changed)));
    }

    private @Nullable Plan loop() {
        At at = pick(op -> op.loop() != null);
        if (at == null) {
            return null;
        }
        Op.Loop loop = at.op.loop();
        Op.Loop changed = random.nextBoolean()
                ? new Op.Loop(2 * loop.unitBytes(), loop.chunks(), loop.body())
                : new Op.Loop(loop.unitBytes(), loop.chunks() + 1, loop.body());
        return with(at, List.of(Draft.of(at.op, draft -> draft.loop = changed)));
    }

    private @Nullable Plan semaphore() {
        List<RankPlan> having =
                plan.all().stream().filter(part -> !part.semaphores().isEmpty()).toList();
        if (having.isEmpty()) {
            return null;
        }
        RankPlan part = having.get(random.nextInt(having.size()));
        List<Integer> values = new ArrayList<>(part.semaphores());
        int which = random.nextInt(values.size());
        values.set(which, values.get(which) + 1);
        return withPart(part(part, values, part.lanes()));
    }

    private @Nullable Plan barrierLanes() {
        At at = pick(op -> op.code() == Code.BARRIER);
        if (at == null) {
            return null;
        }
        Op.Barrier barrier = at.op.barrier();
        int lanes = Math.max(1, barrier.lanes() + (random.nextBoolean() ? 1 : -1));
        return with(at, List.of(Draft.of(at.op, draft -> draft.barrier = new Op.Barrier(barrier.id(), lanes))));
    }

    private @Nullable Plan halves() {
        PlanHeader header = plan.header();
        if (plan.all().stream().allMatch(part -> part.scratchChunks() == 0)) {
            return null;
        }
        return Plan.of(
                plan.name(),
                new PlanHeader(
                        header.style(),
                        header.purpose(),
                        header.inPlace(),
                        header.reuseResources(),
                        !header.doubleScratch(),
                        header.threadsPerBlock(),
                        header.alignmentBytes(),
                        header.minBytes(),
                        header.maxBytes()),
                plan.root(),
                plan.protocol(),
                plan.all());
    }

    static List<Change> changes() {
        return Arrays.asList(Change.values());
    }
}
