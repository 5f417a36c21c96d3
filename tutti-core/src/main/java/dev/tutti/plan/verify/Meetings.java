package dev.tutti.plan.verify;

import dev.tutti.plan.verify.Cells.Cell;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * Counters, semaphores and barriers. The proof for all schedules rests on the n-th signal always meeting the n-th wait: where several
 * threads signal or wait on the same counter in no order, that is noted as not proven.
 */
final class Meetings {
    private final Run run;
    private final Counter[] counters;
    private final Counter[] semaphores;
    private final Barrier[] barriers;
    private final boolean[] atBarrier;
    private final int[] ticket;
    /** For each rank and thread, the tick that a signal straight from there has told of. */
    private final int[][] told;

    private static final class Counter {
        int value;
        /** What may be taken before anybody gives. */
        int credits;

        int lastGiver = Cell.NOBODY;
        int lastGiverClock;
        int lastTaker = Cell.NOBODY;
        int lastTakerClock;
        final Deque<int[]> given = new ArrayDeque<>();
        final Deque<Integer> givers = new ArrayDeque<>();
    }

    private static final class Barrier {
        int arrivals;
        int lanes;
        int[] joined = {};
        int[] released = {};
        final List<int[]> current = new ArrayList<>();
        List<int[]> previous = List.of();
    }

    Meetings(Run run) {
        this.run = run;
        Script script = run.script;
        this.counters = new Counter[script.counterNames.length];
        Arrays.setAll(counters, i -> new Counter());
        this.semaphores = new Counter[script.semaphores.length];
        Arrays.setAll(semaphores, i -> {
            Counter semaphore = new Counter();
            semaphore.value = script.semaphores[i];
            semaphore.credits = script.semaphores[i];
            return semaphore;
        });
        this.barriers = new Barrier[script.barriers];
        Arrays.setAll(barriers, i -> new Barrier());
        this.atBarrier = new boolean[script.threads()];
        this.ticket = new int[script.threads()];
        this.told = new int[run.tracking && script.guarded ? script.ranks : 0][script.threads()];
    }

    boolean step(int thread, Step step) {
        return switch (step.kind) {
            case SIGNAL -> give(thread, step, counters[step.id], run.script.counterNames[step.id]);
            case RELEASE -> give(thread, step, semaphores[step.id], run.script.semaphoreNames[step.id]);
            case WAIT -> take(thread, step, counters[step.id], run.script.counterNames[step.id]);
            case ACQUIRE -> take(thread, step, semaphores[step.id], run.script.semaphoreNames[step.id]);
            case BARRIER -> meet(thread, step, barriers[step.id]);
            case DATA -> throw new IllegalStateException(step + " is no meeting");
        };
    }

    private boolean give(int thread, Step step, Counter counter, String name) {
        counter.value++;
        run.clocks.tick(thread);
        if (run.tracking) {
            if (!run.clocks.knows(thread, counter.lastGiver, counter.lastGiverClock)) {
                run.findings.unproven("several lanes signal " + name + " in no order, one of them " + step);
            }
            counter.lastGiver = thread;
            counter.lastGiverClock = run.clocks.own(thread);
            counter.given.add(run.clocks.snapshot(thread));
            counter.givers.add(thread);
        }
        return true;
    }

    private boolean take(int thread, Step step, Counter counter, String name) {
        if (counter.value <= 0) {
            return false;
        }
        counter.value--;
        run.clocks.tick(thread);
        if (run.tracking) {
            if (!run.clocks.knows(thread, counter.lastTaker, counter.lastTakerClock)) {
                run.findings.unproven("several lanes wait on " + name + " in no order, one of them " + step);
            }
            counter.lastTaker = thread;
            counter.lastTakerClock = run.clocks.own(thread);
            if (counter.credits > 0) {
                counter.credits--;
            } else {
                int[] known = counter.given.remove();
                int giver = counter.givers.remove();
                run.clocks.join(thread, known);
                if (told.length > 0) {
                    int[] mine = told[step.rank];
                    mine[giver] = Math.max(mine[giver], known[giver]);
                }
            }
        }
        return true;
    }

    private boolean meet(int thread, Step step, Barrier barrier) {
        if (!atBarrier[thread]) {
            atBarrier[thread] = true;
            ticket[thread] = barrier.arrivals / step.lanes;
            barrier.arrivals++;
            run.clocks.tick(thread);
            if (run.tracking) {
                arrive(thread, step, barrier);
            }
        }
        if (barrier.arrivals / step.lanes <= ticket[thread]) {
            return false;
        }
        atBarrier[thread] = false;
        // Empty where lanes disagree on how many meet, which is noted as not proven.
        if (run.tracking && barrier.released.length > 0) {
            run.clocks.join(thread, barrier.released);
        }
        return true;
    }

    private void arrive(int thread, Step step, Barrier barrier) {
        if (barrier.lanes != 0 && barrier.lanes != step.lanes) {
            run.findings.unproven("lanes disagree on how many meet at the barrier of " + step);
        }
        barrier.lanes = step.lanes;
        for (int[] earlier : barrier.previous) {
            if (!run.clocks.knows(thread, earlier[0], earlier[1])) {
                run.findings.unproven("more lanes than meet use the barrier of " + step);
            }
        }
        int[] mine = run.clocks.snapshot(thread);
        if (barrier.joined.length == 0) {
            barrier.joined = mine;
        } else {
            for (int i = 0; i < mine.length; i++) {
                barrier.joined[i] = Math.max(barrier.joined[i], mine[i]);
            }
        }
        barrier.current.add(new int[] {thread, run.clocks.own(thread)});
        if (barrier.arrivals % step.lanes == 0) {
            barrier.released = barrier.joined;
            barrier.joined = new int[] {};
            barrier.previous = List.copyOf(barrier.current);
            barrier.current.clear();
        }
    }

    /** What a counter or semaphore holds. */
    int value(Step step) {
        return (step.kind == Step.Kind.WAIT ? counters : semaphores)[step.id].value;
    }

    /**
     * Tutti's own plans: whoever reads what a peer wrote must have waited for that peer itself, because there the ranks' agreement
     * is checked.
     */
    void requireDirectWait(int thread, Step step, int area, Cell cell) {
        if (cell.writer == Cell.NOBODY || cell.writerStep == null || cell.writerStep.rank == step.rank) {
            return;
        }
        if (run.script.areas.get(area).symbol().startsWith("s") && told[step.rank][cell.writer] < cell.writerClock) {
            run.findings.rule(
                    step,
                    cell.writerStep.toString(),
                    step + " reads what " + cell.writerStep + " wrote without a wait for rank " + cell.writerStep.rank
                            + " itself, where their agreement is checked");
        }
    }
}
