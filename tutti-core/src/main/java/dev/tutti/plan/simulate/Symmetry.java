package dev.tutti.plan.simulate;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Whether rank r + period does what rank r does, with all ranks moved by the period. Then, on a network that looks the same after
 * the same move, r and r + period do everything at the same time, and one of them is enough.
 *
 * <p>Small plans are compared rank by rank. In large ones every rank has thousands of operations, so some ranks are compared: the
 * first, the last, the root, and some picked at random with a fixed seed.
 */
final class Symmetry {
    private static final long ALL_BELOW_OPS = 4_000_000;
    private static final int SAMPLES = 12;
    private static final Comparator<Chunk> BY_PLACE =
            Comparator.comparing(Chunk::space).thenComparingInt(Chunk::index);

    private Symmetry() {}

    /** The fewest ranks that stand for all: a period of the network if the plan has it too, else all. */
    static int period(Plan plan, Network network) {
        int ranks = plan.ranks();
        int period = network.period();
        if (period >= ranks || ranks % period != 0) {
            return ranks;
        }
        RankPlan first = plan.part(0);
        long ops = Math.max(1, first.operations().count()) * ranks;
        return pairs(plan, ops, period).allMatch(rank -> alike(plan, rank, (rank + period) % ranks, period))
                ? period
                : ranks;
    }

    private static IntStream pairs(Plan plan, long ops, int period) {
        int ranks = plan.ranks();
        if (ops < ALL_BELOW_OPS) {
            return IntStream.range(0, ranks);
        }
        SplittableRandom random = new SplittableRandom(ranks);
        IntStream ends = IntStream.of(0, ranks - 1, period - 1, plan.root());
        return IntStream.concat(
                ends, IntStream.generate(() -> random.nextInt(ranks)).limit(SAMPLES));
    }

    private static boolean alike(Plan plan, int rank, int moved, int period) {
        RankPlan one = plan.part(rank);
        RankPlan other = plan.part(moved);
        int ranks = plan.ranks();
        if (one.lanes().size() != other.lanes().size()
                || one.channels().size() != other.channels().size()
                || !one.semaphores().equals(other.semaphores())) {
            return false;
        }
        for (int lane = 0; lane < one.lanes().size(); lane++) {
            List<Op> ops = one.lanes().get(lane);
            List<Op> others = other.lanes().get(lane);
            if (ops.size() != others.size()) {
                return false;
            }
            for (int i = 0; i < ops.size(); i++) {
                if (!alike(one, other, ops.get(i), others.get(i), period, ranks)) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean alike(RankPlan one, RankPlan other, Op op, Op moved, int period, int ranks) {
        if (op.code() != moved.code()
                || op.loop() != null
                || !alike(unordered(op.sources()), unordered(moved.sources()), period, ranks)
                || !alike(op.destinations(), moved.destinations(), period, ranks)
                || op.channels().size() != moved.channels().size()
                || !op.semaphores().equals(moved.semaphores())) {
            return false;
        }
        for (int i = 0; !op.code().isGroup() && i < op.channels().size(); i++) {
            RankPlan.Channel channel = one.channels().get(op.channels().get(i));
            RankPlan.Channel twin = other.channels().get(moved.channels().get(i));
            if (twin.peer() != (channel.peer() + period) % ranks
                    || twin.type() != channel.type()
                    || twin.ordinal() != channel.ordinal()) {
                return false;
            }
        }
        return true;
    }

    /** Own sources of a fold in one order: folding by rank begins elsewhere after a move, and takes as long. */
    private static List<Chunk> unordered(List<Chunk> sources) {
        return sources.size() == 1
                        || sources.stream()
                                .anyMatch(chunk ->
                                        chunk.rank() != sources.getFirst().rank())
                ? sources
                : sources.stream().sorted(BY_PLACE).toList();
    }

    /** Chunks of input and output may be others: they have the same length. */
    private static boolean alike(List<Chunk> chunks, List<Chunk> moved, int period, int ranks) {
        if (chunks.size() != moved.size()) {
            return false;
        }
        for (int i = 0; i < chunks.size(); i++) {
            Chunk chunk = chunks.get(i);
            Chunk twin = moved.get(i);
            if (twin.rank() != (chunk.rank() + period) % ranks
                    || twin.space() != chunk.space()
                    || twin.count() != chunk.count()
                    || (chunk.space() == Space.SCRATCH && twin.index() != chunk.index())) {
                return false;
            }
        }
        return true;
    }
}
