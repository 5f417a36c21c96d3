package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.json.PlanFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which plans a command is about: a file, or built-in algorithms of a collective. */
final class PlanSource {
    @Parameters(
            arity = "0..1",
            paramLabel = "FILE|COLLECTIVE",
            description = "a plan file, or a collective such as all_gather (all_reduce)")
    @Nullable
    String what;

    @Option(
            names = "--algo",
            split = ",",
            paramLabel = "NAME",
            description = "built-in algorithms, separated by commas; all of the collective if not given")
    List<String> algorithms = new ArrayList<>();

    @Option(names = "--proto", paramLabel = "NAME", description = "simple (default) or packet")
    String protocol = "simple";

    @Option(
            names = {"-g", "--ranks"},
            split = ",",
            paramLabel = "N",
            description = "numbers of ranks of built-in algorithms, separated by commas")
    List<Integer> ranks = new ArrayList<>();

    @Option(names = "--lanes", paramLabel = "N", description = "copies of each lane, each on its part of the data (1)")
    int lanes = 1;

    @Option(
            names = {"-r", "--root"},
            paramLabel = "N",
            description = "root of rooted collectives (0)")
    int root;

    @Option(
            names = "--ranks-per-node",
            paramLabel = "N",
            description = "for hierarchical: ranks of a node (the largest divisor up to the square root)")
    int ranksPerNode;

    /** One plan and what to call it. */
    record Named(String name, Plan plan) {}

    boolean isFile() {
        return what != null && collective().isEmpty();
    }

    /** The plans, for each number of ranks all algorithms. */
    List<Named> plans(int defaultRanks) throws IOException {
        if (isFile()) {
            Path file = Path.of(String.valueOf(what));
            if (!Files.isRegularFile(file)) {
                throw new IllegalArgumentException(
                        "'" + what + "' is neither a file nor a collective (" + names() + ")");
            }
            if (!algorithms.isEmpty() || !ranks.isEmpty()) {
                throw new IllegalArgumentException("a plan file says itself how many ranks it has and what they do:"
                        + " leave --algo and -g away");
            }
            Plan plan = PlanFile.load(file);
            return List.of(new Named(plan.name(), lanes == 1 ? plan : plan.replicated(lanes)));
        }
        Collective collective = collective().orElse(Collective.ALL_REDUCE);
        List<Named> plans = new ArrayList<>();
        for (Algorithm algorithm : algorithms(collective)) {
            for (int n : ranks.isEmpty() ? List.of(defaultRanks) : ranks) {
                if (n < 1 || root < 0 || root >= n) {
                    throw new IllegalArgumentException(
                            "-g must be at least 1 and the root one of the ranks, got -g " + n + " and -r " + root);
                }
                String name = algorithm.name() + (algorithm.protocol() == Protocol.SIMPLE ? "" : "/packet");
                plans.add(new Named(name, algorithm.plan(n, collective.isRooted() ? root : 0, lanes)));
            }
        }
        return plans;
    }

    private List<Algorithm> algorithms(Collective collective) {
        Protocol wanted = switch (protocol) {
            case "simple" -> Protocol.SIMPLE;
            case "packet" -> Protocol.PACKET;
            default -> throw new IllegalArgumentException("--proto is simple or packet, not '" + protocol + "'");
        };
        if (algorithms.isEmpty()) {
            return Algorithms.of(collective).stream()
                    .filter(each -> each.protocol() == wanted)
                    .toList();
        }
        List<Algorithm> found = new ArrayList<>();
        for (String name : algorithms) {
            if (name.equals("hierarchical") && ranksPerNode > 0 && collective == Collective.ALL_REDUCE) {
                found.add(Algorithms.hierarchical(ranksPerNode));
                continue;
            }
            found.add(Algorithms.find(collective, name, wanted)
                    .orElseThrow(() -> new IllegalArgumentException("no algorithm '" + name + "' with protocol "
                            + wanted + " for " + collective + "; there are " + Algorithms.names(collective))));
        }
        return found;
    }

    private Optional<Collective> collective() {
        if (what == null) {
            return Optional.empty();
        }
        String name = what.toLowerCase(Locale.ROOT);
        for (Collective each : Collective.values()) {
            if (each.commandName().equals(name)
                    || each.commandName().replace("_", "").equals(name)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    private static String names() {
        List<String> names = new ArrayList<>();
        for (Collective each : Collective.values()) {
            names.add(each.commandName());
        }
        return String.join(", ", names);
    }
}
