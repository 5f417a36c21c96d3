package dev.tutti.cli;

import dev.tutti.cli.perf.ExitCode;
import dev.tutti.cli.perf.PerfCommand;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/** The command {@code tutti}. */
@Command(
        name = "tutti",
        description = "Collective communication for the JVM.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Versions.class,
        footer = {
            "",
            "Examples:",
            "  tutti perf all_reduce         how fast four threads of this machine combine arrays",
            "  tutti perf --help             everything that can be measured"
        })
public final class Main implements Runnable {
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
        CommandLine perf = new CommandLine(new PerfCommand(out, err, environment, List.of(arguments)));
        CommandLine tutti = new CommandLine(new Main()).addSubcommand(perf);
        tutti.setParameterExceptionHandler((exception, given) -> explain(err, exception));
        tutti.setExecutionExceptionHandler((exception, command, given) -> fail(err, command, exception));
        tutti.setOut(new java.io.PrintWriter(out, true));
        return tutti.execute(arguments);
    }

    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }

    private static int explain(PrintStream err, ParameterException exception) {
        err.println(exception.getCommandLine().getCommandSpec().qualifiedName() + ": " + exception.getMessage());
        return ExitCode.USAGE.number();
    }

    private static int fail(PrintStream err, CommandLine command, Exception exception) {
        err.println(command.getCommandSpec().qualifiedName() + ": " + exception);
        return ExitCode.INTERNAL.number();
    }
}
