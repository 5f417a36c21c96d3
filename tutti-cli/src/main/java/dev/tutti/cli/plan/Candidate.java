package dev.tutti.cli.plan;

import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.json.PlanFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A plan file that can be run.
 *
 * @param file where it is
 * @param plan what is in it
 * @param cases what to run it with
 * @param calls whether ordinary calls of a communicator run it; else it runs bare
 */
record Candidate(Path file, Plan plan, List<TrialCase> cases, boolean calls) {
    /** Reads a file; throws if it cannot be run, or not so. */
    static Candidate load(Path file, TrialOptions options) throws IOException {
        Plan plan = PlanFile.load(file);
        // Plans of Tutti's own style rely on a communicator's executor to keep launches apart.
        boolean calls = options.calls || plan.header().style() == PlanHeader.Style.BLOCKS;
        if (calls && plan.header().collective() == null) {
            throw new IllegalArgumentException(
                    "there is no call for '" + plan.header().purpose() + "', which --calls would need");
        }
        return new Candidate(file, plan, TrialCases.of(plan, options), calls);
    }
}
