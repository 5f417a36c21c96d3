package dev.tutti.plan.verify;

import dev.tutti.plan.Plan;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a plan in one particular order on one thread and shows what happens: wrong data, a hang, a buffer touched outside its
 * owner's call, or nothing wrong. The same order or seed always shows the same.
 */
public final class Replay {
    private Replay() {}

    /**
     * The choices of sizes and placement that the verifier proves a plan for.
     *
     * @param plan the plan
     * @return their names, as {@link Finding#sizes} has them
     */
    public static List<String> sizes(Plan plan) {
        return Sizes.of(plan, false).stream().map(layout -> layout.label).toList();
    }

    /**
     * Runs a plan in a given order.
     *
     * @param plan the plan
     * @param sizes which sizes, from {@link Finding#sizes} or {@link #sizes}
     * @param order the order of steps
     * @return what went wrong; empty if all is right
     */
    public static List<Finding> run(Plan plan, String sizes, Interleaving order) {
        Findings findings = new Findings();
        Script script = script(plan, sizes, findings);
        run(script, findings, order);
        return finish(findings, script, order);
    }

    /**
     * Runs a plan in an order chosen by a seed.
     *
     * @param plan the plan
     * @param sizes which sizes
     * @param seed the seed
     * @return what went wrong, each with the order as a list of steps; empty if all is right
     */
    public static List<Finding> run(Plan plan, String sizes, long seed) {
        Script script = script(plan, sizes, new Findings());
        Findings findings = new Findings();
        run(script, findings, seed);
        return findings.isEmpty() ? List.of() : run(plan, sizes, recorded(script, seed));
    }

    private static Script script(Plan plan, String sizes, Findings findings) {
        for (Layout layout : Sizes.of(plan, true)) {
            if (layout.label.equals(sizes)) {
                return Lowering.lower(plan, layout, findings);
            }
        }
        throw new IllegalArgumentException(
                "plan " + plan.name() + " has no sizes '" + sizes + "', only " + sizes(plan));
    }

    /** Runs a script under a seed; what goes wrong is added to the findings. */
    static void run(Script script, Findings findings, long seed) {
        Run run = new Run(script, false, findings);
        Adversary adversary = new Adversary(script, seed);
        while (adversary.move(run)) {}
        if (!run.isDone()) {
            Deadlock.explain(run);
        }
    }

    static void run(Script script, Findings findings, Interleaving order) {
        Run run = new Run(script, false, findings);
        for (Interleaving.Turn turn : order.runs()) {
            int thread = script.thread(turn.rank(), turn.lane());
            for (int i = 0; i < turn.steps() && run.step(thread); i++) {}
        }
        inTurn(run);
    }

    /** Every thread in turn as far as it goes. */
    static void inTurn(Run run) {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int thread = 0; thread < run.script.threads(); thread++) {
                while (run.step(thread)) {
                    moved = true;
                }
            }
        }
        if (!run.isDone()) {
            Deadlock.explain(run);
        }
    }

    /** The order that a seed makes, as a list. */
    private static Interleaving recorded(Script script, long seed) {
        Run run = new Run(script, false, new Findings());
        Adversary adversary = new Adversary(script, seed);
        Recorder recorder = new Recorder(script);
        int[] before = run.taken.clone();
        while (adversary.move(run)) {
            for (int thread = 0; thread < before.length; thread++) {
                if (run.taken[thread] != before[thread]) {
                    recorder.add(thread);
                    before[thread] = run.taken[thread];
                }
            }
        }
        return recorder.order();
    }

    /** An order in which exactly the steps that must come before a step are taken before it. */
    static Interleaving leadingTo(Script script, int[] steps) {
        Run run = new Run(script, false, new Findings());
        Recorder recorder = new Recorder(script);
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int thread = 0; thread < steps.length; thread++) {
                while (run.taken[thread] < steps[thread] && run.step(thread)) {
                    recorder.add(thread);
                    moved = true;
                }
            }
        }
        return recorder.order();
    }

    /** Gives drafts their schedules: the one that shows the defect, if one of those tried does. */
    static List<Finding> finish(Findings findings, Script script, Interleaving order) {
        List<Finding> finished = new ArrayList<>();
        for (Findings.Draft draft : findings.drafts()) {
            Interleaving schedule = draft.steps() == null ? order : showing(script, leadingTo(script, draft.steps()));
            finished.add(new Finding(
                    draft.kind(),
                    draft.rank(),
                    draft.lane(),
                    draft.op(),
                    draft.counterpart(),
                    draft.sentence(),
                    script.label,
                    schedule));
        }
        return finished;
    }

    private static Interleaving showing(Script script, Interleaving reversed) {
        for (Interleaving candidate : List.of(reversed, Interleaving.IN_TURN)) {
            Findings shown = new Findings();
            run(script, shown, candidate);
            if (!shown.isEmpty()) {
                return candidate;
            }
        }
        return reversed;
    }

    /** Writes an order down, runs of one lane together. */
    private static final class Recorder {
        private final Script script;
        private final List<Interleaving.Turn> turns = new ArrayList<>();
        private int thread = -1;
        private int steps;

        Recorder(Script script) {
            this.script = script;
        }

        void add(int next) {
            if (next != thread) {
                flush();
                thread = next;
            }
            steps++;
        }

        private void flush() {
            if (steps > 0) {
                turns.add(new Interleaving.Turn(script.rankOf(thread), script.laneOf(thread), steps));
                steps = 0;
            }
        }

        Interleaving order() {
            flush();
            return new Interleaving(turns);
        }
    }
}
