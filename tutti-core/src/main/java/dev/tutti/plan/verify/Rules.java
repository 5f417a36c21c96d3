package dev.tutti.plan.verify;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.List;

/** What must hold of a plan's operations whatever order they run in. */
final class Rules {
    private final Plan plan;
    private final Findings findings;

    Rules(Plan plan, Findings findings) {
        this.plan = plan;
        this.findings = findings;
    }

    /** What the executor of Tutti's own plans relies on. */
    void requireOwnStyle(Step.Place place, Expectation expected) {
        Op op = place.op();
        int rank = place.rank();
        Step step = Step.data(place, Region.NONE, Region.NONE, "", false);
        int inputs = 0;
        for (Chunk chunk : op.sources()) {
            requireChunk(step, chunk, rank, expected);
            inputs += chunk.space() == Space.INPUT && chunk.rank() == rank ? 1 : 0;
        }
        for (Chunk chunk : op.destinations()) {
            requireChunk(step, chunk, rank, expected);
            if (chunk.space() == Space.INPUT) {
                findings.rule(step, chunk.toString(), step + " writes an input, which is the caller's");
            }
        }
        if (inputs > 1 && expected.purpose().isReducing()) {
            findings.rule(step, "", step + " folds two chunks of its own input; only one is multiplied by preMulSum");
        }
    }

    private void requireChunk(Step step, Chunk chunk, int rank, Expectation expected) {
        if (chunk.space() == Space.SCRATCH) {
            Chunk like = chunk.like();
            if (like == null || like.space() == Space.SCRATCH || like.rank() != rank) {
                findings.rule(
                        step, chunk.toString(), step + " has scratch without a length of rank " + rank + "'s own");
            }
            return;
        }
        boolean there =
                chunk.space() == Space.INPUT ? expected.hasInput(chunk.rank()) : expected.hasOutput(chunk.rank());
        if (!there) {
            findings.rule(
                    step,
                    chunk.toString(),
                    step + " uses " + chunk.space() + " of rank " + chunk.rank() + ", which has none");
        }
    }

    void requireSameScratch(RankPlan part) {
        RankPlan first = plan.rank(0);
        if (part.scratchChunks() != first.scratchChunks()
                || part.packetChunks() != first.packetChunks()
                || part.chunksPerBlock() != first.chunksPerBlock()) {
            findings.add(
                    Finding.Kind.RULE,
                    null,
                    part.rank(),
                    "rank 0",
                    "rank " + part.rank() + " declares other scratch or chunks than rank 0");
        }
    }

    /** A launch must take what it gives: counters and semaphores live on, so a surplus weakens every later launch. */
    void requireBalance(Step[][] threads, Step.Kind give, Step.Kind take, List<String> names) {
        int[] given = new int[names.size()];
        int[] taken = new int[names.size()];
        Step[] anyone = new Step[names.size()];
        for (Step[] thread : threads) {
            for (Step step : thread) {
                if (step.kind == give || step.kind == take) {
                    (step.kind == give ? given : taken)[step.id]++;
                    anyone[step.id] = step;
                }
            }
        }
        for (int id = 0; id < given.length; id++) {
            // Nobody ever looks at a counter without waits: a surplus there weakens nothing.
            if (given[id] != taken[id] && taken[id] > 0) {
                findings.add(
                        Finding.Kind.UNBALANCED,
                        anyone[id],
                        anyone[id].rank,
                        names.get(id),
                        names.get(id) + " gets " + given[id] + " and gives " + taken[id]
                                + " in each launch, one of them at " + anyone[id] + ": launches drift apart");
            }
        }
    }
}
