package dev.tutti.cli.plan;

import dev.tutti.cli.common.SizeOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What to run plans with: sizes, types, operators, launches. Ranks that are processes are given the same. */
final class TrialOptions {
    @Mixin
    SizeOptions sizes = new SizeOptions();

    @Option(
            names = {"-d", "--datatype"},
            paramLabel = "TYPE",
            description = "type of the elements, or all")
    @Nullable
    String type;

    @Option(
            names = {"-o", "--op"},
            paramLabel = "OP",
            description = "operator in place of the plan's, or all")
    @Nullable
    String operator;

    @Option(names = "--launches", paramLabel = "N", description = "launches back to back for each size (3)")
    int launches = 3;

    @Option(names = "--seed", paramLabel = "N", description = "first seed (1)")
    long seed = 1;

    @Option(names = "--timeout", paramLabel = "SECONDS", description = "a launch that takes longer has failed (10)")
    double timeoutSeconds = 10;

    @Option(
            names = "--calls",
            description = "make ordinary calls of a communicator that uses the plan, in place of running it bare")
    boolean calls;

    Duration timeout() {
        return Duration.ofNanos((long) (timeoutSeconds * 1e9));
    }

    /** The same options as words of a command line. */
    List<String> words() {
        List<String> words = new ArrayList<>(sizes.words());
        words.addAll(List.of("--launches", "" + launches, "--seed", "" + seed, "--timeout", "" + timeoutSeconds));
        if (type != null) {
            words.addAll(List.of("-d", type));
        }
        if (operator != null) {
            words.addAll(List.of("-o", operator));
        }
        if (calls) {
            words.add("--calls");
        }
        return words;
    }
}
