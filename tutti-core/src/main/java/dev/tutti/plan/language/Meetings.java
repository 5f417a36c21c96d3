package dev.tutti.plan.language;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes down where the threads of a lane meet. First what {@link DataSync} says; then, where it is wanted, a meeting before every
 * operation that touches what an earlier one has written, or writes what an earlier one has touched. Packets announce themselves and
 * need none.
 */
final class Meetings {
    private Meetings() {}

    private record Access(Chunk chunk, boolean writes) {
        boolean conflicts(Access other) {
            return (writes || other.writes) && Fusion.overlap(chunk, other.chunk);
        }
    }

    /** Data-sync as operations; meetings that follow each other are one if {@code fused}. */
    static List<Step> explicit(List<Step> steps, boolean fused) {
        List<Step> all = new ArrayList<>();
        for (Step step : steps) {
            if (step.sync().before()) {
                add(all, Step.nop(), fused);
            }
            add(
                    all,
                    step.loop() == null
                            ? step
                            : step.withBody(explicit(step.loop().body(), fused)),
                    fused);
            if (step.sync().after()) {
                add(all, Step.nop(), fused);
            }
        }
        return all;
    }

    private static void add(List<Step> all, Step step, boolean fused) {
        Code last = all.isEmpty() ? null : all.getLast().code();
        boolean met = last == Code.NOP || last == Code.BARRIER;
        if (fused && step.code() == Code.NOP && met) {
            return;
        }
        if (fused && step.code() == Code.BARRIER && last == Code.NOP) {
            all.removeLast(); // a barrier is a meeting too
        }
        all.add(step);
    }

    static List<Step> automatic(List<Step> steps) {
        List<Step> all = new ArrayList<>();
        List<Access> since = new ArrayList<>();
        for (Step step : steps) {
            if (step.loop() != null) {
                since.clear();
                all.add(step.withBody(automatic(step.loop().body())));
                continue;
            }
            if (step.code() == Code.NOP || step.code() == Code.BARRIER) {
                since.clear();
            }
            List<Access> now = accesses(step);
            if (now.stream().anyMatch(one -> since.stream().anyMatch(one::conflicts))) {
                all.add(Step.nop());
                since.clear();
            }
            since.addAll(now);
            all.add(step);
        }
        return all;
    }

    private static List<Access> accesses(Step step) {
        boolean packets = step.code().shape() == Code.Shape.PACKET;
        List<Access> all = new ArrayList<>();
        for (int i = 0; i < step.sources().size(); i++) {
            boolean plain = !packets
                    || (i == 0
                            && step.code() != Code.UNPACK
                            && step.code() != Code.READ_PUT_PACKETS
                            && step.code() != Code.GROUP_STORE_PACKETS)
                    || step.code() == Code.PUT_PACKETS;
            if (plain) {
                all.add(new Access(step.sources().get(i), false));
            }
        }
        for (int i = 0; i < step.destinations().size(); i++) {
            boolean plain = !packets || (i == 0 && (step.code().folds() || step.code() == Code.UNPACK));
            if (plain) {
                all.add(new Access(step.destinations().get(i), true));
            }
        }
        return all;
    }
}
