package dev.tutti.cli.plan;

import java.io.PrintStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command group {@code tutti plan}; without a subcommand it lists them. */
@Command(
        name = "plan",
        description = "Plans as data: run, check, show, simulate and export collective algorithms.",
        mixinStandardHelpOptions = true,
        usageHelpWidth = 100,
        commandListHeading = "%nCommands:%n")
public final class PlanCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private PlanCommand() {}

    /**
     * The group with all its subcommands.
     *
     * @param out where results go
     * @param err where complaints go
     * @return the command
     */
    public static CommandLine of(PrintStream out, PrintStream err) {
        return new CommandLine(new PlanCommand())
                .addSubcommand(new PlanRunCommand(out, err))
                .addSubcommand(new ExportCommand(out, err))
                .addSubcommand(new CheckCommand(out, err))
                .addSubcommand(new ShowCommand(out, err))
                .addSubcommand(new SimulateCommand(out, err))
                .addSubcommand(new CalibrateCommand(out, err));
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
