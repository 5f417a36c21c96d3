package dev.tutti.processes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.processes.Children.Outcome;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that are processes, started as each launcher starts them. */
@Timeout(180)
class ProcessesTest extends WithChildren {
    @Test
    void shouldReachPeersMemoryWhenItIsRegistered() throws Exception {
        List<Outcome> outcomes = children.run(3, ranksOf(3), Children.command(Neighbours.class));
        for (Outcome outcome : outcomes) {
            assertThat(outcome.text())
                    .startsWith("fine, then: ranks disagree")
                    .contains("rank 0 called allReduce of 60000 int64 sum", "on registered buffers");
            assertThat(outcome.status()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TUTTI_RANK=# TUTTI_SIZE=3",
                "RANK=# WORLD_SIZE=3 LOCAL_RANK=# LOCAL_WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500",
                "OMPI_COMM_WORLD_RANK=# OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3",
                "PMI_RANK=# PMI_SIZE=3 MPI_LOCALNRANKS=3",
                "SLURM_PROCID=# SLURM_NTASKS=3 SLURM_NNODES=1 SLURM_JOB_ID=1 SLURM_STEP_ID=0",
                "JOB_COMPLETION_INDEX=# TUTTI_SIZE=3 TUTTI_RENDEZVOUS=127.0.0.1:@ TUTTI_SECRET=%"
            })
    void shouldJoinWhenStartedWithTheVariablesOfALauncher(String text) throws Exception {
        String filled = text.replace("@", "" + freePort()).replace("%", "0123456789abcdef".repeat(4));
        List<Outcome> outcomes = children.run(
                3, rank -> variables(filled.replace("#", "" + rank).split(" ")), Children.command(Hello.class));
        for (int rank = 0; rank < 3; rank++) {
            assertThat(outcomes.get(rank).text()).isEqualTo("rank " + rank + " of 3 sum 6");
            assertThat(outcomes.get(rank).status()).isZero();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mpirun.openmpi --oversubscribe", "mpirun.mpich"})
    void shouldJoinWhenStartedByMpirun(String launcher) throws Exception {
        List<String> command = new ArrayList<>(List.of(launcher.split(" ")));
        if (Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .noneMatch(folder -> Files.isExecutable(Path.of(folder, command.getFirst())))) {
            throw skip(command.getFirst() + " is not installed (Debian: openmpi-bin, mpich)");
        }
        command.addAll(List.of("-n", "3"));
        command.addAll(Children.command(Hello.class));
        Map<String, String> variables = variables("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
        Outcome outcome = Children.await(children.start(command, variables));
        assertThat(outcome.lines()).contains("rank 0 of 3 sum 6", "rank 1 of 3 sum 6", "rank 2 of 3 sum 6");
        assertThat(outcome.status()).isZero();
    }

    @Test
    void shouldBeAloneWhenNobodyHasStartedOthers() throws Exception {
        assertThat(children.run(1, rank -> variables(), Children.command(Hello.class))
                        .getFirst()
                        .text())
                .isEqualTo("rank 0 of 1 sum 1");
    }

    @Test
    void shouldJoinSeveralWorldsWhenAllDoInTheSameOrder() throws Exception {
        List<Outcome> outcomes = children.run(2, ranksOf(2), Children.command(Hello.class, "worlds"));
        for (int rank = 0; rank < 2; rank++) {
            String hello = "rank " + rank + " of 2 sum 3";
            assertThat(outcomes.get(rank).text())
                    .isEqualTo(hello + ", " + hello + ", " + hello + System.lineSeparator() + hello);
        }
    }

    @Test
    void shouldHoldSeveralRanksInAProcess() throws Exception {
        List<Outcome> outcomes = children.run(2, ranksOf(2), Children.command(Hello.class, "ranks", "2"));
        assertThat(outcomes.get(0).text()).isEqualTo("rank 0 of 4 sum 10, rank 1 of 4 sum 10");
        assertThat(outcomes.get(1).text()).isEqualTo("rank 2 of 4 sum 10, rank 3 of 4 sum 10");
    }

    @Test
    void shouldTellTheRootWhenAReaderFarBehindDies() throws Exception {
        List<Outcome> outcomes = children.run(2, ranksOf(2), Children.command(Hello.class, "ahead"));
        assertThat(outcomes.get(1).status()).isEqualTo(9);
        assertThat(outcomes.get(1).text()).isEmpty();
        assertThat(outcomes.get(0).text()).startsWith("PEER_FAILED").contains("rank 1");
        assertThat(outcomes.get(0).status()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            1 | rank 1 \\(rank 0 of the world, process \\d+\\) ended.* without closing 'world/0.0'
            2 | rank [23] \\(rank [01] of the world, process \\d+ with ranks 0 to 1\\) ended.* without closing 'world/0.0'
            """)
    void shouldSayWhoseProcessEndedWhenRanksHaveOtherNumbers(int ranks, String text) throws Exception {
        List<Outcome> outcomes = children.run(2, ranksOf(2), Children.command(Hello.class, "reversed", "" + ranks));
        assertThat(outcomes.get(0).status()).isEqualTo(9);
        assertThat(outcomes.get(1).text()).matches("PEER_FAILED " + text);
        assertThat(outcomes.get(1).status()).isEqualTo(3);
    }

    @Test
    void shouldNeverMeetAnotherJobOfTheSameMachine() throws Exception {
        List<Outcome> outcomes = children.run(
                4,
                number -> variables("TUTTI_RANK=" + number % 2, "TUTTI_SIZE=2", "TUTTI_JOB=job-" + number / 2),
                Children.command(Hello.class));
        for (int number = 0; number < 4; number++) {
            assertThat(outcomes.get(number).text()).isEqualTo("rank " + number % 2 + " of 2 sum 3");
        }
    }

    @Test
    void shouldNameWhoIsMissingWhenTheTimeIsOver() throws Exception {
        Outcome outcome = children.run(1, ranksOf(3, "TUTTI_JOIN_TIMEOUT=500ms"), Children.command(Hello.class))
                .getFirst();
        assertThat(outcome.text()).startsWith("TIMEOUT rank 0 of 3").contains("missing: rank 1, 2");
        assertThat(outcome.status()).isEqualTo(3);
    }

    @Test
    void shouldRefuseWhenSettingsDiffer() throws Exception {
        List<Outcome> outcomes = children.run(
                2,
                rank -> variables("TUTTI_RANK=" + rank, "TUTTI_SIZE=2", "TUTTI_LANES=" + (rank + 1)),
                Children.command(Hello.class));
        assertThat(outcomes)
                .allSatisfy(outcome -> assertThat(outcome.text()).contains("USAGE process", "differ in TUTTI_LANES"));
    }

    @Test
    void shouldNameProcessZeroWhenItIsKilledWhileOthersMeetAtIt() throws Exception {
        int port = freePort();
        IntFunction<Map<String, String>> ranks = ranksOf(
                5,
                "TUTTI_RENDEZVOUS=127.0.0.1:" + port,
                "TUTTI_SECRET=" + "0123456789abcdef".repeat(4),
                "TUTTI_JOIN_TIMEOUT=15s");
        List<Process> processes = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            processes.add(children.start(Children.command(Hello.class), ranks.apply(rank)));
        }
        awaitConnections(port, 3, processes);
        // By the time that one more JVM has started, the others have greeted.
        processes.add(children.start(Children.command(Hello.class), ranks.apply(3)));
        awaitConnections(port, 4, processes);
        processes.getFirst().destroyForcibly();
        for (Process survivor : processes.subList(1, 3)) {
            Outcome outcome = Children.await(survivor);
            // Who was still greeting tries again until its time is over.
            assertThat(outcome.text())
                    .matches(
                            "(PEER_FAILED process 0, which keeps the rendezvous at|TIMEOUT .* could not reach process 0).*");
            assertThat(outcome.status()).isEqualTo(3);
        }
    }

    private static void awaitConnections(int port, int number, List<Process> processes) throws IOException {
        while (connectionsTo(port) < number) {
            assertThat(processes).allMatch(Process::isAlive);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** How many clients a server of this host has, by the kernel's table: local address, remote address, state 1. */
    private static long connectionsTo(int port) throws IOException {
        String local = String.format(":%04X ", port);
        try (Stream<String> lines =
                Stream.concat(Files.lines(Path.of("/proc/net/tcp")), Files.lines(Path.of("/proc/net/tcp6")))) {
            return lines.map(line -> line.strip().split(" +"))
                    .filter(fields -> (fields[1] + " ").endsWith(local) && fields[3].equals("01"))
                    .count();
        }
    }

    @Test
    void shouldSayWhereProcessZeroWasExpectedWhenItNeverComes() throws Exception {
        int port = freePort();
        IntFunction<Map<String, String>> ranks = ranksOf(
                2,
                "TUTTI_RENDEZVOUS=127.0.0.1:" + port,
                "TUTTI_SECRET=" + "0123456789abcdef".repeat(4),
                "TUTTI_JOIN_TIMEOUT=500ms");
        Outcome outcome = Children.await(children.start(Children.command(Hello.class), ranks.apply(1)));
        assertThat(outcome.text())
                .startsWith("TIMEOUT process 1 could not reach process 0 at TUTTI_RENDEZVOUS=127.0.0.1:" + port);
        assertThat(outcome.status()).isEqualTo(3);
    }
}
