package dev.tutti.plan.verify;

import dev.tutti.plan.verify.Cells.Cell;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Collects what is wrong, each thing once, and says it in sentences. */
final class Findings {
    private static final int LIMIT = 16;

    /** A finding whose schedule is still to be made: what must happen first, as ticks of all threads. */
    record Draft(
            Finding.Kind kind,
            int rank,
            int lane,
            int op,
            String counterpart,
            String sentence,
            int thread,
            int @Nullable [] steps) {}

    private final List<Draft> drafts = new ArrayList<>();
    private final Set<String> seen = new LinkedHashSet<>();
    private final Set<String> unproven = new LinkedHashSet<>();
    boolean sameBits = true;
    boolean rankOrder = true;

    List<Draft> drafts() {
        return drafts;
    }

    Set<String> unproven() {
        return unproven;
    }

    boolean isEmpty() {
        return drafts.isEmpty();
    }

    void unproven(String why) {
        if (unproven.size() < LIMIT) {
            unproven.add(why);
        }
    }

    void add(Finding.Kind kind, @Nullable Step step, int rank, String counterpart, String sentence) {
        add(kind, step, rank, counterpart, sentence, -1, null);
    }

    private void add(
            Finding.Kind kind,
            @Nullable Step step,
            int rank,
            String counterpart,
            String sentence,
            int thread,
            int @Nullable [] steps) {
        int lane = step == null ? -1 : step.lane;
        int op = step == null ? -1 : step.index;
        String key = kind + " " + rank + " " + lane + " " + op + " " + (step == null ? -1 : step.inner) + counterpart;
        if (drafts.size() < LIMIT && seen.add(key)) {
            drafts.add(new Draft(kind, rank, lane, op, counterpart, sentence, thread, steps));
        }
    }

    void race(
            Run run,
            int thread,
            @Nullable Step step,
            boolean writes,
            int otherThread,
            @Nullable Step other,
            int otherClock,
            boolean otherWrote,
            int area,
            Cell cell) {
        Script script = run.script;
        Script.Area where = script.areas.get(area);
        int[] ticks = run.clocks.snapshot(thread);
        int[] steps = new int[ticks.length];
        for (int i = 0; i < steps.length; i++) {
            steps[i] = i == thread ? run.taken[i] + 1 : run.clocks.stepsUntil(i, ticks[i]);
        }
        String bytes = where.symbol() + "[" + cell.start + ".." + (cell.end - 1) + "]@" + where.rank();
        if (step == null || other == null) {
            Step lane = step == null ? other : step;
            int owner = where.rank();
            if (lane == null) {
                return;
            }
            boolean wrote = step == null ? otherWrote : writes;
            String sentence = lane + (wrote ? " writes " : " reads ") + bytes + " though nothing keeps rank " + owner
                    + " inside the call meanwhile: it may not have entered yet, or may have returned already";
            add(Finding.Kind.OUTSIDE_CALL, lane, lane.rank, "caller of rank " + owner, sentence, thread, steps);
            return;
        }
        int launch = run.launchOf(thread);
        int otherLaunch = launchAt(run, otherThread, otherClock);
        String between = launch == otherLaunch ? " in one launch" : " of launches " + otherLaunch + " and " + launch;
        String sentence = other + (otherWrote ? " writes " : " reads ") + bytes + " and " + step
                + (writes ? " writes" : " reads") + " it, and nothing orders the two" + between;
        add(Finding.Kind.RACE, step, step.rank, other.toString(), sentence, thread, steps);
    }

    private static int launchAt(Run run, int thread, int clock) {
        int steps = run.clocks.stepsUntil(thread, clock);
        int perLaunch = Math.max(1, run.script.steps[thread].length);
        return Math.max(0, (steps - 1) / perLaunch);
    }

    void outside(Run run, Step step, Script.Area area, boolean writes) {
        add(
                Finding.Kind.OUTSIDE_CALL,
                step,
                step.rank,
                "caller of rank " + area.rank(),
                step + (writes ? " writes " : " reads ") + area.symbol() + "@" + area.rank() + " while rank "
                        + area.rank() + " is outside the call");
    }

    void wrong(Run run, int rank, int block, long at, Value value, long[] expected, boolean right) {
        String text = "rank " + rank + " ends launch " + run.launchOf(rank) + " with "
                + (right ? "a value finished " + value.finished + " times" : value.toString()) + " in byte " + at
                + " of block " + block + " of its output, where " + expectedText(expected) + " belongs";
        add(Finding.Kind.WRONG_RESULT, null, rank, "", text);
    }

    private static String expectedText(long[] expected) {
        return expected.length == 1
                ? Value.name(expected[0])
                : "the fold of " + expected.length + " ranks, beginning with " + Value.name(expected[0]) + ",";
    }

    void unheard(Run run, int rank, int other) {
        add(
                Finding.Kind.UNHEARD,
                null,
                rank,
                "rank " + other,
                "rank " + rank + " ends " + run.script.plan.name()
                        + " without having heard, directly or through others, from rank " + other);
    }

    void rule(Step step, String counterpart, String sentence) {
        add(Finding.Kind.RULE, step, step.rank, counterpart, sentence);
    }
}
