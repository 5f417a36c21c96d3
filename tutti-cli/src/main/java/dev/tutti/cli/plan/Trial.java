package dev.tutti.cli.plan;

import dev.tutti.ReduceOp;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.data.ExactData;
import dev.tutti.exec.PlanRecorder;
import dev.tutti.plan.Plan;
import dev.tutti.plan.trace.Timeline;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Runs one plan bare for all its cases, on ranks, under chosen schedules or on a device, and compares every byte. */
final class Trial {
    /** What a rank says that has found nothing wrong itself. */
    static final String ELSEWHERE = "another rank has wrong data";

    static final int SPANS_PER_RANK = 1 << 16;

    private final Plan plan;
    private final Expectation expectation;
    private final List<TrialCase> cases;
    private final int launches;
    private final Duration timeout;
    private final long seed;
    private final Map<String, ExactData> data = new ConcurrentHashMap<>();

    Trial(Candidate candidate, TrialOptions options) {
        this(candidate.plan(), candidate.cases(), options.launches, options.timeout(), options.seed);
    }

    Trial(Plan plan, List<TrialCase> cases, int launches, Duration timeout, long seed) {
        this.plan = plan;
        this.expectation = Expectation.of(plan);
        this.cases = cases;
        this.launches = launches;
        this.timeout = timeout;
        this.seed = seed;
    }

    /** Runs all cases on threads and one under schedules; what is wrong, or null. */
    @Nullable
    String run(int schedules) {
        try (TrialRanks ranks = new TrialRanks(plan, timeout)) {
            String wrong = runOn(ranks);
            if (wrong != null) {
                return wrong;
            }
        }
        return underSchedules(schedules, cases.subList(0, 1));
    }

    /** Runs all cases on ranks of which some or all are here; what is wrong on those, {@link #ELSEWHERE}, or null. */
    @Nullable
    String runOn(TrialRanks ranks) {
        for (TrialCase each : cases) {
            String wrong = runOn(ranks, each);
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    /** Runs one case and records what every lane did when, of all launches: the first {@link #SPANS_PER_RANK}. */
    Timeline record(TrialCase each) {
        try (TrialRanks ranks = new TrialRanks(plan, timeout)) {
            List<PlanRecorder> recorders = new ArrayList<>();
            for (TrialRanks.Seat seat : ranks.seats) {
                PlanRecorder recorder = new PlanRecorder(SPANS_PER_RANK);
                recorders.add(recorder);
                seat.context().record(recorder);
            }
            long epoch = System.nanoTime();
            runOn(ranks, each);
            Timeline timeline = new Timeline();
            recorders.forEach(recorder -> recorder.writeTo(timeline, epoch));
            return timeline;
        }
    }

    /** Runs some of the cases on one thread, in orders that seeds decide; what is wrong, or null. A seed decides the case too. */
    @Nullable
    String underSchedules(int schedules, List<TrialCase> some) {
        for (int i = 0; i < schedules; i++) {
            TrialCase each = some.get((int) Math.floorMod(seed + i, (long) some.size()));
            try (ScheduledTrial trial = new ScheduledTrial(plan, timeout, each, launches, seed + i)) {
                String wrong = trial.run(memories(each, seed + 1000 + i));
                if (wrong != null) {
                    return "schedule " + (seed + i) + ": " + wrong;
                }
            }
        }
        return null;
    }

    /** Runs everything on a device, the smallest case also with delays; what is wrong, or null. */
    @Nullable
    String runOn(CudaDevice device, int schedules) {
        try (CudaTrial trial = new CudaTrial(device, plan, timeout)) {
            for (TrialCase each : cases) {
                String wrong = trial.run(memories(each, seed), each, 0);
                if (wrong != null) {
                    return wrong;
                }
            }
            for (int i = 0; i < schedules; i++) {
                String wrong = trial.run(memories(cases.getFirst(), seed + 1000 + i), cases.getFirst(), (int) seed + i);
                if (wrong != null) {
                    return "delays " + (seed + i) + ": " + wrong;
                }
            }
            return null;
        }
    }

    private @Nullable String runOn(TrialRanks ranks, TrialCase each) {
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        ranks.run(seat -> {
            String found = run(seat, each);
            if (seat.anybody(found != null)) {
                wrong.add(found == null ? ELSEWHERE : found);
            }
            // Everybody has compared what it has, so nobody touches these any more.
            seat.giveBack();
        });
        return wrong.stream()
                .filter(found -> !found.equals(ELSEWHERE))
                .findFirst()
                .orElse(wrong.peek());
    }

    /** All launches of one rank, one right behind the other; what is wrong, or null. */
    private @Nullable String run(TrialRanks.Seat seat, TrialCase each) {
        TrialMemory memory = memory(each, seat.rank, seed, seat::allocate);
        ReduceOp operator = operator(each, seat.rank);
        memory.fill();
        memory.before(operator);
        long[][] inputs = new long[launches][];
        long[][] outputs = new long[launches][];
        for (int launch = 0; launch < launches; launch++) {
            inputs[launch] = seat.everybodys(memory.input(launch));
            outputs[launch] = seat.everybodys(memory.output(launch));
        }
        long block = each.blockBytes();
        long window = Math.max(1, seat.context().window(block, each.type().bytes()));
        seat.context().prepare(Math.min(window, block), block, each.type(), operator);
        seat.meet();
        for (int launch = 0; launch < launches; launch++) {
            for (long start = 0; start == 0 || start < block; start += window) {
                seat.context().prepare(Math.min(window, block - start), block, each.type(), operator);
                seat.launch(shifted(inputs[launch], start), shifted(outputs[launch], start));
            }
        }
        seat.meet();
        memory.after(operator);
        return memory.check();
    }

    private List<TrialMemory> memories(TrialCase each, long caseSeed) {
        List<TrialMemory> memories = new ArrayList<>();
        for (int rank = 0; rank < plan.ranks(); rank++) {
            memories.add(memory(each, rank, caseSeed, TrialMemory::allocate));
        }
        return memories;
    }

    private TrialMemory memory(TrialCase each, int rank, long caseSeed, LongFunction<MemorySegment> allocate) {
        ExactData source = data.computeIfAbsent(
                each.type() + "/" + each.checked(),
                absent -> each.checked() == null
                        ? ExactData.moving(each.type(), plan.ranks())
                        : ExactData.reducing(each.type(), each.checked(), plan.ranks()));
        return new TrialMemory(plan, expectation, each, rank, launches, source, caseSeed, allocate);
    }

    static long[][] addresses(List<TrialMemory> memories, boolean inputs) {
        int launches = memories.getFirst().launches();
        long[][] addresses = new long[launches][memories.size()];
        for (int launch = 0; launch < launches; launch++) {
            for (int rank = 0; rank < memories.size(); rank++) {
                TrialMemory memory = memories.get(rank);
                addresses[launch][rank] = (inputs ? memory.input(launch) : memory.output(launch)).address();
            }
        }
        return addresses;
    }

    private static long[] shifted(long[] addresses, long by) {
        return by == 0
                ? addresses
                : Arrays.stream(addresses).map(address -> address + by).toArray();
    }

    static @Nullable ReduceOp operator(TrialCase each, int rank) {
        return each.operator() == null ? null : ExactData.operator(each.operator(), rank);
    }
}
