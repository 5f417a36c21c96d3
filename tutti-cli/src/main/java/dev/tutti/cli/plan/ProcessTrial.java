package dev.tutti.cli.plan;

import dev.tutti.cli.run.Launch;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runs plans on ranks that are processes: this command again, once per rank ({@link RankProcess}). Plans of equally many ranks share their
 * processes; a plan that times out is over for all of them, and they go on with the next. Should a process end, the plan that it was in
 * has failed, and new processes take those that are left.
 */
final class ProcessTrial {
    private static final Pattern LINE = Pattern.compile("#plan (\\d+) (\\S+) (.*)");

    /**
     * What came of one plan.
     *
     * @param status RUNS if nothing was wrong
     * @param reason what was wrong
     * @param seconds how long it took
     */
    record Outcome(PlanStatus status, String reason, double seconds) {}

    private record Key(int ranks, boolean calls) {}

    private final TrialOptions options;

    ProcessTrial(TrialOptions options) {
        this.options = options;
    }

    /** What a rank prints: something that is wrong, or RUNS and the seconds when all ranks are done with a plan. */
    static String line(int number, PlanStatus status, String text) {
        return "#plan " + number + " " + status + " " + text.replaceAll("\\s*\\R\\s*", " ");
    }

    /** Runs all, and tells what came of each. */
    void run(List<Candidate> candidates, BiConsumer<Candidate, Outcome> results) {
        Map<Key, List<Candidate>> worlds = new LinkedHashMap<>();
        candidates.forEach(
                each -> worlds.computeIfAbsent(new Key(each.plan().ranks(), each.calls()), absent -> new ArrayList<>())
                        .add(each));
        worlds.forEach((key, members) -> {
            List<Candidate> left = members;
            while (!left.isEmpty()) {
                int done = runWorld(key, left, results);
                left = left.subList(done, left.size());
            }
        });
    }

    /** Starts processes for some plans; returns how many of them were settled, at least one. */
    private int runWorld(Key key, List<Candidate> candidates, BiConsumer<Candidate, Outcome> results) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream output = new PrintStream(said, true, StandardCharsets.UTF_8);
        int status = new Launch(
                        new Launch.Plan(
                                command(key, candidates),
                                key.ranks(),
                                false,
                                null,
                                limit(candidates),
                                Duration.ofSeconds(2),
                                false,
                                "tutti plan run",
                                false),
                        environment(),
                        output,
                        output)
                .run(null);
        List<String> lines = said.toString(StandardCharsets.UTF_8).lines().toList();
        for (int number = 0; number < candidates.size(); number++) {
            Outcome outcome = read(lines, number);
            if (outcome == null) {
                String last = lines.isEmpty() ? "it said nothing" : lines.getLast();
                outcome = new Outcome(PlanStatus.FAIL, "a rank ended with status " + status + ": " + last, 0);
                results.accept(candidates.get(number), outcome);
                return number + 1;
            }
            results.accept(candidates.get(number), outcome);
        }
        return candidates.size();
    }

    /** What the ranks said of one plan; null if they did not get to its end. */
    private static @Nullable Outcome read(List<String> lines, int number) {
        Outcome wrong = null;
        double seconds = -1;
        for (String line : lines) {
            Matcher match = LINE.matcher(line);
            if (match.matches() && Integer.parseInt(match.group(1)) == number) {
                PlanStatus status = PlanStatus.valueOf(match.group(2));
                if (status == PlanStatus.RUNS) {
                    seconds = Double.parseDouble(match.group(3));
                } else if (wrong == null) {
                    wrong = new Outcome(status, match.group(3), 0);
                }
            }
        }
        if (seconds < 0) {
            return null;
        }
        return wrong == null
                ? new Outcome(PlanStatus.RUNS, "", seconds)
                : new Outcome(wrong.status(), wrong.reason(), seconds);
    }

    private List<String> command(Key key, List<Candidate> candidates) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.tutti.cli.Main",
                "plan",
                "run",
                "--as-rank"));
        command.addAll(options.words());
        if (key.calls() && !options.calls) {
            command.add("--calls");
        }
        candidates.forEach(each -> command.add(each.file().toString()));
        return command;
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("TUTTI_TIMEOUT", options.timeout().toMillis() + "ms");
        return environment;
    }

    /** No plan takes longer: every wait in it has an end. This is for processes that are stuck elsewhere. */
    private Duration limit(List<Candidate> candidates) {
        Duration limit = Duration.ofSeconds(60);
        for (Candidate each : candidates) {
            limit = limit.plus(options.timeout()
                    .multipliedBy(2L + (long) options.launches * each.cases().size()));
        }
        return limit;
    }
}
