package dev.tutti;

import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.algorithm.Constants;
import dev.tutti.exec.Call;
import dev.tutti.exec.Endpoint;
import dev.tutti.exec.Execution;
import dev.tutti.exec.Schedule;
import dev.tutti.exec.Signature;
import dev.tutti.p2p.Postbox;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.Transport;
import dev.tutti.tune.Tuner;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** What stands behind one rank's {@link Communicator}: endpoint, executor, queue, postbox, and the plans chosen so far. */
final class Member {
    private record PlanKey(Algorithm algorithm, int root) {}

    private final long id;
    private final String name;
    private final int rank;
    private final int[] worldRanks;
    private final Config config;
    private final Endpoint endpoint;
    private final Schedule schedule;
    private final Postbox postbox;
    private final Tuner tuner;
    private final Map<PlanKey, Plan> plans = new HashMap<>();
    private int splits;

    Member(
            long id,
            String name,
            int rank,
            int[] worldRanks,
            Config config,
            int cores,
            Transport transport,
            Fabric fabric) {
        this.id = id;
        this.name = name;
        this.rank = rank;
        this.worldRanks = worldRanks;
        this.config = config;
        this.endpoint = new Endpoint(
                fabric,
                name,
                rank,
                worldRanks.length,
                config.number(Config.Key.FIRST_LAUNCH),
                config.duration(Config.Key.WARN_AFTER).toNanos());
        this.tuner = new Tuner(Constants.of(worldRanks.length, cores));
        int worldRank = worldRanks[rank];
        Execution execution = new Execution(endpoint, this::choose, bytes -> transport.allocate(worldRank, bytes));
        this.schedule = new Schedule(execution, endpoint);
        this.postbox = new Postbox(
                endpoint, name, config.duration(Config.Key.WARN_AFTER).toNanos(), timeoutNanos());
    }

    private Plan choose(Call call) {
        String name = config.text(Config.Key.ALGO);
        String protocol = config.text(Config.Key.PROTO);
        // A forced algorithm applies where it exists: the library's own small calls use other collectives too, and when
        // ranks have agreed on counts it is too late to refuse.
        boolean exists = Algorithms.of(call.collective()).stream()
                .anyMatch(each -> (name.isEmpty() || each.name().equals(name))
                        && (protocol.isEmpty() || each.protocol().toString().equals(protocol))
                        && (call.isUniform() || each.ragged())
                        && (call.isRegistered() || !each.direct()));
        Algorithm algorithm = tuner.choose(
                call.collective(),
                call.type(),
                call.op(),
                call.count(),
                call.longestBytes(),
                worldRanks.length,
                !call.isUniform(),
                call.isRegistered(),
                exists && !name.isEmpty() ? name : null,
                exists && !protocol.isEmpty() ? Protocol.valueOf(protocol.toUpperCase(Locale.ROOT)) : null);
        return plans.computeIfAbsent(
                new PlanKey(algorithm, call.root()),
                key -> key.algorithm().plan(worldRanks.length, key.root(), (int) config.number(Config.Key.LANES)));
    }

    int rank() {
        return rank;
    }

    int size() {
        return worldRanks.length;
    }

    int worldRank(int member) {
        return worldRanks[member];
    }

    /** The number here of a rank of the world, or -1. */
    int rankOfWorldRank(int worldRank) {
        for (int each = 0; each < worldRanks.length; each++) {
            if (worldRanks[each] == worldRank) {
                return each;
            }
        }
        return -1;
    }

    String name() {
        return name;
    }

    Schedule schedule() {
        return schedule;
    }

    Postbox postbox() {
        return postbox;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    long timeoutNanos() {
        return config.duration(Config.Key.TIMEOUT).toNanos();
    }

    int nextSplit() {
        return splits++;
    }

    /** Ids derive from the parent's, the number of the split and the colour, so that all members find the same one. */
    long childId(int split, int color) {
        return Signature.mix(Signature.mix(id + 2L * split + 1) + 2L * color + 1);
    }

    void close() {
        schedule.close();
        postbox.close();
        schedule.retire();
    }
}
