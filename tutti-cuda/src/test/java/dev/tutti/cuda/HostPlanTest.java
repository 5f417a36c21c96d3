package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.cuda.kernel.HostCompiler;
import dev.tutti.plan.Plan;
import dev.tutti.plan.json.PlanFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The device's executor of plans, compiled for the host with a thread for each lane, on the plan files beside the repository. */
@Timeout(300)
class HostPlanTest {
    private static final int MOST_LANES = 40;
    private static final int LAUNCHES = 3;

    @Test
    void shouldRunSmallPlans(@TempDir Path folder) throws Exception {
        HostCompiler.require("g++");
        Path corpus = Path.of(System.getProperty("tutti.plans", "../../shared/plans"));
        Assumptions.assumeTrue(Files.isDirectory(corpus), "no plan files at " + corpus.toAbsolutePath());
        List<Path> files;
        try (Stream<Path> all = Files.walk(corpus)) {
            files = all.filter(file -> file.toString().endsWith(".json")
                            && !file.toString().contains("known_bad"))
                    .sorted()
                    .toList();
        }
        int run = 0;
        try (Arena arena = Arena.ofConfined()) {
            HostPlans plans = new HostPlans(folder, DataType.INT32, arena);
            for (Path file : files) {
                Plan plan = PlanFile.load(file);
                int lanes = plan.all().stream()
                        .mapToInt(part -> part.lanes().size())
                        .sum();
                Collective collective = plan.header().collective();
                boolean sums = plan.all().stream()
                        .flatMap(part -> part.operations())
                        .noneMatch(op -> op.fold() != null && op.fold().kind() != dev.tutti.ReduceOp.Kind.SUM);
                if (collective == null
                        || lanes > MOST_LANES
                        || !sums
                        || file.toString().contains("reduce_tbg")) {
                    continue;
                }
                for (int count : new int[] {4096, 1001, 3}) {
                    if (plan.header()
                            .admits(4L
                                    * count
                                    * Math.max(
                                            collective.inputBlocks(plan.ranks()),
                                            collective.outputBlocks(plan.ranks())))) {
                        play(plan, collective, count, plans);
                        run++;
                    }
                }
            }
        }
        System.out.println(run + " plans and sizes ran");
        assertThat(run).isGreaterThan(50);
    }

    private static void play(Plan plan, Collective collective, int count, HostPlans plans) {
        try (Arena arena = Arena.ofConfined()) {
            HostPlans.Ready ready = plans.prepare(plan, 4L * count, DataType.INT32, null, arena);
            int ranks = plan.ranks();
            int in = collective.inputBlocks(ranks) * count;
            int out = collective.outputBlocks(ranks) * count;
            for (int launch = 0; launch < LAUNCHES; launch++) {
                int[][] data = new int[ranks][];
                Random random = new Random(launch);
                MemorySegment[] inputs = new MemorySegment[ranks];
                MemorySegment[] results = new MemorySegment[ranks];
                for (int rank = 0; rank < ranks; rank++) {
                    data[rank] = random.ints(in).toArray();
                    boolean inPlace = plan.header().inPlace();
                    MemorySegment memory = arena.allocate(4L * Math.max(in, out), 64);
                    MemorySegment other = inPlace ? memory : arena.allocate(4L * out, 64);
                    long share = 4L * rank * count;
                    inputs[rank] = inPlace && in < out ? memory.asSlice(share, 4L * in) : memory;
                    results[rank] = inPlace && out < in ? other.asSlice(share, 4L * out) : other;
                    MemorySegment.copy(data[rank], 0, inputs[rank], ValueLayout.JAVA_INT, 0, in);
                }
                ready.launch(inputs, results, new long[ranks]);
                for (int rank = 0; rank < ranks; rank++) {
                    int[] expected = new int[out];
                    for (int i = 0; i < out; i++) {
                        expected[i] = expected(collective, data, rank, i, count);
                    }
                    assertThat(results[rank].asSlice(0, 4L * out).toArray(ValueLayout.JAVA_INT))
                            .as("%s, %d elements, launch %d, rank %d", plan, count, launch, rank)
                            .isEqualTo(expected);
                }
            }
        }
    }

    private static int expected(Collective collective, int[][] data, int rank, int i, int count) {
        return switch (collective) {
            case ALL_GATHER -> data[i / count][i % count];
            case ALL_TO_ALL -> data[i / count][rank * count + i % count];
            default -> {
                int at = collective == Collective.REDUCE_SCATTER ? rank * count + i : i;
                int sum = 0;
                for (int[] each : data) {
                    sum += each[at];
                }
                yield sum;
            }
        };
    }
}
