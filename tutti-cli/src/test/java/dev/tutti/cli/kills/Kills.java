package dev.tutti.cli.kills;

import dev.tutti.cli.kills.Trial.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Many kills, and a table of how long they took to be noticed. What {@code .ci/kills} runs. */
public final class Kills {
    private Kills() {}

    /**
     * Runs kills.
     *
     * @param arguments how many (200), the seed, and a {@link Kill.Phase} if only that is wanted
     */
    public static void main(String[] arguments) throws Exception {
        int number = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
        long seed = arguments.length > 1 ? Long.parseLong(arguments[1]) : System.nanoTime();
        Kill.Phase[] phases =
                arguments.length > 2 ? new Kill.Phase[] {Kill.Phase.valueOf(arguments[2])} : Kill.Phase.values();
        System.exit(
                run(number, seed, phases).stream()
                                .allMatch(outcome -> outcome.problems().isEmpty())
                        ? 0
                        : 1);
    }

    static List<Outcome> run(int number, long seed, Kill.Phase... phases) throws Exception {
        System.out.println(number + " kills, seed " + seed);
        Random random = new Random(seed);
        Path runtime = Files.createTempDirectory("tutti-kills");
        List<Outcome> outcomes = new ArrayList<>();
        try {
            for (int i = 0; i < number; i++) {
                Kill kill = Kill.draw(random, phases);
                Outcome outcome = new Trial(kill, runtime).run();
                outcomes.add(outcome);
                System.out.printf(
                        Locale.ROOT,
                        "%3d  %-14s %d ranks, %-13s after %4d ms: %6.1f ms%s%n",
                        i + 1,
                        kill.phase(),
                        kill.ranks(),
                        kill.who(),
                        kill.delayMillis(),
                        outcome.nanos() / 1e6,
                        outcome.problems().isEmpty() ? "" : "  WRONG");
                outcome.problems().forEach(problem -> System.out.println("       " + problem));
            }
        } finally {
            Files.deleteIfExists(runtime);
        }
        print(outcomes);
        return outcomes;
    }

    private static void print(List<Outcome> outcomes) {
        Map<String, List<Outcome>> groups = new TreeMap<>(outcomes.stream()
                .collect(Collectors.groupingBy(
                        outcome -> "phase " + outcome.kill().phase())));
        groups.putAll(outcomes.stream()
                .collect(Collectors.groupingBy(outcome -> outcome.kill().isOfLauncher()
                        ? "who: the launcher"
                        : outcome.kill().victims().size() == 2
                                ? "who: two ranks"
                                : outcome.kill().victims().equals(List.of(0)) ? "who: rank 0" : "who: another rank")));
        groups.put("all", outcomes);
        System.out.printf("%n%-24s %6s %10s %10s %6s%n", "", "kills", "median ms", "worst ms", "wrong");
        groups.forEach((name, group) -> {
            double[] millis = group.stream()
                    .mapToDouble(outcome -> outcome.nanos() / 1e6)
                    .sorted()
                    .toArray();
            System.out.printf(
                    Locale.ROOT,
                    "%-24s %6d %10.1f %10.1f %6d%n",
                    name,
                    group.size(),
                    millis[millis.length / 2],
                    millis[millis.length - 1],
                    group.stream()
                            .filter(outcome -> !outcome.problems().isEmpty())
                            .count());
        });
    }
}
