package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.json.PlanFile;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verifier;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Changes valid plans at random and compares what the verifier says of each with the truth, which is what the executor does under many
 * seeded schedules. {@code .ci/mutants --count 500 --seed 1} prints the table.
 */
final class Mutants {
    /** Small plans of every kind: all operations, channels, loops, slices, barriers, semaphores. */
    private static final List<String> BASES = List.of(
            "own/allpairs_oop_2r.json",
            "own/allpairs_oop_4r_max.json",
            "own/alltoall_port_flush_2r.json",
            "own/get_allgather_2r_cf2.json",
            "own/pipelined_allgather_4r.json",
            "own/rd_allreduce_pkt_4r.json",
            "own/ring_allreduce_2r.json",
            "own/ring_allreduce_4r.json",
            "own/ring_allreduce_port_2r.json",
            "own/tbg_allreduce_4r_tbg3.json",
            "executor_tests/reduce_2r.json",
            "executor_tests/reduce_pack_2r.json",
            "executor_tests/reduce_nvls_2r.json",
            "executor_tests/transfer_pack_tbg_2r.json",
            "multi_node/allgather_2x2.json",
            "multi_node/reducescatter_2x2.json",
            "multi_node/sendrecv_1x4_split0_inst1.json",
            "multi_node/allgather_tbg_n4_g2_tbg2.json",
            "multi_node/allgather_tbg_n4_g2_tbg1.json",
            "default_algos/allreduce_multi_nodes_n4_g2_tbg2.json",
            "default_algos/reducescatter_multi_nodes_n4_g2_tbg1.json",
            "single_node/allreduce_naivy_2r.json",
            "single_node/allreduce_pipeline_2r_noreuse.json",
            "single_node/allgather_nvls_zero_copy_pkt_2r.json",
            "single_node/allgather_tbg_2r.json",
            "single_node/alltoall_2r.json",
            "single_node/alltoall_pipeline_2r_inst1.json",
            "single_node/alltoall_ring_4r_inst2.json",
            "single_node/alltoall_ring_peers_2r_inst2.json");

    private static final long UNIT = 64;

    /** What came out for one kind of change. */
    static final class Row {
        int harmful;
        int caught;
        int harmless;
        int accepted;
        int refused;
        int unproven;
    }

    final Map<Mutator.Change, Row> rows = new EnumMap<>(Mutator.Change.class);
    final List<String> missed = new ArrayList<>();
    final List<String> refused = new ArrayList<>();
    private final List<Plan> bases = new ArrayList<>();
    private final int schedules;
    private final long seed;

    Mutants(Path folder, int schedules, long seed) throws IOException {
        this.schedules = schedules;
        this.seed = seed;
        for (String name : BASES) {
            bases.add(withShortLoops(PlanFile.load(folder.resolve(name))));
        }
        for (Mutator.Change change : Mutator.changes()) {
            rows.put(change, new Row());
        }
    }

    /** Loops over little, so that a few hundred bytes go round several times. */
    private static Plan withShortLoops(Plan plan) {
        List<RankPlan> parts = new ArrayList<>();
        for (RankPlan part : plan.all()) {
            List<List<Op>> lanes = part.lanes().stream()
                    .map(lane -> lane.stream()
                            .map(op -> op.loop() == null
                                    ? op
                                    : Draft.of(
                                            op,
                                            draft -> draft.loop = new Op.Loop(
                                                    UNIT,
                                                    op.loop().chunks(),
                                                    op.loop().body())))
                            .toList())
                    .toList();
            parts.add(Mutator.part(part, part.semaphores(), lanes));
        }
        return Plan.of(plan.name(), plan.header(), plan.root(), plan.protocol(), parts);
    }

