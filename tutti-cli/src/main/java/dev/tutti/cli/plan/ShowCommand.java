package dev.tutti.cli.plan;

import dev.tutti.cli.common.ExitCode;
import dev.tutti.cli.show.PlanPictures;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tutti plan show}: a plan as a picture, or as text. */
@Command(
        name = "show",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Draws a plan: lanes as rows, operations as boxes, signals and data as arrows.",
        footer = {
            "",
            "Examples:",
            "  tutti plan show --algo two-shot -g 4                    as text",
            "  tutti plan show --algo ring -g 8 --out ring.svg",
            "  tutti plan show plan.json --out plan.html               point at it, follow a chunk"
        })
final class ShowCommand implements Callable<Integer> {
    @Mixin
    PlanSource source = new PlanSource();

    @Option(names = "--out", paramLabel = "FILE", description = "ends in .svg, .png or .html; without it, text")
    @Nullable
    Path file;

    @Option(names = "--rows", paramLabel = "N", description = "most ranks that are drawn; others become dots (8)")
    int rows = 8;

    private final PrintStream out;
    private final PrintStream err;

    ShowCommand(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    @Override
    public Integer call() {
        try {
            if (rows < 2) {
                throw new IllegalArgumentException("--rows must be at least 2, got " + rows);
            }
            if (!source.isFile() && source.algorithms.size() != 1) {
                throw new IllegalArgumentException("name a plan file, or one algorithm by --algo");
            }
            List<PlanSource.Named> plans = source.plans(4);
            if (plans.size() != 1) {
                throw new IllegalArgumentException("one picture shows one plan: give one number of ranks");
            }
            Plan plan = plans.getFirst().plan();
            if (file == null) {
                list(plan);
            } else {
                PlanPictures.write(plan, file, rows);
                out.println("wrote " + file);
            }
            return ExitCode.SUCCESS.number();
        } catch (IllegalArgumentException | IOException refused) {
            return fail(ExitCode.USAGE, refused);
        } catch (IllegalStateException stuck) {
            return fail(ExitCode.BAD_RESULTS, stuck);
        }
    }

    private void list(Plan plan) {
        out.println(plan);
        for (int rank = 0; rank < plan.ranks(); rank++) {
            if (plan.ranks() > rows && rank == rows - 1) {
                out.println("… ranks " + rank + " to " + (plan.ranks() - 2));
                rank = plan.ranks() - 1;
            }
            RankPlan part = plan.rank(rank);
            for (int lane = 0; lane < part.lanes().size(); lane++) {
                out.println("rank " + rank + (part.lanes().size() > 1 ? " lane " + lane : ""));
                int index = 0;
                for (Op op : part.lanes().get(lane)) {
                    out.printf("  %3d  %s%n", index++, op);
                }
            }
        }
    }

    private int fail(ExitCode code, Exception failure) {
        err.println("tutti plan show: " + failure.getMessage());
        return code.number();
    }
}
