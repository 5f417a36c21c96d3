package dev.tutti;

import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.algorithm.Constants;
import dev.tutti.exec.Call;
import dev.tutti.exec.Endpoint;
import dev.tutti.exec.Execution;
import dev.tutti.exec.PlanContext;
import dev.tutti.exec.Schedule;
import dev.tutti.exec.Signature;
import dev.tutti.p2p.Postbox;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.Reach;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.Transport;
import dev.tutti.tune.Tuner;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongFunction;

/** What stands behind one rank's {@link Communicator}: endpoint, executor, queue, postbox, and the plans chosen so far. */
final class Member {
    /** Blocks longer than this need no more scratch: they go through in windows. */
    private static final long MOST_RESERVED = 1L << 30;

    private final long id;
    private final String name;
    private final int rank;
    private final int[] worldRanks;
    private final Arguments arguments;
    private final Config config;
    /** Read once: every message asks for it. */
    private final long timeoutNanos;

    private final Endpoint endpoint;
    private final Schedule schedule;
    private final Postbox postbox;
    private final Tuner tuner;
    private final Execution execution;
    private final LongFunction<Allocation> registered;
    private final List<UsedPlan> used = new CopyOnWriteArrayList<>();
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
        this.arguments = new Arguments(name, rank, worldRanks.length);
        this.worldRanks = worldRanks;
        this.config = config;
        this.timeoutNanos = config.duration(Config.Key.TIMEOUT).toNanos();
        Constants constants = Constants.of(worldRanks.length, cores);
        this.endpoint = new Endpoint(
                fabric,
                name,
                rank,
                worldRanks.length,
                config.number(Config.Key.FIRST_LAUNCH),
                config.duration(Config.Key.WARN_AFTER).toNanos(),
                constants.sharesCores(worldRanks.length));
        this.tuner = new Tuner(constants);
        int worldRank = worldRanks[rank];
        this.registered = bytes -> transport.allocate(worldRank, bytes);
        this.execution = new Execution(endpoint, this::choose, registered);
        this.schedule = new Schedule(execution, endpoint);
        this.postbox = new Postbox(
                endpoint, name, config.duration(Config.Key.WARN_AFTER).toNanos(), timeoutNanos());
    }

    private Plan choose(Call call) {
        for (UsedPlan each : used) {
            if (each.serves(call)) {
                return each.plan();
            }
        }
        String name = config.text(Config.Key.ALGO);
        String protocol = config.text(Config.Key.PROTO);
        // A forced algorithm applies where it exists: the library's own small calls use other collectives too, and when
        // ranks have agreed on counts it is too late to refuse.
        boolean forced = !name.isEmpty() || !protocol.isEmpty();
        boolean exists = forced
                && Algorithms.of(call.collective()).stream()
                        .anyMatch(each -> (name.isEmpty() || each.name().equals(name))
                                && (protocol.isEmpty()
                                        || each.protocol().toString().equals(protocol))
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
        return BuiltInPlans.of(algorithm, worldRanks.length, call.root(), (int) config.number(Config.Key.LANES));
    }

    /** A plan of Tutti's own kind that the user wants for some calls. */
    private record UsedPlan(Plan plan, long minBytes, long maxBytes) {
        boolean serves(Call call) {
            long blocks = Math.max(
                    call.collective().inputBlocks(plan.ranks()),
                    call.collective().outputBlocks(plan.ranks()));
            long message = blocks * call.longestBytes();
            return plan.collective() == call.collective()
                    && call.isUniform()
                    && call.root() == plan.root()
                    && (call.isRegistered() || plan.reach() == Reach.OWN)
                    && (call.op() == null || call.op().isCommutative())
                    && message >= minBytes
                    && message <= maxBytes
                    && plan.header().admits(message);
        }
    }

    /** Takes a plan into use; all ranks do so together, and {@code exchange} tells each a number of all. */
    void use(Plan plan, long minBytes, long maxBytes, PlanContext.Exchange exchange) {
        if (plan.header().style() == PlanHeader.Style.BLOCKS) {
            used.addFirst(new UsedPlan(plan, minBytes, maxBytes));
        } else {
            PlanContext context =
                    new PlanContext(plan, endpoint, registered, exchange, 2 * config.number(Config.Key.SCRATCH));
            context.skipTo(config.number(Config.Key.FIRST_LAUNCH));
            Collective collective = plan.collective();
            long blocks = Math.max(1, Math.max(collective.inputBlocks(size()), collective.outputBlocks(size())));
            long longest = plan.header().maxBytes() < 0
                    ? maxBytes
                    : Math.min(maxBytes, plan.header().maxBytes());
            context.reserve(Math.min(longest / blocks, MOST_RESERVED));
            execution.use(context, minBytes, maxBytes);
        }
        execution.reconsider(false);
    }

    /** Forgets all plans that were taken into use. */
    void useBuiltIn() {
        used.clear();
        execution.reconsider(true);
    }

    int rank() {
        return rank;
    }

    /** Checks what is passed to this communicator. */
    Arguments arguments() {
        return arguments;
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
        return timeoutNanos;
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