    void run(int count) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Mutator.Change> changes = Mutator.changes();
        int made = 0;
        for (int attempt = 0; made < count && attempt < 200 * count; attempt++) {
            Mutator.Change change = changes.get(made % changes.size());
            Plan base = bases.get(random.nextInt(bases.size()));
            Plan mutant = new Mutator(base, random.split()).mutate(change);
            if (mutant == null || mutant.equals(base)) {
                continue;
            }
            judge(change, base, mutant, made);
            made++;
        }
    }

    private void judge(Mutator.Change change, Plan base, Plan mutant, int number) {
        Verdict verdict = Verifier.check(mutant);
        String harm = truth(base, mutant);
        Row row = rows.get(change);
        boolean good = verdict.isGood();
        String what = change + " #" + number + " in " + base.name() + " (" + difference(base, mutant) + ")";
        if (harm != null) {
            row.harmful++;
            if (!good) {
                row.caught++;
            } else {
                missed.add(what + ": " + harm + "; the verifier says " + verdict.reason());
            }
            return;
        }
        row.harmless++;
        if (good) {
            row.accepted++;
        } else if (verdict.status() == Verdict.Status.NOT_PROVEN) {
            row.unproven++;
            refused.add(what + ": NOT PROVEN: " + verdict.reason());
        } else {
            row.refused++;
            refused.add(what + ": " + verdict.reason());
        }
    }

    /** What goes wrong under some schedule, or null. */
    private @Nullable String truth(Plan base, Plan mutant) {
        RankPlan first = base.rank(0);
        Collective collective = base.header().collective();
        int blocks = collective == null ? 1 : Math.max(1, collective.inputBlocks(base.ranks()));
        long perBlock = Math.max(1, first.inputChunks() / blocks);
        long granule = PlanSizes.of(base, 4, 4).granule();
        boolean loops = base.all().stream().flatMap(RankPlan::operations).anyMatch(op -> op.loop() != null);
        int slices = base.all().stream()
                .flatMap(RankPlan::operations)
                .mapToInt(op -> op.slice() == null ? 0 : op.slice().of())
                .max()
                .orElse(0);
        int distance = collective == null ? Math.floorMod(-Expectation.of(base).sender(0), base.ranks()) : 0;
        // At least so many schedules for each size: chunks that divide, and chunks that are short.
        long[] sizes = {(loops ? 9 : slices + 1) * granule * perBlock, (perBlock + 1) * granule + 4, granule * perBlock
        };
        for (long size : sizes) {
            try {
                String wrong =
                        new MutantTrial(mutant, size, Expectation.operator(base), distance).run(schedules, 3, seed);
                if (wrong != null) {
                    return wrong;
                }
            } catch (RuntimeException cannot) {
                return "cannot be run: " + cannot;
            }
        }
        return null;
    }

    private static String difference(Plan base, Plan mutant) {
        for (RankPlan part : base.all()) {
            RankPlan other = mutant.rank(part.rank());
            for (int lane = 0; lane < part.lanes().size(); lane++) {
                List<Op> before = part.lanes().get(lane);
                List<Op> after = other.lanes().get(lane);
                for (int i = 0; i < Math.max(before.size(), after.size()); i++) {
                    String left = i < before.size() ? before.get(i).toString() : "-";
                    String right = i < after.size() ? after.get(i).toString() : "-";
                    if (!left.equals(right)) {
                        return "rank " + part.rank() + " lane " + lane + " op " + i + ": " + left + " -> " + right;
                    }
                }
            }
        }
        return "header or semaphores";
    }

    void print(PrintStream out) {
        out.println("| change | harmful | caught | harmless | accepted | refused | not proven |");
        out.println("|---|---:|---:|---:|---:|---:|---:|");
        Row all = new Row();
        rows.forEach((change, row) -> {
            line(out, change.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '), row);
            all.harmful += row.harmful;
            all.caught += row.caught;
            all.harmless += row.harmless;
            all.accepted += row.accepted;
            all.refused += row.refused;
            all.unproven += row.unproven;
        });
        line(out, "**all**", all);
        missed.forEach(each -> out.println("MISSED " + each));
        refused.forEach(each -> out.println("REFUSED " + each));
    }

    private static void line(PrintStream out, String name, Row row) {
        out.println("| " + name + " | " + row.harmful + " | " + row.caught + " | " + row.harmless + " | " + row.accepted
                + " | " + row.refused + " | " + row.unproven + " |");
    }

    static Path folder() {
        String named = System.getenv("TUTTI_PLANS");
        return named != null ? Path.of(named) : Path.of("../../shared/plans");
    }

    public static void main(String[] arguments) throws IOException {
        int count = 200;
        long seed = 1;
        int schedules = 1000;
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            switch (arguments[i]) {
                case "--count" -> count = Integer.parseInt(arguments[i + 1]);
                case "--seed" -> seed = Long.parseLong(arguments[i + 1]);
                case "--schedules" -> schedules = Integer.parseInt(arguments[i + 1]);
                default ->
                    throw new IllegalArgumentException("--count N, --seed S, --schedules N; not " + arguments[i]);
            }
        }
        Path folder = folder();
        if (!Files.isDirectory(folder)) {
            System.err.println("no plan files at " + folder.toAbsolutePath().normalize() + ": set TUTTI_PLANS");
            System.exit(2);
        }
        long start = System.nanoTime();
        Mutants mutants = new Mutants(folder, schedules, seed);
        mutants.run(count);
        mutants.print(System.out);
        System.out.printf(
                "%d mutants, seed %d, %d schedules for each of 3 sizes, %.0f s%n",
                count, seed, schedules, (System.nanoTime() - start) / 1e9);
        System.exit(mutants.missed.isEmpty() ? 0 : 1);
    }
}
