package dev.tutti.cli.plan;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.data.ExactData;
import dev.tutti.plan.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Runs one plan on threads and under chosen schedules, for all its cases, and compares every byte. */
final class Trial {
    private final Plan plan;
    private final Expectation expectation;
    private final List<TrialCase> cases;
    private final int launches;
    private final int schedules;
    private final Duration timeout;
    private final long seed;
    private final Map<String, ExactData> data = new HashMap<>();

    Trial(
            Plan plan,
            Expectation expectation,
            List<TrialCase> cases,
            int launches,
            int schedules,
            Duration timeout,
            long seed) {
        this.plan = plan;
        this.expectation = expectation;
        this.cases = cases;
        this.launches = launches;
        this.schedules = schedules;
        this.timeout = timeout;
        this.seed = seed;
    }

    /** Runs everything; what is wrong, or null. */
    @Nullable
    String run() {
        TrialRanks ranks = new TrialRanks(plan, timeout);
        for (TrialCase each : cases) {
            String wrong = onThreads(ranks, each);
            if (wrong != null) {
                return wrong;
            }
        }
        return underSchedules(cases.subList(0, 1));
    }

    /** Runs some of the cases on one thread, in orders that seeds decide; what is wrong, or null. A seed decides the case too. */
    @Nullable
    String underSchedules(List<TrialCase> some) {
        for (int i = 0; i < schedules; i++) {
            TrialCase each = some.get((int) Math.floorMod(seed + i, (long) some.size()));
            String wrong =
                    new ScheduledTrial(plan, timeout, each, launches, seed + i).run(memories(each, seed + 1000 + i));
            if (wrong != null) {
                return "schedule " + (seed + i) + ": " + wrong;
            }
        }
        return null;
    }

    /** Runs everything on a device, the smallest case also with delays; what is wrong, or null. */
    @Nullable
    String runOn(CudaDevice device) {
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

    private @Nullable String onThreads(TrialRanks ranks, TrialCase each) {
        List<TrialMemory> memories = memories(each, seed);
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        long[][] inputs = addresses(memories, true);
        long[][] outputs = addresses(memories, false);
        ranks.run(seat -> {
            TrialMemory memory = memories.get(seat.rank);
            memory.fill();
            ReduceOp operator = operator(each, seat.rank);
            memory.before(operator);
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
            String found = memory.check();
            if (found != null) {
                wrong.add(found);
            }
        });
        return wrong.peek();
    }

    private List<TrialMemory> memories(TrialCase each, long caseSeed) {
        ExactData source = data.computeIfAbsent(
                each.type() + "/" + each.checked(),
                absent -> each.checked() == null
                        ? ExactData.moving(each.type(), plan.ranks())
                        : ExactData.reducing(each.type(), each.checked(), plan.ranks()));
        List<TrialMemory> memories = new ArrayList<>();
        for (int rank = 0; rank < plan.ranks(); rank++) {
            memories.add(
                    new TrialMemory(plan, expectation, each, rank, launches, source, caseSeed, TrialMemory::allocate));
        }
        return memories;
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

    /** Types that are tried where none is named: four, two, one and eight bytes, floats and integers. */
    static final List<DataType> TYPES = List.of(
            DataType.FLOAT32, DataType.BFLOAT16, DataType.INT8, DataType.INT32, DataType.FLOAT64, DataType.UINT8);
}
