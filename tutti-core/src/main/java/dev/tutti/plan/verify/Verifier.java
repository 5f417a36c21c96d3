package dev.tutti.plan.verify;

import dev.tutti.plan.Plan;
import dev.tutti.plan.verify.Verdict.Status;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Proves a plan right for all schedules, or says what is wrong with it.
 *
 * <p>Where the n-th signal of every counter always meets its n-th wait, every schedule does the same steps with the same data in
 * the same partial order, so one run on contents without numbers decides for all: whether the collective comes out, whether anybody
 * waits for ever, and whether two accesses that conflict are left without order, over several launches back to back. Plans
 * in which that is not so are tried under many schedules and reported as not proven. {@code docs/verifier.md} has the argument.
 *
 * {@snippet :
 * Verdict verdict = Verifier.check(plan);
 * verdict.findings().forEach(System.out::println);
 * }
 */
public final class Verifier {
    /** Schedules tried where there is no proof. */
    private static final int TRIES = 200;

    /** Plans of so many ranks are checked for several sizes at once. */
    private static final int MOST_RANKS_AT_ONCE = 16;

    private Verifier() {}

    /**
     * Checks a plan for one size of every class.
     *
     * @param plan the plan
     * @return what it is worth
     */
    public static Verdict check(Plan plan) {
        return check(plan, false);
    }

    /**
     * Checks a plan, also for blocks of different lengths.
     *
     * @param plan the plan
     * @param ragged whether ranks may have blocks of different lengths; for plans of Tutti's own style
     * @return what it is worth
     */
    public static Verdict check(Plan plan, boolean ragged) {
        List<Layout> layouts;
        try {
            layouts = Sizes.of(plan, ragged);
        } catch (IllegalArgumentException noSizes) {
            return notExecutable(String.valueOf(noSizes.getMessage()));
        }
        if (layouts.isEmpty()) {
            return notExecutable("input_chunks and output_chunks are both 0: no chunk size");
        }
        boolean computes = layouts.getFirst().expectation != null;
        List<Finding> findings = new ArrayList<>();
        Set<String> notes = new LinkedHashSet<>();
        Set<String> unproven = new LinkedHashSet<>();
        boolean sameBits = true;
        boolean rankOrder = true;
        for (Iterator<Checked> all = checkEach(plan, layouts); all.hasNext() && findings.isEmpty(); ) {
            Checked checked = all.next();
            notes.addAll(checked.notes);
            unproven.addAll(checked.unproven);
            sameBits &= checked.sameBits;
            rankOrder &= checked.rankOrder;
            for (Finding finding : checked.findings) {
                // A plan that computes nothing in particular must end; what else it does is for its author to know.
                boolean grave = computes
                        || finding.kind() == Finding.Kind.DEADLOCK
                        || finding.kind() == Finding.Kind.OUT_OF_BOUNDS;
                if (grave) {
                    findings.add(finding);
                } else {
                    notes.add(finding.toString());
                }
            }
        }
        if (!sameBits) {
            notes.add("ranks fold in different orders: their results may differ in the last bits");
        }
        findings.sort((a, b) -> a.kind().compareTo(b.kind()));
        return verdict(plan, layouts.size(), computes, findings, notes, unproven, sameBits, rankOrder);
    }

    /** What came of one class of sizes. */
    private record Checked(
            List<Finding> findings, List<String> notes, List<String> unproven, boolean sameBits, boolean rankOrder) {}

    /** Sizes have nothing to do with each other. Those of small plans go side by side; of large ones, memory has room for one. */
    private static Iterator<Checked> checkEach(Plan plan, List<Layout> layouts) {
        Stream<Layout> stream = layouts.stream();
        return plan.ranks() > MOST_RANKS_AT_ONCE
                ? stream.map(layout -> check(plan, layout)).iterator()
                : stream.parallel().map(layout -> check(plan, layout)).toList().iterator();
    }

    private static Checked check(Plan plan, Layout layout) {
        Findings found = new Findings();
        Script script;
        try {
            script = Lowering.lower(plan, layout, found);
        } catch (TooLargeException large) {
            String why = "too large to prove with " + layout.label + ": " + large.getMessage();
            return new Checked(List.of(), List.of(), List.of(why), true, true);
        }
        List<String> notes = new ArrayList<>();
        Replay.inTurn(new Run(script, true, found));
        if (found.isEmpty() && !found.unproven().isEmpty()) {
            explore(script, found);
            if (found.isEmpty()) {
                notes.add("right under " + TRIES + " schedules with " + layout.label);
            }
        }
        List<Finding> findings = List.copyOf(Replay.finish(found, script, Interleaving.IN_TURN));
        return new Checked(findings, notes, List.copyOf(found.unproven()), found.sameBits, found.rankOrder);
    }

    private static Verdict notExecutable(String reason) {
        return new Verdict(Status.NOT_EXECUTABLE, reason, List.of(), List.of(), 0, true, true);
    }

    private static void explore(Script script, Findings found) {
        for (long seed = 0; seed < TRIES && found.isEmpty(); seed++) {
            Replay.run(script, found, seed);
        }
    }

    private static Verdict verdict(
            Plan plan,
            int classes,
            boolean computes,
            List<Finding> findings,
            Set<String> notes,
            Set<String> unproven,
            boolean sameBits,
            boolean rankOrder) {
        Status status = !findings.isEmpty()
                ? Status.FAIL
                : !unproven.isEmpty() ? Status.NOT_PROVEN : computes ? Status.PASS : Status.RUNS;
        String reason = switch (status) {
            case FAIL -> findings.getFirst().toString();
            case NOT_PROVEN -> unproven.iterator().next();
            case PASS ->
                "proven for all schedules and " + classes + (classes == 1 ? " class" : " classes") + " of sizes";
            default -> "ends under all schedules; '" + plan.header().purpose() + "' computes nothing to compare";
        };
        if (status != Status.NOT_PROVEN) {
            notes.addAll(unproven);
        }
        return new Verdict(status, reason, findings, List.copyOf(notes), classes, sameBits, rankOrder);
    }
}
