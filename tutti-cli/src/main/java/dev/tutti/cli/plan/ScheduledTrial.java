package dev.tutti.cli.plan;

import dev.tutti.exec.PlanContext;
import dev.tutti.plan.Plan;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Runs all lanes of all ranks on one thread in an order that a seed decides, launches back to back. Every other seed is unfair: lanes have
 * ranks of precedence that change now and then, so that one rank runs far ahead of another. When no lane can move, that is a deadlock.
 */
final class ScheduledTrial implements AutoCloseable {
    private static final long BYTES_PER_STEP = 64;

    private final TrialRanks ranks;
    private final TrialCase each;
    private final int launches;
    private final long seed;
    private final Random random;
    private final int[] rankOf;
    private final int[] laneOf;

    ScheduledTrial(Plan plan, Duration timeout, TrialCase each, int launches, long seed) {
        this.ranks = new TrialRanks(plan, timeout);
        this.each = each;
        this.launches = launches;
        this.seed = seed;
        this.random = new Random(seed);
        int lanes =
                ranks.seats.stream().mapToInt(seat -> seat.context().lanes()).sum();
        this.rankOf = new int[lanes];
        this.laneOf = new int[lanes];
        int at = 0;
        for (TrialRanks.Seat seat : ranks.seats) {
            for (int lane = 0; lane < seat.context().lanes(); lane++) {
                rankOf[at] = seat.rank;
                laneOf[at++] = lane;
            }
        }
    }

    @Nullable
    String run(List<TrialMemory> memories) {
        for (int rank = 0; rank < memories.size(); rank++) {
            memories.get(rank).fill();
            memories.get(rank).before(Trial.operator(each, rank));
        }
        long[][] inputs = Trial.addresses(memories, true);
        long[][] outputs = Trial.addresses(memories, false);
        ranks.run(seat -> seat.context()
                .prepare(each.blockBytes(), each.blockBytes(), each.type(), Trial.operator(each, seat.rank)));
        int[] started = new int[memories.size()];
        for (TrialRanks.Seat seat : ranks.seats) {
            advance(seat.context(), seat.rank, started, inputs, outputs);
        }
        boolean unfair = seed % 2 != 0;
        int[] order = new int[rankOf.length];
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
        }
        shuffle(order);
        while (!isOver(started)) {
            boolean moved = false;
            if (unfair ? random.nextInt(64) == 0 : true) {
                shuffle(order);
            }
            for (int next : order) {
                PlanContext context = ranks.seats.get(rankOf[next]).context();
                if (!context.isDone(laneOf[next]) && context.step(laneOf[next], BYTES_PER_STEP, 1)) {
                    moved = true;
                    advance(context, rankOf[next], started, inputs, outputs);
                    break;
                }
            }
            if (!moved) {
                return "deadlock: " + whereEverybodyIs();
            }
        }
        for (int rank = 0; rank < memories.size(); rank++) {
            TrialMemory memory = memories.get(rank);
            memory.after(Trial.operator(each, rank));
            String wrong = memory.check();
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    /** Starts a rank's next launches as soon as it has done with the one before. */
    private void advance(PlanContext context, int rank, int[] started, long[][] inputs, long[][] outputs) {
        while (started[rank] < launches && (started[rank] == 0 || context.isDone())) {
            context.start(inputs[started[rank]], outputs[started[rank]]);
            started[rank]++;
        }
    }

    private boolean isOver(int[] started) {
        for (TrialRanks.Seat seat : ranks.seats) {
            if (started[seat.rank] < launches || !isDone(seat.context())) {
                return false;
            }
        }
        return true;
    }

    private static boolean isDone(PlanContext context) {
        for (int lane = 0; lane < context.lanes(); lane++) {
            if (!context.isDone(lane)) {
                return false;
            }
        }
        return true;
    }

    private void shuffle(int[] order) {
        for (int i = order.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
    }

    private String whereEverybodyIs() {
        for (TrialRanks.Seat seat : ranks.seats) {
            if (!isDone(seat.context())) {
                return seat.context().describe();
            }
        }
        return "all are done";
    }

    @Override
    public void close() {
        ranks.close();
    }
}
