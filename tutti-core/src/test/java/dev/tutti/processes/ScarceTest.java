package dev.tutti.processes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.processes.Children.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that the system gives too little: everyone ends with an exception, one says why and what to do, and nothing is left. */
@Timeout(180)
class ScarceTest extends WithChildren {
    private static final int RANKS = 3;
    private static final String OWN_GROUP = "/proc/self/cgroup";

    /** Starts the ranks, some of them by a command of their own, and waits for all. */
    private List<Outcome> run(List<String> wrapper, int from, int to, String... arguments) throws Exception {
        IntFunction<Map<String, String>> ranks = ranksOf(RANKS, "TUTTI_JOIN_TIMEOUT=20s");
        List<Process> processes = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            List<String> command = new ArrayList<>(rank >= from && rank < to ? wrapper : List.of());
            List<String> hello = new ArrayList<>(Children.command(Hello.class, arguments));
            hello.add(1, "-Xmx64m");
            command.addAll(hello);
            processes.add(children.start(command, ranks.apply(rank)));
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (Process process : processes) {
            outcomes.add(Children.await(process));
        }
        return outcomes;
    }

    private static List<String> shell(String script) {
        return List.of("sh", "-c", script + "; exec \"$@\"", "sh");
    }

    /** All have failed; some say what is scarce and what to do about it, the others name a process or also lack it. */
    private static void assertFailed(List<Outcome> outcomes, String... says) {
        assertThat(outcomes).allSatisfy(outcome -> {
            assertThat(outcome.status()).as(outcome.text()).isEqualTo(3);
            assertThat(outcome.text()).containsPattern("cannot meet in|(rank|process) \\d");
        });
        assertThat(outcomes).anySatisfy(outcome -> assertThat(outcome.text()).contains(says));
    }

    @ParameterizedTest
    @CsvSource({
        "ulimit -f 100, cannot share memory, ulimit -f unlimited",
        "ulimit -v 20000000, ENOMEM, ulimit -v unlimited",
        "ulimit -v 100000000, ENOMEM, ulimit -v unlimited",
        "ulimit -n 20, more files, ulimit -n",
        "ulimit -n 24, more files, ulimit -n"
    })
    void shouldSayWhyAndWhatToDoWhenALimitIsTooLow(String limit, String reason, String remedy) throws Exception {
        assertFailed(run(shell(limit), 0, RANKS), reason, remedy);
    }

    @ParameterizedTest
    @CsvSource({
        "ulimit -f 100, cannot share memory, ulimit -f unlimited",
        "ulimit -v 20000000, ENOMEM, ulimit -v unlimited",
        "ulimit -n 24, more files, ulimit -n"
    })
    void shouldTellTheOthersWhenOneHasALowLimit(String limit, String reason, String remedy) throws Exception {
        List<Outcome> outcomes = run(shell(limit), 1, 2);
        assertThat(outcomes).allSatisfy(outcome -> assertThat(outcome.status()).isEqualTo(3));
        assertThat(outcomes.get(1).text()).contains(reason, remedy);
        // Whoever comes when all others have given up and gone hears of nobody, and waits for all.
        assertThat(outcomes.get(0).text()).containsPattern("process 1 could not join: .*|missing: rank 1");
        assertThat(outcomes.get(2).text()).containsPattern("process 1 could not join: .*|missing: rank (0, )?1");
    }

    @Test
    void shouldSayHowMuchThereIsWhenABufferIsTooLarge() throws Exception {
        List<Outcome> outcomes = run(List.of(), 0, 0, "allocate", "" + (1L << 40));
        assertThat(outcomes).allSatisfy(outcome -> {
            assertThat(outcome.status()).isEqualTo(3);
            assertThat(outcome.text())
                    .startsWith("BROKEN")
                    .contains(
                            "no room for a buffer of " + (4L << 40) + " bytes",
                            "the longest free range has",
                            "free buffers");
        });
    }

    @Test
    void shouldSayWhichControlGroupWhenItHasNoMemoryLeft() throws Exception {
        Path group = controlGroup(400L << 20);
        try {
            List<Outcome> outcomes =
                    run(shell("echo $$ > " + group + "/cgroup.procs"), 0, RANKS, "allocate", "" + (1L << 28));
            assertThat(outcomes).allSatisfy(outcome -> {
                assertThat(outcome.status()).as(outcome.text()).isEqualTo(3);
                assertThat(outcome.text())
                        .contains("no shared memory for a buffer", "control group " + group, "smaller buffers");
            });
        } finally {
            Files.delete(group);
        }
    }

