package dev.tutti.cli.plan;

import dev.tutti.cli.run.Launch;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs a plan on ranks that are processes: this command again, once per rank. */
final class ProcessTrial {
    private static final String WRONG = "wrong: ";

    private ProcessTrial() {}

    /** What a rank that is a process says when something is wrong. */
    static String wrong(String what) {
        return WRONG + what;
    }

    /** Starts the processes and waits for them; what is wrong, or null. */
    @Nullable
    static String run(Path file, int ranks, List<String> options, Duration timeout, int launches) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.tutti.cli.Main",
                "plan",
                "run",
                "--as-rank"));
        command.addAll(options);
        command.add(file.toString());
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("TUTTI_TIMEOUT", timeout.toMillis() + "ms");
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream output = new PrintStream(said, true, StandardCharsets.UTF_8);
        int status = new Launch(
                        new Launch.Plan(
                                command,
                                ranks,
                                false,
                                null,
                                timeout.multipliedBy(2L + launches).plusSeconds(60),
                                Duration.ofSeconds(2),
                                false,
                                "tutti plan run",
                                false),
                        environment,
                        output,
                        output)
                .run(null);
        if (status == 0) {
            return null;
        }
        String text = said.toString(StandardCharsets.UTF_8);
        return text.lines()
                .filter(line -> line.startsWith(WRONG))
                .map(line -> line.substring(WRONG.length()))
                .findFirst()
                .orElseGet(() -> "a rank ended with status " + status + ": "
                        + text.lines().reduce((first, last) -> last).orElse("it said nothing"));
    }
}
