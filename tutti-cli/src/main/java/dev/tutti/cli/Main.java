package dev.tutti.cli;

import dev.tutti.cli.common.ExitCode;
import dev.tutti.cli.doctor.DoctorCommand;
import dev.tutti.cli.perf.PerfCommand;
import dev.tutti.cli.plan.PlanCommand;
import dev.tutti.cli.run.RunCommand;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code tutti}. */
@Command(
        name = "tutti",
        description = "Collective communication for the JVM.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Versions.class,
        usageHelpWidth = 100,
        commandListHeading = "%nCommands:%n",
        footer = {
            "",
            "Examples:",
            "  tutti run -n 4 -- java -cp app.jar Main",
            "                                four processes that find each other",
            "  tutti perf all_reduce         how fast four processes of this machine combine arrays",
            "  tutti perf --help             everything that can be measured",
            "  tutti doctor                  what of this machine can be used"
        })
public final class Main implements Runnable {
    private static final List<String> COMMANDS = List.of("run", "perf", "plan", "doctor");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private Main() {}

    static final class Versions implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {Version.text()};
        }
    }

    /**
     * Runs a command and ends the process with its exit status.
     *
     * @param arguments the command line
     */
    public static void main(String[] arguments) {
        System.exit(run(System.out, System.err, System.getenv(), arguments));
    }

    static int run(PrintStream out, PrintStream err, Map<String, String> environment, String... arguments) {
        CommandLine tutti = new CommandLine(new Main());
        // Options of commands that are not meant need not be looked up.
        String meant = arguments.length > 0 && COMMANDS.contains(arguments[0]) ? arguments[0] : "";
        if (meant.isEmpty() || meant.equals("run")) {
            CommandLine run = new CommandLine(new RunCommand(out, err, System.in, environment));
            // What follows the command's name is the command's.
            run.setStopAtPositional(true);
            tutti.addSubcommand(run);
        }
        if (meant.isEmpty() || meant.equals("perf")) {
            tutti.addSubcommand(new PerfCommand(out, err, environment, List.of(arguments)));
        }
        if (meant.isEmpty() || meant.equals("plan")) {
            tutti.addSubcommand(PlanCommand.of(out, err));
        }
        if (meant.isEmpty() || meant.equals("doctor")) {
            tutti.addSubcommand(new DoctorCommand(out));
        }
        tutti.setOut(new PrintWriter(out, true, StandardCharsets.UTF_8));
        tutti.setParameterExceptionHandler((exception, given) -> {
            err.println(Mistakes.explain(exception));
            return ExitCode.USAGE.number();
        });
        return tutti.execute(arguments);
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
