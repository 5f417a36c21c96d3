package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks over a communicator: threads of this process, and processes, which {@link ProcessRank} is. */
@Timeout(300)
class ProcessesTest {
    @ParameterizedTest
    @CsvSource({"1", "2", "3", "8"})
    void shouldWorkBetweenThreads(int ranks) {
        CudaDevice device = Gpu.device();
        World.local(ranks).run(host -> ProcessRank.all(device, host));
    }

    @ParameterizedTest
    @CsvSource({"HOST", "STAGED"})
    void shouldWorkBetweenThreadsOnAPathThatIsAskedFor(CudaPath path) {
        CudaDevice device = Gpu.device();
        World.local(3).run(host -> ProcessRank.all(device, host, path));
    }

    /** With peers the device is its own peer: the kernels, fences and checks of ranks on several devices. */
    @ParameterizedTest
    @CsvSource({"2, ''", "4, ''", "2, host", "2, staged", "3, staged", "2, peers", "4, peers"})
    void shouldWorkBetweenProcesses(int ranks, String path, @TempDir Path folder) throws Exception {
        Gpu.device();
        run(ranks, path, folder, "all", "mismatch", "cross", "again", "graph", "late");
    }

    @Test
    void shouldEndKernelsThatWaitForWhoCannotCome(@TempDir Path folder) throws Exception {
        Gpu.device();
        run(2, "", folder, "stuck");
    }

    @Test
    void shouldLoseNothing(@TempDir Path folder) throws Exception {
        Gpu.device();
        run(2, "", folder, "leak");
    }

    private static void run(int ranks, String path, Path folder, String... modes) throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            processes.add(start(rank, ranks, path, folder, modes));
        }
        for (int rank = 0; rank < ranks; rank++) {
            boolean ended = processes.get(rank).waitFor(200, TimeUnit.SECONDS);
            processes.get(rank).destroyForcibly();
            String log = Files.readString(folder.resolve("rank" + rank));
            System.out.print(log);
            assertThat(ended && processes.get(rank).exitValue() == 0)
                    .as("rank %d: %s", rank, log)
                    .isTrue();
        }
    }

    private static Process start(int rank, int ranks, String path, Path folder, String... modes) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
        if (path.equals("peers")) {
            command.add("-D" + Introduction.PEERS + "=true");
        } else if (!path.isEmpty()) {
            command.add("-D" + Introduction.PATH + "=" + path);
        }
        command.add(ProcessRank.class.getName());
        command.addAll(List.of(modes));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("rank" + rank).toFile());
        builder.environment().put("TUTTI_RANK", String.valueOf(rank));
        builder.environment().put("TUTTI_SIZE", String.valueOf(ranks));
        builder.environment().put("TUTTI_JOB", "cuda-" + ProcessHandle.current().pid() + "-" + folder.getFileName());
        builder.environment().put("TUTTI_TIMEOUT", "30s");
        return builder.start();
    }
}
