package dev.tutti.cli.perf;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** Runs the command in this process, with threads as ranks, and keeps what it printed. */
final class PerfTester {
    private final Map<String, String> environment = new HashMap<>();
    private Hooks hooks = new Hooks(System::nanoTime, 0, Hooks.NONE.tamper());

    record Outcome(int exitCode, String out, String err) {
        List<String> rows() {
            return out.lines()
                    .filter(line -> !line.startsWith("#") && !line.isEmpty())
                    .toList();
        }

        /** What differs from run to run replaced. */
        String stableOut() {
            return out.replaceAll("Pid +\\d+ on +\\S+", "Pid PID on HOST").replaceAll("version .*", "version VERSION");
        }
    }

    PerfTester with(String variable, String value) {
        environment.put(variable, value);
        return this;
    }

    PerfTester with(Hooks replacement) {
        hooks = replacement;
        return this;
    }

    /** A clock that every rank sees advance by the same at each look. */
    static Hooks ticking(long nanos) {
        ThreadLocal<long[]> time = ThreadLocal.withInitial(() -> new long[1]);
        return new Hooks(() -> time.get()[0] += nanos, 0, Hooks.NONE.tamper());
    }

    Outcome run(String line) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        List<String> arguments = new ArrayList<>(List.of(line.split(" ")));
        if (!line.contains("--virtual") && !line.contains("--transport")) {
            arguments.add("--threads");
        }
        PerfCommand command = new PerfCommand(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                environment,
                arguments,
                hooks);
        int code = new CommandLine(command).execute(arguments.toArray(String[]::new));
        return new Outcome(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
