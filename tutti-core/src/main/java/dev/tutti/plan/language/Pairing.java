package dev.tutti.plan.language;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Checks that on every channel as many signals are sent as are awaited at the other end; a loop counts once. */
final class Pairing {
    private record Wire(int from, int to, ChannelType type, int ordinal) {}

    private Pairing() {}

    static void check(List<ProgramRank> ranks) {
        Map<Wire, int[]> counts = new HashMap<>();
        for (ProgramRank rank : ranks) {
            rank.lanes().forEach(lane -> count(rank, lane, counts));
        }
        counts.forEach((wire, count) -> {
            if (count[0] != count[1]) {
                throw new IllegalStateException("on " + wire.type() + " channel " + wire.ordinal() + " from rank "
                        + wire.from() + " to rank " + wire.to() + " there are " + count[0] + " signals and " + count[1]
                        + " waits: every signal must be awaited once");
            }
        });
    }

    private static void count(ProgramRank rank, List<Step> steps, Map<Wire, int[]> counts) {
        for (Step step : steps) {
            if (step.loop() != null) {
                count(rank, step.loop().body(), counts);
                continue;
            }
            boolean waits = step.code() == Code.WAIT || step.code() == Code.RELAXED_WAIT;
            if (!waits && !step.code().signals()) {
                continue;
            }
            ChannelType type = Objects.requireNonNull(step.type());
            List<Integer> peers = rank.peers(type);
            for (int id : step.ids()) {
                int peer = peers.get(id);
                int ordinal = (int) peers.subList(0, id).stream()
                        .filter(each -> each == peer)
                        .count();
                Wire wire = waits ? new Wire(peer, rank.id(), type, ordinal) : new Wire(rank.id(), peer, type, ordinal);
                counts.computeIfAbsent(wire, absent -> new int[2])[waits ? 1 : 0]++;
            }
        }
    }
}