    /** A group inside this process's own, so that what limits this process limits the ranks, too. */
    private static Path controlGroup(long bytes) throws IOException {
        for (String line : Files.readAllLines(Path.of(OWN_GROUP))) {
            String[] fields = line.split(":", 3);
            boolean old = fields[1].equals("memory");
            if (old || line.startsWith("0::")) {
                Path top = Path.of("/sys/fs/cgroup" + (old ? "/memory" : ""));
                Path group = top.resolve(fields[2].substring(1))
                        .resolve("tutti-" + ProcessHandle.current().pid());
                try {
                    Files.createDirectory(group);
                } catch (IOException refused) {
                    throw skip("no control group can be made here: " + refused);
                }
                try {
                    Files.writeString(group.resolve(old ? "memory.limit_in_bytes" : "memory.max"), "" + bytes);
                    return group;
                } catch (IOException refused) {
                    Files.delete(group);
                    throw skip("no control group can be limited here: " + refused);
                }
            }
        }
        throw skip("this process is in no control group for memory");
    }

    @ParameterizedTest
    @ValueSource(strings = {"4k", "8k", "12k", "20k", "28k"})
    void shouldSayWhereThereIsNoRoomWhenTheFolderIsTiny(String size) throws Exception {
        try (Mounted mounted = new Mounted("mount -t tmpfs -o size=" + size + " tmpfs /dev/shm")) {
            assertFailed(run(mounted.inside("unset XDG_RUNTIME_DIR"), 0, RANKS), "/dev/shm", "XDG_RUNTIME_DIR");
            mounted.files("/dev/shm", "mount -o remount,size=1m /dev/shm");
            assertThat(run(mounted.inside("unset XDG_RUNTIME_DIR"), 0, RANKS))
                    .allSatisfy(outcome -> assertThat(outcome.text()).endsWith(" of 3 sum 6"));
            assertThat(mounted.files("/dev/shm", "true"))
                    .as("what the last one has left removes the next")
                    .isEmpty();
        }
    }

    @Test
    void shouldMeetElsewhereWhenThereIsNoSharedFolder() throws Exception {
        try (Mounted mounted = new Mounted("mount -t tmpfs -o ro,size=4k tmpfs /dev/shm")) {
            assertThat(run(mounted.inside("unset XDG_RUNTIME_DIR"), 0, RANKS)).allSatisfy(outcome -> {
                assertThat(outcome.text()).endsWith(" of 3 sum 6");
                assertThat(outcome.status()).isZero();
            });
        }
    }

    @Test
    void shouldNameEveryFolderWhenNoneIsWritable() throws Exception {
        // What is in /tmp stays there to be read: this test's own classes may be.
        String readOnly = "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp";
        try (Mounted mounted = new Mounted("mount -t tmpfs -o ro,size=4k tmpfs /dev/shm && " + readOnly)) {
            String elsewhere = "export XDG_RUNTIME_DIR=/proc";
            assertThat(run(mounted.inside(elsewhere), 0, RANKS)).allSatisfy(outcome -> {
                assertThat(outcome.status()).as(outcome.text()).isEqualTo(3);
                assertThat(outcome.text())
                        .contains("/proc/tutti: ", "/dev/shm/tutti-", "/tmp/tutti-", "set XDG_RUNTIME_DIR");
            });
        }
    }

    /** A process in whose file system something else is mounted; it waits for its input to end. */
    private static final class Mounted implements AutoCloseable {
        private final Process holder;

        Mounted(String mount) throws IOException {
            holder = new ProcessBuilder("unshare", "-m", "sh", "-c", mount + " && echo mounted && cat")
                    .redirectErrorStream(true)
                    .start();
            String said = holder.inputReader().readLine();
            if (!"mounted".equals(said)) {
                throw skip("nothing can be mounted here: " + said);
            }
        }

        List<String> inside(String script) {
            List<String> command = new ArrayList<>(List.of("nsenter", "-m", "-t", "" + holder.pid(), "--wd=."));
            command.addAll(shell(script));
            return command;
        }

        /** What is in a folder, after something has been done. */
        List<String> files(String folder, String script) throws IOException, InterruptedException {
            List<String> command = new ArrayList<>(inside(script));
            command.addAll(List.of("find", folder, "-mindepth", "1"));
            Process find = new ProcessBuilder(command).redirectErrorStream(true).start();
            return Children.await(find).lines();
        }

        @Override
        public void close() {
            holder.destroyForcibly();
        }
    }
}
