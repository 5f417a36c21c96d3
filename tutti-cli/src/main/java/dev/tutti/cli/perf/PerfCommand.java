package dev.tutti.cli.perf;

import dev.tutti.TuttiException;
import dev.tutti.bootstrap.Job;
import dev.tutti.cli.Version;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.cli.run.Launch;
import dev.tutti.posix.SharedMemory;
import java.io.PrintStream;
import java.util.ArrayList;
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
            "  tutti perf all_reduce                                a first look, four processes",
            "  tutti perf all_reduce -g 8 -b 8 -e 64M -f 4 -n 50    eight ranks, 8 bytes to 64 MB",
            "  tutti perf all_reduce -g 4 --threads                 four threads of one process",
            "  tutti perf all_reduce -g 2 -t 4                      two processes with four threads each",
            "  tutti perf reduce_scatter -d bfloat16 -o avg -R 1    registered memory",
            "  tutti perf broadcast -g 4 -r -1 -b 1M -e 1M          every root",
            "  tutti perf all_reduce --algo ring -J ring.json       keep the results",
            "  tutti perf all_reduce --plot curves.png --compare ring.json",
            "",
            "Exit status: 0 all right, 3 the library failed, 4 timeout, 5 only for GPUs, 6 wrong arguments,",
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
        boolean speaks = true;
        try {
            // First: how many ranks -g means, and whose business it is to talk, depends on who started this process.
            speaks = place();
            options.validate();
            PerfRun run = new PerfRun(
                    Program.named(program), options, environment, arguments, out, err, hooks, Version.text());
            if (options.placement() == PerfOptions.Placement.LAUNCHING) {
                run.check();
                return launch();
            }
            return run.run(speaks).number();
        } catch (CommandException known) {
            return speaks
                    ? fail(known.code(), String.valueOf(known.getMessage()))
                    : known.code().number();
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

    /** Finds out where the ranks are; true if this process prints. */
    private boolean place() {
        if (options.isOnDevice()) {
            // All ranks are in this process, which has the device.
            return true;
        }
        if (options.wantsThreads()) {
            return true;
        }
        Job job = Job.from(environment);
        if (job.processes() > 1) {
            options.place(
                    options.launched != null ? PerfOptions.Placement.LAUNCHED : PerfOptions.Placement.JOINED,
                    job.processes());
            return job.process() == 0;
        }
        if (environment.containsKey("TUTTI_RANK") || !SharedMemory.isAvailable()) {
            // One process is enough, or all there can be.
            return true;
        }
        options.place(PerfOptions.Placement.LAUNCHING, 1);
        return true;
    }

    private int launch() {
        int processes = options.ranks() / options.localRanks();
        options.launched = Progress.hasTerminal() ? PerfOptions.TERMINAL : "plain";
        List<String> words = new ArrayList<>(List.of(program));
        words.addAll(Handover.words(options));
        words.add(PerfRank.TYPED);
        words.addAll(arguments);
        return Launch.again("tutti perf", PerfRank.class, words, processes, environment, out, err);
    }

    private int fail(ExitCode code, String message) {
        err.println("tutti perf: " + message.lines().findFirst().orElse("failed"));
        return code.number();
    }
}
