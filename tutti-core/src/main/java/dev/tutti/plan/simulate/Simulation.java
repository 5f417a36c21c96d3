package dev.tutti.plan.simulate;

import dev.tutti.Collective;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.trace.Timeline;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs a plan on a topology and says how long it takes.
 *
 * {@snippet :
 * Simulation.Result result = Simulation.of(plan, Topology.preset("racks")).bytes(16 << 20).run();
 * System.out.println(result.nanos() / 1e6 + " ms");
 * }
 */
public final class Simulation {
    /** Beyond so many steps of lanes, rounds are not simulated one by one. */
    private static final double MANY_STEPS = 4e7;

    private static final long FEWEST_ROUNDS = 24;

    private final Plan plan;
    private final Topology topology;
    private long bytes = 1 << 20;
    private int calls = 1;
    private boolean inPlace;
    private boolean folded = true;
    private boolean recorded;

    private Simulation(Plan plan, Topology topology) {
        this.plan = Objects.requireNonNull(plan, "plan");
        this.topology = Objects.requireNonNull(topology, "topology");
    }

    /**
     * What a simulation found.
     *
     * @param nanos time of one call: from the start to the end on the slowest rank, or, of calls back to back, the mean of those
     *     after the first
     * @param ranksSimulated how many ranks were stepped; the others do the same at the same time
     * @param rounds launches that a message of this size takes
     * @param roundsSimulated how many of them were stepped; the rest goes at the pace of the later ones
     * @param timeline every operation, if that was asked for
     */
    public record Result(
            double nanos,
            int ranksSimulated,
            long rounds,
            long roundsSimulated,
            @Nullable Timeline timeline) {}

    /**
     * A simulation of a plan.
     *
     * @param plan what to run
     * @param topology where to run it
     * @return the simulation, of one call with 1 MiB
     */
    public static Simulation of(Plan plan, Topology topology) {
        return new Simulation(plan, topology);
    }

    /**
     * Sets the size of the message.
     *
     * @param messageBytes as nccl-tests counts: the whole array, for an all-gather the output
     * @return this
     */
    public Simulation bytes(long messageBytes) {
        if (messageBytes < 0) {
            throw new IllegalArgumentException("a message cannot have " + messageBytes + " bytes");
        }
        bytes = messageBytes;
        return this;
    }

    /**
     * Runs so many calls back to back, as benchmarks do.
     *
     * @param times at least 1
     * @return this
     */
    public Simulation calls(int times) {
        if (times < 1) {
            throw new IllegalArgumentException("calls must be at least 1, got " + times);
        }
        calls = times;
        return this;
    }

    /**
     * Says whether input and output are the same memory, which matters to caches.
     *
     * @param same true if they are
     * @return this
     */
    public Simulation inPlace(boolean same) {
        inPlace = same;
        return this;
    }

    /**
     * Says whether ranks may stand for others that do the same at the same time.
     *
     * @param may false to step every rank
     * @return this
     */
    public Simulation folded(boolean may) {
        folded = may;
        return this;
    }

    /**
     * Asks for a timeline. Every rank is then stepped.
     *
     * @return this
     */
    public Simulation recorded() {
        recorded = true;
        return this;
    }

    /**
     * Runs it.
     *
     * @return the time
     * @throws IllegalStateException if the plan cannot go on, with what waits for what
     */
    public Result run() {
        Network network = topology.network(plan.ranks());
        Costs costs = topology.costs();
        RankPlan first = plan.part(0);
        Layout layout = new Layout(plan, first, bytes, costs.chunkBytes());
        int period = folded && !recorded && costs.cores() == 0 ? Symmetry.period(plan, network) : plan.ranks();
        Compiler compiler = new Compiler(plan, period, layout, costs, inPlace);
        compiler.compile();
        long rounds = layout.rounds();
        long simulated = roundsToSimulate(compiler, rounds);
        int[] lanes = compiler.programs.stream().mapToInt(java.util.List::size).toArray();
        Collective collective = plan.header().collective();
        boolean gated =
                plan.header().style() == PlanHeader.Style.BLOCKS && (collective == null || !collective.hearsFromAll());
        Launches launches = new Launches(lanes, calls, simulated, gated);
        Timeline timeline = recorded ? new Timeline() : null;
        new Engine(compiler, network, costs, plan.ranks(), period, launches, timeline).run();
        return new Result(time(launches, rounds, simulated), period, rounds, simulated, timeline);
    }

    /** So many rounds that a steady state shows, where all would take too long. */
    private long roundsToSimulate(Compiler compiler, long rounds) {
        double steps = compiler.programs.stream()
                .flatMap(java.util.List::stream)
                .mapToDouble(program -> program.length() / 6.0)
                .sum();
        long affordable = Math.max(FEWEST_ROUNDS, (long) (MANY_STEPS / Math.max(1, steps * calls)));
        return recorded ? rounds : Math.min(rounds, affordable);
    }

    private double time(Launches launches, long rounds, long simulated) {
        double last = launches.end(launches.total() - 1);
        double nanos = calls == 1 ? last : (last - launches.end(simulated - 1)) / (calls - 1);
        if (simulated == rounds) {
            return nanos;
        }
        long from = simulated / 2;
        double pace = (launches.end(simulated - 2) - launches.end(from)) / (simulated - 2 - from);
        return nanos + (rounds - simulated) * pace;
    }
}
