package dev.tutti.plan.verify;

import dev.tutti.plan.Plan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plan with one choice of sizes and placement put in: for each lane the steps of one launch, on areas of memory with numbers.
 *
 * <p>Threads are numbered: first one caller for each rank, who enters and leaves the call and owns the user's buffers, then all
 * lanes, rank by rank.
 */
final class Script {
    /** A memory of one rank, or one half of its scratch. */
    record Area(int rank, String symbol, long bytes) {}

    /** Where a user's buffer lies. */
    record Span(int area, long offset, long bytes) {
        static final Span NONE = new Span(-1, 0, 0);
    }

    final Plan plan;
    /** Which choice this is, for messages. */
    final String label;

    final int ranks;
    /** The first thread that is a lane of each rank; one more entry at the end. */
    final int[] firstLane;

    final Step[][] steps;
    final List<Area> areas;
    final Span[] inputs;
    final Span[] outputs;
    final String[] counterNames;
    final int[] semaphores;
    final String[] semaphoreNames;
    final int barriers;
    /** Tutti's own plans: the executor keeps launches two apart, and checks agreement at direct waits. */
    final boolean guarded;
    /** Whether the executor makes all ranks meet before and after, because plans reach into users' buffers. */
    final boolean fenced;
    /** Ranks that may not start before all have finished the launch before the last. */
    final boolean[] awaitsRoom;

    final @Nullable Expectation expectation;
    final int launches;

    Script(
            Plan plan,
            String label,
            int[] firstLane,
            Step[][] steps,
            List<Area> areas,
            Span[] inputs,
            Span[] outputs,
            String[] counterNames,
            int[] semaphores,
            String[] semaphoreNames,
            int barriers,
            boolean guarded,
            boolean fenced,
            boolean[] awaitsRoom,
            @Nullable Expectation expectation,
            int launches) {
        this.plan = plan;
        this.label = label;
        this.ranks = plan.ranks();
        this.firstLane = firstLane;
        this.steps = steps;
        this.areas = areas;
        this.inputs = inputs;
        this.outputs = outputs;
        this.counterNames = counterNames;
        this.semaphores = semaphores;
        this.semaphoreNames = semaphoreNames;
        this.barriers = barriers;
        this.guarded = guarded;
        this.fenced = fenced;
        this.awaitsRoom = awaitsRoom;
        this.expectation = expectation;
        this.launches = launches;
    }

    int threads() {
        return steps.length;
    }

    boolean isCaller(int thread) {
        return thread < ranks;
    }

    int rankOf(int thread) {
        if (thread < ranks) {
            return thread;
        }
        int rank = 0;
        while (firstLane[rank + 1] <= thread) {
            rank++;
        }
        return rank;
    }

    int laneOf(int thread) {
        return thread < ranks ? -1 : thread - firstLane[rankOf(thread)];
    }

    int thread(int rank, int lane) {
        return lane < 0 ? rank : firstLane[rank] + lane;
    }
}
