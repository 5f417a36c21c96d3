package dev.tutti.cli.run;

import dev.tutti.cli.common.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The subcommand {@code run}. */
@Command(
        name = "run",
        header = "Starts a command as several ranks, which find each other by Communicator.fromEnvironment().",
        sortOptions = false,
        abbreviateSynopsis = true,
        usageHelpWidth = 100,
        optionListHeading = "%nOptions:%n",
        footer = {
            "",
            "Each rank has TUTTI_RANK, TUTTI_SIZE and what it needs to find the others in its environment.",
            "Standard input goes to rank 0. SIGINT, SIGTERM and SIGHUP are passed on. When a rank fails, the",
            "others are told to end (SIGTERM), and killed when they have not after the grace period.",
            "",
            "Examples:",
            "  tutti run -n 4 -- java -cp app.jar Main",
            "  tutti run -n 2 --tag -- ./train.sh --epochs 3",
            "  tutti run -n 2 -- tutti perf all_reduce -g 2      two processes with two ranks each",
            "",
            "Exit status: that of the first rank that failed; 128 and the signal's number after a signal;",
            "124 after a timeout; 126 or 127 if the command cannot be started or found; 6 for wrong arguments."
        })
public final class RunCommand implements Callable<Integer> {
    private static final int NOT_FOUND = 127;
    private static final int NOT_EXECUTABLE = 126;

    @Option(
            names = {"-n", "--ranks"},
            paramLabel = "N",
            required = true,
            description = "how many ranks to start")
    int ranks;

    @Option(names = "--tag", description = "put [RANK] before each line of output")
    boolean tag;

    @Option(
            names = "--output-dir",
            paramLabel = "FOLDER",
            description = "write output to rank-N.out and rank-N.err in this folder instead")
    @Nullable
    Path outputFolder;

    @Option(names = "--timeout", paramLabel = "TIME", description = "end all ranks after so long: 90s, 10m, 2h")
    @Nullable
    String timeout;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            description = "kill ranks that have not ended so long after they were told to (5s)")
    String grace = "5s";

    @Option(names = "--keep-going", description = "let the other ranks go on when one fails")
    boolean keepGoing;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this")
    boolean help;

    @Parameters(paramLabel = "COMMAND", arity = "1..*", description = "what to run, after --")
    List<String> command = List.of();

    private final PrintStream out;
    private final PrintStream err;
    private final InputStream in;
    private final Map<String, String> environment;

    /**
     * Makes one.
     *
     * @param out where output goes
     * @param err where messages go
     * @param in what rank 0 reads
     * @param environment variables
     */
    public RunCommand(PrintStream out, PrintStream err, InputStream in, Map<String, String> environment) {
        this.out = out;
        this.err = err;
        this.in = in;
        this.environment = environment;
    }

    @Override
    public Integer call() {
        try {
            if (ranks < 1 || ranks > 0xFFFF) {
                throw new IllegalArgumentException("-n must be in 1..65535, got " + ranks);
            }
            Launch.Plan plan = new Launch.Plan(
                    command,
                    ranks,
                    tag,
                    folder(),
                    timeout == null ? null : duration("--timeout", timeout),
                    duration("--grace", grace),
                    keepGoing,
                    "tutti run",
                    false);
            Path program = Groups.find(command.getFirst()).orElse(null);
            if (program == null) {
                err.println("tutti run: command not found: " + command.getFirst());
                return NOT_FOUND;
            }
            if (!Files.isExecutable(program)) {
                err.println("tutti run: cannot execute " + program + "; is it meant to be run by java -jar or sh?");
                return NOT_EXECUTABLE;
            }
            return new Launch(plan, environment, out, err).run(in);
        } catch (IllegalArgumentException wrong) {
            err.println("tutti run: " + wrong.getMessage());
            return ExitCode.USAGE.number();
        }
    }

    private @Nullable Path folder() {
        if (outputFolder != null) {
            try {
                Files.createDirectories(outputFolder);
            } catch (IOException cannot) {
                throw new IllegalArgumentException("--output-dir: cannot make " + outputFolder + ": " + cannot, cannot);
            }
        }
        return outputFolder;
    }

    static Duration duration(String option, String text) {
        String lower = text.strip().toLowerCase(Locale.ROOT);
        try {
            String digits = lower.replaceAll("[a-z]+$", "");
            long number = Long.parseLong(digits);
            if (number >= 0) {
                return switch (lower.substring(digits.length())) {
                    case "ms" -> Duration.ofMillis(number);
                    case "s", "" -> Duration.ofSeconds(number);
                    case "m" -> Duration.ofMinutes(number);
                    case "h" -> Duration.ofHours(number);
                    default -> throw new NumberFormatException(text);
                };
            }
        } catch (NumberFormatException | ArithmeticException malformed) {
            // Said below.
        }
        throw new IllegalArgumentException(option + ": expected a duration such as 90s, 10m, 2h, got '" + text + "'");
    }
}
