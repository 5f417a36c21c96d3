package dev.tutti.processes;

import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.World;
import dev.tutti.bootstrap.HostedJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program on ranks that are real processes. The program is a class with a public constructor without arguments; every
 * process makes one object of it and calls {@link Program#run}, and what its ranks say comes back.
 */
public final class ProcessWorld {
    /** A system property: how much heap each process gets. */
    public static final String HEAP = "tutti.test.heap";

    /** An option: compile fast and not well, for programs that end before the other compiler is done. */
    public static final String QUICKLY = "-XX:TieredStopAtLevel=1";

    /** What every process does. */
    public interface Program {
        /**
         * Joins worlds, one after the other, the same in all processes.
         *
         * @param ranksHere how many ranks this process has in each
         * @param arguments what the test passed
         * @return null if all went well, else what did not
         */
        String run(int ranksHere, String[] arguments) throws Exception;
    }

    /** What one rank does in a world of a program. */
    public interface Rank {
        void run(Communicator comm) throws Exception;
    }

    private ProcessWorld() {}

    /** Joins the next world, runs a body on every rank of this process, and waits for all. */
    public static void join(int ranksHere, Config config, Rank body) {
        World.fromEnvironment().config(config).ranksHere(ranksHere).run(comm -> {
            try {
                body.run(comm);
            } catch (RuntimeException thrown) {
                throw thrown;
            } catch (Exception thrown) {
                throw new IllegalStateException(thrown);
            }
        });
    }

    /** Runs a program; returns the complaints of all processes. Whoever takes longer than the limit is killed, and says where it was. */
    public static List<String> run(
            Class<? extends Program> program, int processes, int ranksEach, Duration limit, String... arguments)
            throws IOException, InterruptedException {
        return run(List.of(), program, processes, ranksEach, limit, arguments);
    }

    /** The same, in JVMs that have more options. */
    public static List<String> run(
            List<String> options,
            Class<? extends Program> program,
            int processes,
            int ranksEach,
            Duration limit,
            String... arguments)
            throws IOException, InterruptedException {
        List<Process> children = new ArrayList<>();
        List<Path> outputs = new ArrayList<>();
        List<String> complaints = new ArrayList<>();
        try (HostedJob job = HostedJob.create(System.getenv())) {
            for (int process = 0; process < processes; process++) {
                List<String> command = new ArrayList<>(List.of(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-ea",
                        "-Xmx" + System.getProperty(HEAP, "512m"),
                        "-XX:+UseSerialGC",
                        "--add-modules",
                        "jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path")));
                command.addAll(options);
                command.addAll(List.of(ProcessWorld.class.getName(), program.getName(), "" + ranksEach));
                command.addAll(List.of(arguments));
                Path output = Files.createTempFile("tutti-rank", ".txt");
                outputs.add(output);
                ProcessBuilder builder = new ProcessBuilder(command);
                job.describe(builder.environment(), process, processes);
                children.add(builder.redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start());
            }
            long deadline = System.nanoTime() + limit.toNanos();
            for (int process = 0; process < processes; process++) {
                Process child = children.get(process);
                if (!child.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    complaints.add("process " + process + " did not end within " + limit + "\n"
                            + Files.readString(outputs.get(process)));
                } else if (child.exitValue() != 0) {
                    complaints.add("process " + process + " ended with " + child.exitValue() + "\n"
                            + Files.readString(outputs.get(process)));
                }
            }
        } finally {
            for (Process child : children) {
                child.destroyForcibly().waitFor();
            }
            for (Path output : outputs) {
                Files.deleteIfExists(output);
            }
        }
        return complaints;
    }

    /** A process of a program. */
    public static void main(String[] arguments) throws Exception {
        Program program =
                (Program) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
        String[] rest = java.util.Arrays.copyOfRange(arguments, 2, arguments.length);
        String wrong = program.run(Integer.parseInt(arguments[1]), rest);
        if (wrong != null) {
            System.out.println(wrong);
            System.exit(1);
        }
    }
}
