package dev.tutti.plan.verify;

import dev.tutti.Collective;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * One representative of every class of sizes that a plan can tell apart. Without slices and loops a plan is the same for all sizes that divide evenly;
 * slices can be empty, equal or one granule longer than others; loops go round once, twice or more often, the last time over
 * less, or more often than there are credits. Blocks that do not divide leave chunks short or empty.
 */
final class Sizes {
    private static final long MOST_ROUNDS = 200;

    private Sizes() {}

    /** The choices to prove; none if no size follows from the plan. */
    static List<Layout> of(Plan plan, boolean ragged) {
        return plan.header().style() == PlanHeader.Style.BLOCKS ? blocks(plan, ragged) : positions(plan);
    }

    private static List<Layout> positions(Plan plan) {
        RankPlan first = plan.rank(0);
        if (first.inputChunks() == 0 && first.outputChunks() == 0) {
            return List.of();
        }
        long granule = PlanSizes.of(plan, 1, 1).granule();
        Collective collective = plan.header().collective();
        int inputBlocks = collective == null ? 1 : Math.max(1, collective.inputBlocks(plan.ranks()));
        int outputBlocks = collective == null ? 1 : Math.max(1, collective.outputBlocks(plan.ranks()));
        long perBlock =
                first.inputChunks() > 0 ? first.inputChunks() / inputBlocks : first.outputChunks() / outputBlocks;
        perBlock = Math.max(1, perBlock);
        // Chunk lengths in granules.
        TreeSet<Long> chunks = new TreeSet<>();
        chunks.add(1L);
        plan.all().stream().flatMap(RankPlan::operations).forEach(op -> {
            Op.Slice slice = op.slice();
            if (slice != null && slice.of() > 1) {
                chunks.addAll(List.of(2L, 3L, (long) slice.of(), slice.of() + 1L));
            }
            Op.Loop loop = op.loop();
            if (loop != null) {
                loops(plan, loop, granule, chunks);
            }
        });
        TreeSet<Long> sizes = new TreeSet<>();
        for (long chunk : chunks) {
            sizes.add(chunk * granule * perBlock);
        }
        // Too little for all chunks, and chunks of different lengths with the last one clipped.
        sizes.add(1L);
        sizes.add((perBlock + 1) * granule + 1);
        long blocks = collective == Collective.ALL_GATHER || first.inputChunks() == 0 ? outputBlocks : inputBlocks;
        long least = Math.max(0, plan.header().minBytes()) / blocks / (granule * perBlock) * (granule * perBlock);
        List<Layout> layouts = new ArrayList<>();
        for (long size : sizes) {
            long bytes = size + least;
            if (plan.header().admits(blocks * bytes)) {
                layouts.add(new PositionsLayout(plan, bytes));
            }
        }
        if (layouts.isEmpty()) {
            layouts.add(new PositionsLayout(plan, Math.max(1, least)));
        }
        return layouts;
    }

    private static void loops(Plan plan, Op.Loop loop, long granule, Set<Long> chunks) {
        long unit = Math.max(1, loop.unitBytes());
        long perChunk = Math.max(1, loop.chunks());
        long credits = plan.all().stream()
                .flatMap(part -> part.semaphores().stream())
                .mapToInt(Integer::intValue)
                .max()
                .orElse(0);
        List<Long> rounds = new ArrayList<>(List.of(1L, 2L, 3L));
        if (credits > 1 && credits < MOST_ROUNDS) {
            rounds.add(credits + 2);
        }
        for (long round : rounds) {
            long granules = Math.max(1, round * unit / perChunk / granule);
            chunks.add(granules);
            chunks.add(granules + 1);
        }
    }

    private static List<Layout> blocks(Plan plan, boolean ragged) {
        Collective collective = plan.collective();
        int perBlock = plan.rank(0).chunksPerBlock();
        List<Layout> layouts = new ArrayList<>();
        boolean inPlace = collective != Collective.ALL_TO_ALL && collective != Collective.BARRIER;
        if (collective == Collective.BARRIER) {
            layouts.add(new BlocksLayout(plan, "no data", equal(plan, 0), false));
            return layouts;
        }
        List<Long> sizes = perBlock == 1 ? List.of(5L) : List.of(1L, 4L * (2 * perBlock + 1) + 1);
        for (long size : sizes) {
            layouts.add(new BlocksLayout(plan, "blocks of " + size + " bytes", equal(plan, size), false));
            if (inPlace) {
                layouts.add(new BlocksLayout(plan, "blocks of " + size + " bytes", equal(plan, size), true));
            }
        }
        layouts.add(new BlocksLayout(plan, "empty blocks", equal(plan, 0), false));
        if (ragged) {
            layouts.add(new BlocksLayout(plan, "blocks of different lengths", different(plan), false));
            if (inPlace) {
                layouts.add(new BlocksLayout(plan, "blocks of different lengths", different(plan), true));
            }
        }
        return layouts;
    }

    private static BlocksLayout.Lengths equal(Plan plan, long bytes) {
        return lengths(plan, (owner, other) -> bytes, bytes);
    }

    private static BlocksLayout.Lengths different(Plan plan) {
        int perBlock = plan.rank(0).chunksPerBlock();
        return lengths(plan, (owner, other) -> (owner * 5L + other * 3L) % 7 * (4L * perBlock - 1), 5);
    }

    private interface PairLength {
        long of(int owner, int other);
    }

    private static BlocksLayout.Lengths lengths(Plan plan, PairLength pair, long single) {
        Collective collective = plan.collective();
        int ranks = plan.ranks();
        long[][] inputs = new long[ranks][];
        long[][] outputs = new long[ranks][];
        Expectation there = new Expectation(
                Expectation.Purpose.of(collective), plan.root(), new long[ranks][], outputs, outputs, false);
        boolean perRank = collective.inputBlocks(2) != collective.outputBlocks(2);
        for (int rank = 0; rank < ranks; rank++) {
            inputs[rank] = new long[there.hasInput(rank) ? collective.inputBlocks(ranks) : 0];
            outputs[rank] = new long[there.hasOutput(rank) ? collective.outputBlocks(ranks) : 0];
            int self = rank;
            if (collective == Collective.ALL_TO_ALL) {
                Arrays.setAll(inputs[rank], block -> pair.of(self, block));
                Arrays.setAll(outputs[rank], block -> pair.of(block, self));
            } else if (perRank) {
                Arrays.setAll(
                        inputs[rank],
                        block -> pair.of(inputs[self].length == 1 && collective.inputBlocks(2) == 1 ? self : block, 0));
                Arrays.setAll(
                        outputs[rank],
                        block -> pair.of(
                                outputs[self].length == 1 && collective.outputBlocks(2) == 1 ? self : block, 0));
            } else {
                Arrays.fill(inputs[rank], single);
                Arrays.fill(outputs[rank], single);
            }
        }
        return new BlocksLayout.Lengths(inputs, outputs);
    }
}
