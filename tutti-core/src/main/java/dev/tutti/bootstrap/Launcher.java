package dev.tutti.bootstrap;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** Who may have started this process, and in which variables it said what. In the order in which they are looked for. */
@SuppressWarnings("ImmutableEnumChecker") // the lists are made by List.of
enum Launcher {
    /** Ours, or whoever sets our variables by hand. */
    TUTTI("tutti run", "TUTTI_RANK", List.of("TUTTI_SIZE"), "", List.of("TUTTI_JOB")),
    TORCHRUN(
            "torchrun",
            "RANK",
            List.of("WORLD_SIZE"),
            "LOCAL_WORLD_SIZE",
            List.of("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")),
    OPEN_MPI(
            "Open MPI",
            "OMPI_COMM_WORLD_RANK",
            List.of("OMPI_COMM_WORLD_SIZE"),
            "OMPI_COMM_WORLD_LOCAL_SIZE",
            List.of("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")),
    /** Hydra, and Slurm's own implementation. */
    PMI("MPICH or another PMI", "PMI_RANK", List.of("PMI_SIZE"), "MPI_LOCALNRANKS", List.of("PMI_JOBID")),
    SLURM(
            "Slurm",
            "SLURM_PROCID",
            List.of("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
            "",
            List.of("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT")),
    /** The number of pods is in no variable of Kubernetes' own. */
    KUBERNETES("a Kubernetes indexed job", "JOB_COMPLETION_INDEX", List.of("TUTTI_SIZE"), "", List.of("TUTTI_JOB"));

    /** In a batch script, which runs once and not once per task, there is no step or one of these. */
    private static final List<String> NO_REAL_STEPS = List.of("batch", "extern", "4294967291", "4294967292");

    final String label;
    final String rankVariable;
    final List<String> sizeVariables;
    final String localSizeVariable;
    private final List<String> idVariables;

    Launcher(
            String label,
            String rankVariable,
            List<String> sizeVariables,
            String localSizeVariable,
            List<String> idVariables) {
        this.label = label;
        this.rankVariable = rankVariable;
        this.sizeVariables = sizeVariables;
        this.localSizeVariable = localSizeVariable;
        this.idVariables = idVariables;
    }

    /**
     * The innermost launcher that has left its mark. One that a scheduler runs is within it; of those that are never within each
     * other, both are an error unless they say the same.
     */
    static Optional<Launcher> find(Map<String, String> environment) {
        List<Launcher> present =
                Stream.of(values()).filter(each -> each.isPresent(environment)).toList();
        if (present.isEmpty() || present.getFirst() == TUTTI) {
            return present.stream().findFirst();
        }
        List<Launcher> inner = present.stream()
                .filter(each -> each != SLURM && each != KUBERNETES)
                .toList();
        for (int i = 1; i < inner.size(); i++) {
            inner.getFirst().requireSame(inner.get(i), environment);
        }
        return present.stream().findFirst();
    }

    private boolean isPresent(Map<String, String> environment) {
        boolean hasRank = environment.containsKey(rankVariable);
        return switch (this) {
            case TUTTI -> hasRank || (environment.containsKey("TUTTI_SIZE") && !KUBERNETES.isPresent(environment));
            // RANK alone, or WORLD_SIZE alone, is a name that anybody may use for anything.
            case TORCHRUN -> hasRank && environment.containsKey("WORLD_SIZE");
            case SLURM ->
                hasRank
                        && environment.containsKey("SLURM_STEP_ID")
                        && !NO_REAL_STEPS.contains(environment.get("SLURM_STEP_ID"));
            default -> hasRank;
        };
    }

    private void requireSame(Launcher other, Map<String, String> environment) {
        int rank = rank(environment);
        int size = size(environment);
        if (rank != other.rank(environment) || size != other.size(environment)) {
            throw new IllegalArgumentException("two launchers disagree about this process: " + rankVariable + "=" + rank
                    + " of " + sizeVariables.getFirst() + "=" + size + " (" + label + "), "
                    + other.rankVariable + "=" + other.rank(environment) + " of " + other.sizeVariables.getFirst() + "="
                    + other.size(environment) + " (" + other.label
                    + "); remove the variables of one, or set TUTTI_RANK and TUTTI_SIZE");
        }
    }

    int rank(Map<String, String> environment) {
        int size = size(environment);
        int rank = number(environment, rankVariable);
        if (rank < 0 || rank >= size) {
            throw new IllegalArgumentException(rankVariable + "=" + rank + " must be in 0.." + (size - 1) + ", as "
                    + sizeVariable(environment) + "=" + size + " (" + label + ")");
        }
        return rank;
    }

    int size(Map<String, String> environment) {
        String variable = sizeVariable(environment);
        int size = number(environment, variable);
        if (size < 1 || size > 0xFFFF) {
            throw new IllegalArgumentException(variable + "=" + size + " must be in 1..65535 (" + label + ")");
        }
        return size;
    }

    private String sizeVariable(Map<String, String> environment) {
        return sizeVariables.stream()
                .filter(environment::containsKey)
                .findFirst()
                .orElse(sizeVariables.getFirst());
    }

    /** How many of the processes are on this host, if that is said. */
    OptionalInt localSize(Map<String, String> environment) {
        if (this == KUBERNETES) {
            return OptionalInt.of(1);
        }
        if (environment.containsKey(localSizeVariable)) {
            return OptionalInt.of(number(environment, localSizeVariable));
        }
        if (this == SLURM || this == PMI) {
            for (String nodes : List.of("SLURM_STEP_NUM_NODES", "SLURM_NNODES")) {
                if (environment.containsKey(nodes)) {
                    return OptionalInt.of(number(environment, nodes) == 1 ? size(environment) : 1);
                }
            }
        }
        return OptionalInt.empty();
    }

    /** What the launcher calls this job, as far as it calls it anything. */
    String id(Map<String, String> environment) {
        List<String> parts = new ArrayList<>();
        parts.add(name());
        for (String variable : idVariables) {
            parts.add(environment.getOrDefault(variable, ""));
        }
        return String.join(" ", parts);
    }

    private int number(Map<String, String> environment, String variable) {
        String text = environment.get(variable);
        if (text == null) {
            String remedy = this == KUBERNETES
                    ? "; Kubernetes does not tell how many pods there are: set it to spec.completions"
                    : "";
            throw new IllegalArgumentException(
                    variable + " is missing, and " + rankVariable + " is set (" + label + ")" + remedy);
        }
        try {
            return Integer.parseInt(text.strip());
        } catch (NumberFormatException notANumber) {
            throw new IllegalArgumentException(variable + "='" + text + "' is no number (" + label + ")", notANumber);
        }
    }
}
