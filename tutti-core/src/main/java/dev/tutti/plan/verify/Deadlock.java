package dev.tutti.plan.verify;

import dev.tutti.plan.verify.Step.Kind;
import org.jspecify.annotations.Nullable;

/** Says why nobody can move, naming the first operation that waits for something that can no longer come. */
final class Deadlock {
    private Deadlock() {}

    static void explain(Run run) {
        Script script = run.script;
        Step worst = null;
        String worstText = "";
        int worstness = -1;
        int blocked = 0;
        for (int thread = script.ranks; thread < script.threads(); thread++) {
            Step step = run.next(thread);
            if (step == null) {
                continue;
            }
            blocked++;
            Step supplier = supplier(run, step, run.launchOf(thread));
            int hopelessness = supplier != null ? 0 : overwritten(run, step, run.launchOf(thread)) ? 2 : 1;
            if (hopelessness > worstness) {
                worst = step;
                worstness = hopelessness;
                worstText = waitsFor(run, step)
                        + (supplier == null
                                ? nobody(run, step, run.launchOf(thread))
                                : ", which " + supplier + " has yet to give and cannot");
            }
        }
        if (worst == null) {
            run.findings.add(
                    Finding.Kind.DEADLOCK, null, 0, "", "ranks wait for each other to enter or leave the call");
            return;
        }
        String others = blocked > 1 ? "; " + (blocked - 1) + " other lanes wait too" : "";
        run.findings.add(
                Finding.Kind.DEADLOCK,
                worst,
                worst.rank,
                worstText.strip(),
                worst + " waits for ever in launch " + run.launchOf(script.thread(worst.rank, worst.lane)) + " for "
                        + worstText + others);
    }

    private static String waitsFor(Run run, Step step) {
        return switch (step.kind) {
            case WAIT -> "a signal on " + run.script.counterNames[step.id];
            case ACQUIRE -> "a release of " + run.script.semaphoreNames[step.id];
            case BARRIER -> step.lanes + " lanes to meet";
            default -> "packets in its scratch";
        };
    }

    private static String nobody(Run run, Step step, int launch) {
        if (overwritten(run, step, launch)) {
            return " that a faster rank has overwritten with those of a later launch";
        }
        return ", which nobody gives any more";
    }

    private static boolean overwritten(Run run, Step step, int launch) {
        for (Region source : step.sources) {
            Cells cells = run.memory[source.area(launch)];
            for (long at = source.offset(); source.packet() && at < source.offset() + source.bytes(); ) {
                Cells.Cell cell = cells.at(at);
                if (cell.flag > launch) {
                    return true;
                }
                at = cell.end;
            }
        }
        return false;
    }

    /** A step that would still give what another waits for. */
    private static @Nullable Step supplier(Run run, Step step, int launch) {
        Script script = run.script;
        for (int thread = script.ranks; thread < script.threads(); thread++) {
            Step next = run.next(thread);
            if (next == null || next == step) {
                continue;
            }
            boolean reached = false;
            for (Step candidate : script.steps[thread]) {
                reached |= candidate == next;
                if (reached && candidate != next && gives(candidate, step, launch, run.launchOf(thread))) {
                    return candidate;
                }
            }
        }
        return null;
    }

    private static boolean gives(Step candidate, Step waiting, int launch, int candidateLaunch) {
        return switch (waiting.kind) {
            case WAIT -> candidate.kind == Kind.SIGNAL && candidate.id == waiting.id;
            case ACQUIRE -> candidate.kind == Kind.RELEASE && candidate.id == waiting.id;
            case BARRIER -> candidate.kind == Kind.BARRIER && candidate.id == waiting.id;
            default -> candidateLaunch == launch && writes(candidate, waiting);
        };
    }

    private static boolean writes(Step candidate, Step waiting) {
        for (Region source : waiting.sources) {
            for (Region destination : candidate.destinations) {
                if (source.packet() && source.overlaps(destination)) {
                    return true;
                }
            }
        }
        return false;
    }
}
