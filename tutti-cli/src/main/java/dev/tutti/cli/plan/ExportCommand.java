package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.plan.Plan;
import dev.tutti.plan.json.PlanFile;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tutti plan export}: a built-in algorithm as a plan file. */
@Command(
        name = "export",
        description = "Write a built-in algorithm as a plan file.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        footer = {"", "Example:", "  tutti plan export all_reduce --algo ring -g 8 --out ring8.json"})
final class ExportCommand implements Callable<Integer> {
    @Parameters(paramLabel = "COLLECTIVE", description = "all_reduce, broadcast, …")
    String collective = "";

    @Option(names = "--algo", required = true, paramLabel = "NAME", description = "the algorithm")
    String algorithm = "";

    @Option(names = "--proto", paramLabel = "NAME", description = "simple or packet, where there are both")
    @Nullable
    String protocol;

    @Option(
            names = {"-g", "--ranks"},
            required = true,
            paramLabel = "N",
            description = "how many ranks")
    int ranks;

    @Option(names = "--root", paramLabel = "RANK", description = "the root of a rooted collective (0)")
    int root;

    @Option(names = "--lanes", paramLabel = "N", description = "lanes that share each rank's part (1)")
    int lanes = 1;

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "where to")
    Path file = Path.of("");

    private final PrintStream out;
    private final PrintStream err;

    ExportCommand(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    @Override
    public Integer call() {
        try {
            Plan plan = find().plan(ranks, root, lanes);
            Files.writeString(file, PlanFile.write(plan));
            out.println(plan + " written to " + file);
            return ExitCode.SUCCESS.number();
        } catch (IllegalArgumentException refused) {
            err.println("tutti plan export: " + refused.getMessage());
            return ExitCode.USAGE.number();
        } catch (IOException cannot) {
            err.println("tutti plan export: cannot write " + file + ": " + cannot);
            return ExitCode.INTERNAL.number();
        }
    }

    private Algorithm find() {
        if (ranks < 1 || root < 0 || root >= ranks) {
            throw new IllegalArgumentException(
                    "-g must be at least 1 and --root below it, got " + ranks + " and " + root);
        }
        String wanted = collective.replace("_", "").replace("-", "").toLowerCase(Locale.ROOT);
        Collective found = Arrays.stream(Collective.values())
                .filter(each ->
                        each.name().replace("_", "").toLowerCase(Locale.ROOT).equals(wanted))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("there is no collective '" + collective + "'; there are "
                                + names(Arrays.stream(Collective.values())
                                        .map(Collective::commandName)
                                        .toList())));
        List<Algorithm> all = Algorithms.of(found);
        return all.stream()
                .filter(each -> each.name().equals(algorithm)
                        && (protocol == null || each.protocol().toString().equals(protocol)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no algorithm '" + algorithm + "'"
                        + (protocol == null ? "" : " with protocol '" + protocol + "'") + " for " + collective
                        + "; there are "
                        + names(all.stream().map(Algorithm::toString).toList())));
    }

    private static String names(List<String> all) {
        return all.stream().distinct().collect(Collectors.joining(" "));
    }
}
