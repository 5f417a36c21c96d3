package dev.tutti.cli.perf;

import dev.tutti.TuttiException;
import dev.tutti.cli.Version;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The subcommand {@code perf}. */
@Command(
        name = "perf",
        header = "Times a collective, checks its results, and prints the table of nccl-tests.",
        description = {
            "",
            "Programs: all_reduce all_gather reduce_scatter broadcast reduce alltoall alltoallv gather scatter sendrecv "
                    + "hypercube barrier scan exscan"
        },
        sortOptions = false,
        abbreviateSynopsis = true,
        usageHelpWidth = 100,
        optionListHeading = "%nOptions (defaults in brackets; SIZE is a number, with K, M or G for powers of 1024):%n",
        footer = {
            "",
            "Examples:",
            "  tutti perf all_reduce                                a first look, four ranks",
            "  tutti perf all_reduce -g 8 -b 8 -e 64M -f 4 -n 50    eight ranks, 8 bytes to 64 MB",
            "  tutti perf reduce_scatter -d bfloat16 -o avg -R 1    registered memory",
            "  tutti perf broadcast -g 4 -r -1 -b 1M -e 1M          every root",
            "  tutti perf all_reduce --algo ring -J ring.json       keep the results",
            "  tutti perf all_reduce --plot curves.png --compare ring.json",
            "",
            "Exit status: 0 all right, 3 the library failed, 4 timeout, 5 not for threads, 6 wrong arguments,",
            "7 wrong results or less bandwidth than NCCL_TESTS_MIN_BW demands."
        })
public final class PerfCommand implements Callable<Integer> {
    @Parameters(paramLabel = "PROGRAM", description = "what to time, with or without _perf behind its name")
    String program = "";

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this")
    boolean help;

    @Mixin
    PerfOptions options = new PerfOptions();

    private final PrintStream out;
    private final PrintStream err;
    private final Map<String, String> environment;
    private final List<String> arguments;
    private final Hooks hooks;

    /**
     * Makes one.
     *
     * @param out where the table goes
     * @param err where messages go
     * @param environment variables
     * @param arguments the command line, for the record
     */
    public PerfCommand(PrintStream out, PrintStream err, Map<String, String> environment, List<String> arguments) {
        this(out, err, environment, arguments, Hooks.NONE);
    }

    PerfCommand(
            PrintStream out, PrintStream err, Map<String, String> environment, List<String> arguments, Hooks hooks) {
        this.out = out;
        this.err = err;
        this.environment = environment;
        this.arguments = arguments;
        this.hooks = hooks;
    }

    @Override
    public Integer call() {
        try {
            options.validate();
            return new PerfRun(Program.named(program), options, environment, arguments, out, err, hooks, Version.text())
                    .run()
                    .number();
        } catch (PerfException known) {
            return fail(known.code(), String.valueOf(known.getMessage()));
        } catch (TuttiException failure) {
            boolean timeout = failure.category() == TuttiException.Category.TIMEOUT;
            return fail(timeout ? ExitCode.TIMEOUT : ExitCode.LIBRARY, String.valueOf(failure.getMessage()));
        } catch (IllegalArgumentException refused) {
            // What the library refuses was on the command line or in the environment.
            return fail(ExitCode.USAGE, String.valueOf(refused.getMessage()));
        } catch (OutOfMemoryError tooLarge) {
            return fail(
                    ExitCode.LIBRARY,
                    "not enough memory: " + tooLarge.getMessage() + "; give a smaller -e or fewer ranks");
        } catch (RuntimeException | Error mistake) {
            return fail(ExitCode.INTERNAL, "unexpected " + mistake);
        }
    }

    private int fail(ExitCode code, String message) {
        err.println("tutti perf: " + message.lines().findFirst().orElse("failed"));
        return code.number();
    }
}
