package dev.tutti.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The launcher with commands that know nothing of Tutti. */
@Timeout(60)
class RunCommandTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    Path runtime;

    @AfterEach
    void shouldLeaveNothingBehind() throws IOException {
        try (Stream<Path> files = Files.list(runtime)) {
            assertThat(files.filter(file -> file.endsWith("tutti"))).isEmpty();
        }
    }

    private int run(InputStream in, String... arguments) {
        CommandLine command = new CommandLine(new RunCommand(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                in,
                Map.of("XDG_RUNTIME_DIR", runtime.toString())));
        command.setStopAtPositional(true);
        return command.execute(arguments);
    }

    private int run(String... arguments) {
        return run(InputStream.nullInputStream(), arguments);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldTellEachRankWhoItIsAndTagItsLines() {
        assertThat(run("-n", "3", "--tag", "--", "sh", "-c", "echo rank $TUTTI_RANK of $TUTTI_SIZE; echo e >&2"))
                .as(err())
                .isZero();
        assertThat(out().lines()).containsExactlyInAnyOrder("[0] rank 0 of 3", "[1] rank 1 of 3", "[2] rank 2 of 3");
        assertThat(err().lines()).containsExactlyInAnyOrder("[0] e", "[1] e", "[2] e");
    }

    @Test
    void shouldGiveEachRankAGroupInTheSessionOfTheLauncher() throws IOException {
        assumeTrue(Groups.prefix().size() > 1, "neither setpgid nor perl is installed");
        assertThat(run("-n", "2", "--", "sh", "-c", "cut -d ' ' -f 1,5,6 /proc/$$/stat"))
                .as(err())
                .isZero();
        String session = Files.readString(Path.of("/proc/self/stat")).split(" ")[5];
        assertThat(out().lines()).hasSize(2).allSatisfy(line -> {
            String[] ids = line.split(" ");
            assertThat(ids[1]).as("the group is the process").isEqualTo(ids[0]);
            assertThat(ids[2]).as("the session is the launcher's").isEqualTo(session);
        });
    }

    @Test
    void shouldNeverTearLines() {
        String script =
                "i=0; while [ $i -lt 300 ]; do printf '%s' $TUTTI_RANK-; printf '%s\\n' abcdefghijklmnopqrstuvwxyz;"
                        + " i=$((i+1)); done; printf end-$TUTTI_RANK";
        assertThat(run("-n", "4", "--", "sh", "-c", script)).isZero();
        assertThat(out().lines()).hasSize(4 * 301);
        assertThat(out().lines()).allMatch(line -> line.matches("[0-3]-abcdefghijklmnopqrstuvwxyz|end-[0-3]"));
    }

    @Test
    void shouldGiveInputToRankZeroOnly() {
        InputStream in = new ByteArrayInputStream("one\ntwo\n".getBytes(StandardCharsets.UTF_8));
        assertThat(run(in, "-n", "2", "--tag", "cat")).isZero();
        assertThat(out()).isEqualTo("[0] one\n[0] two\n");
    }

    @Test
    void shouldWriteFilesWhenAFolderIsNamed(@TempDir Path folder) throws IOException {
        assertThat(run(
                        "-n",
                        "2",
                        "--output-dir",
                        folder.resolve("new").toString(),
                        "--",
                        "sh",
                        "-c",
                        "echo o$TUTTI_RANK; echo e >&2"))
                .isZero();
        assertThat(out()).isEmpty();
        assertThat(Files.readString(folder.resolve("new/rank-1.out"))).isEqualTo("o1\n");
        assertThat(Files.readString(folder.resolve("new/rank-0.err"))).isEqualTo("e\n");
    }

    @Test
    void shouldEndAllWithTheStatusAndLastLinesOfTheFirstThatFails() {
        assertThat(run("-n", "4", "--", "sh", "-c", "[ $TUTTI_RANK = 2 ] && { echo so bad >&2; exit 42; }; sleep 100"))
                .isEqualTo(42);
        assertThat(err()).contains("tutti run: rank 2 (process ", "failed first: exit status 42", "    so bad");
        assertThat(err()).doesNotContain("then rank");
    }

    @Test
    void shouldKillThoseThatDoNotEndWhenTold() {
        long start = System.nanoTime();
        assertThat(run(
                        "-n",
                        "2",
                        "--grace",
                        "200ms",
                        "--",
                        "sh",
                        "-c",
                        "trap '' TERM; [ $TUTTI_RANK = 1 ] && exit 7; sleep 100"))
                .isEqualTo(7);
        assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(20));
    }

    @Test
    void shouldLetTheOthersGoOnWhenAsked() {
        assertThat(run(
                        "-n",
                        "3",
                        "--keep-going",
                        "--",
                        "sh",
                        "-c",
                        "[ $TUTTI_RANK = 1 ] && kill -9 $$; sleep 0.3; echo done"))
                .isEqualTo(137);
        assertThat(out()).isEqualTo("done\ndone\n");
        assertThat(err()).contains("rank 1 (process ", "exit status 137 (SIGKILL)");
    }

    @Test
    void shouldEndWhenTimeIsOver() {
        assertThat(run("-n", "2", "--timeout", "300ms", "--", "sleep", "100")).isEqualTo(124);
        assertThat(err()).contains("--timeout");
    }

    @Test
    void shouldKillWhatRanksLeaveBehind() {
        assertThat(run("-n", "2", "--", "sh", "-c", "sleep 1000 & echo $!")).isZero();
        assertThat(out().lines().mapToLong(Long::parseLong)).hasSize(2).allMatch(RunCommandTest::endsSoon);
    }

    private static boolean endsSoon(long pid) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!hasEnded(pid) && System.nanoTime() < end) {
            Thread.yield();
        }
        return hasEnded(pid);
    }

    /** Those whom nobody has waited for have ended, too. */
    private static boolean hasEnded(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'Z';
        } catch (IOException gone) {
            return true;
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -n 2 -- no-such-command     | 127 | command not found: no-such-command
            -n 2 -- /proc/version       | 126 | cannot execute /proc/version
            -n 0 -- true                | 6   | -n must be in 1..65535, got 0
            -n 1 --timeout x -- true    | 6   | --timeout: expected a duration such as 90s, 10m, 2h, got 'x'
            """)
    void shouldSayWhyWhenItCannotRun(String line, int status, String message) {
        assertThat(run(line.split(" "))).isEqualTo(status);
        assertThat(err())
                .isEqualTo(
                        "tutti run: " + message + (status == 126 ? "; is it meant to be run by java -jar or sh?" : "")
                                + System.lineSeparator());
    }

    /** The launcher as a process of its own, with two ranks that print their number and that of a child, and wait. */
    private Process launcher(List<Long> pids) throws Exception {
        ProcessBuilder builder =
                launcher(withSignalsHeeded(), "-n", "2", "--", "sh", "-c", "sleep 1000 & echo $$ $!; wait");
        builder.redirectError(ProcessBuilder.Redirect.DISCARD);
        Process process = builder.start();
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        for (int rank = 0; rank < 2; rank++) {
            for (String pid : lines.readLine().split(" ")) {
                pids.add(Long.parseLong(pid));
            }
        }
        return process;
    }

    private ProcessBuilder launcher(List<String> prefix, String... arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.tutti.cli.Main",
                "run"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("XDG_RUNTIME_DIR", runtime.toString());
        return builder;
    }

    /** With too few, some ranks would have started, and what the JVM says then is about anything but files. */
    @ParameterizedTest
    @CsvSource({"200, 0, ''", "100, 126, ulimit -n", "80, 126, ulimit -n"})
    void shouldStartAllOrNoneWhenItMayOpenFewFiles(int files, int status, String says) throws Exception {
        List<String> scarce = List.of("sh", "-c", "ulimit -n " + files + "; exec \"$@\"", "sh");
        Process launcher = launcher(scarce, "-n", "40", "--", "true").start();
        String text = new String(launcher.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(launcher.waitFor()).as(text).isEqualTo(status);
        assertThat(text).contains(says);
    }

    /** Whoever started these tests may have told them to ignore signals, as nohup does; a JVM then does not handle them. */
    private static List<String> withSignalsHeeded() throws Exception {
        List<String> prefix = List.of("env", "--default-signal=HUP,INT,TERM");
        List<String> trial = new ArrayList<>(prefix);
        trial.add("true");
        return new ProcessBuilder(trial).start().waitFor() == 0 ? prefix : List.of();
    }

    @ParameterizedTest
    @CsvSource({"INT,130", "TERM,143", "HUP,129", "KILL,137"})
    void shouldEndEverythingWhenTheLauncherIsSignalled(String signal, int status) throws Exception {
        List<Long> pids = new ArrayList<>();
        Process launcher = launcher(pids);
        assertThat(pids).hasSize(4);
        new ProcessBuilder("kill", "-" + signal, "" + launcher.pid()).start().waitFor();
        assertThat(launcher.waitFor()).isEqualTo(status);
        assertThat(pids).allMatch(RunCommandTest::endsSoon);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (Files.exists(runtime.resolve("tutti")) && System.nanoTime() < end) {
            Thread.yield();
        }
    }
}
