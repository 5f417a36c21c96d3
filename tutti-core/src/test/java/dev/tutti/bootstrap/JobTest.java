package dev.tutti.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.health.ProcessId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who a process is, by the variables of each launcher. */
@Timeout(30)
class JobTest {
    private static final String SECRET = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    private static Map<String, String> environment(String text) {
        Map<String, String> all = new HashMap<>();
        for (String pair : text.strip().split("\\s+")) {
            int equals = pair.indexOf('=');
            all.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
        return all;
    }

    private static Job job(String text) {
        return Job.from(environment(text), ProcessId::self);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            TUTTI_RANK=2 TUTTI_SIZE=4                                                          | tutti run  | 2 | 4
            RANK=1 WORLD_SIZE=3 LOCAL_WORLD_SIZE=3 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=x     | torchrun   | 1 | 3
            RANK=1 WORLD_SIZE=3 MASTER_ADDR=localhost MASTER_PORT=29500                        | torchrun   | 1 | 3
            OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_RANK=0 | Open MPI | 0 | 2
            PMI_RANK=3 PMI_SIZE=4 MPI_LOCALNRANKS=4 MPI_LOCALRANKID=3 PMI_FD=6                 | MPICH or another PMI | 3 | 4
            SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NNODES=1 SLURM_JOB_ID=7 SLURM_STEP_ID=0        | Slurm      | 1 | 2
            SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=9 SLURM_STEP_NUM_NODES=1 SLURM_NNODES=3 SLURM_STEP_ID=0 | Slurm | 1 | 2
            SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_NNODES=1 SLURM_JOB_ID=7                        | nobody     | 0 | 1
            SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_NNODES=1 SLURM_JOB_ID=7 SLURM_STEP_ID=batch    | nobody     | 0 | 1
            SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_STEP_ID=0 SLURM_NNODES=1 RANK=3 WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 | torchrun | 3 | 4
            PMI_RANK=1 PMI_SIZE=2 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NNODES=1 SLURM_STEP_ID=0 | MPICH or another PMI | 1 | 2
            JOB_COMPLETION_INDEX=0 TUTTI_SIZE=1                                                | a Kubernetes indexed job | 0 | 1
            TUTTI_RANK=0 TUTTI_SIZE=1 OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6            | tutti run  | 0 | 1
            RANK=5 HOME=/root                                                                  | nobody     | 0 | 1
            WORLD_SIZE=5 HOME=/root                                                            | nobody     | 0 | 1
            HOME=/root                                                                         | nobody     | 0 | 1
            """)
    void shouldSayWhoThisIsWhenALauncherHasLeftItsVariables(String text, String launcher, int process, int processes) {
        Job job = job(text);
        assertThat(job.launcher()).isEqualTo(launcher);
        assertThat(job.process()).isEqualTo(process);
        assertThat(job.processes()).isEqualTo(processes);
        if (processes == 1) {
            assertThat(job.venue()).isInstanceOf(Venue.Alone.class);
        } else {
            assertThat(job.venue()).isInstanceOf(Venue.Folder.class);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            TUTTI_RANK=2                                          | TUTTI_SIZE is missing
            TUTTI_SIZE=2                                          | TUTTI_RANK is missing
            TUTTI_RANK=2 TUTTI_SIZE=2                             | TUTTI_RANK=2 must be in 0..1, as TUTTI_SIZE=2
            TUTTI_RANK=-1 TUTTI_SIZE=2                            | TUTTI_RANK=-1 must be in 0..1
            TUTTI_RANK=x TUTTI_SIZE=2                             | TUTTI_RANK='x' is no number
            TUTTI_RANK=0 TUTTI_SIZE=0                             | TUTTI_SIZE=0 must be in 1..65535
            RANK=1 WORLD_SIZE=two                                 | WORLD_SIZE='two' is no number (torchrun)
            OMPI_COMM_WORLD_RANK=1                                | OMPI_COMM_WORLD_SIZE is missing
            PMI_RANK=1                                            | PMI_SIZE is missing
            SLURM_PROCID=1 SLURM_STEP_ID=0                        | SLURM_STEP_NUM_TASKS is missing
            JOB_COMPLETION_INDEX=1                                | TUTTI_SIZE is missing, and JOB_COMPLETION_INDEX is set
            JOB_COMPLETION_INDEX=1 TUTTI_SIZE=2                   | on several hosts: set TUTTI_RENDEZVOUS=HOST:PORT
            RANK=1 WORLD_SIZE=4 LOCAL_WORLD_SIZE=2                | on several hosts: set TUTTI_RENDEZVOUS=HOST:PORT
            OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=2 | on several hosts
            SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_NNODES=2 SLURM_STEP_ID=0 | on several hosts
            PMI_RANK=1 PMI_SIZE=4 MPI_LOCALNRANKS=2               | on several hosts
            RANK=1 WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 | two launchers disagree about this process: RANK=1 of WORLD_SIZE=4 (torchrun), OMPI_COMM_WORLD_RANK=1 of OMPI_COMM_WORLD_SIZE=2
            TUTTI_RANK=0 TUTTI_SIZE=2 TUTTI_RENDEZVOUS=h:1        | needs a secret: set TUTTI_SECRET
            TUTTI_RANK=0 TUTTI_SIZE=2 TUTTI_RENDEZVOUS=h:1 TUTTI_SECRET=abc | TUTTI_SECRET must be 64 hexadecimal digits
            TUTTI_RANK=0 TUTTI_SIZE=2 TUTTI_RENDEZVOUS=file:a/b   | must name an absolute path
            TUTTI_RANK=0 TUTTI_SIZE=2 TUTTI_LAUNCHER=abc          | TUTTI_LAUNCHER: expected PID:START
            """)
    void shouldNameTheVariableWhenItIsBroken(String text, String message) {
        assertThatThrownBy(() -> job(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({"host:29400,host,29400", "tcp:host:29400,host,29400", "[::1]:7,::1,7", "10.0.0.1:65535,10.0.0.1,65535"})
    void shouldMeetAtAServerWhenOneIsNamed(String address, String host, int port) {
        Job job = job("RANK=1 WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 TUTTI_RENDEZVOUS=" + address + " TUTTI_SECRET=" + SECRET);
        assertThat(job.venue()).isInstanceOfSatisfying(Venue.Server.class, server -> {
            assertThat(server.host()).isEqualTo(host);
            assertThat(server.port()).isEqualTo(port);
            assertThat(server.secret().toHex()).isEqualTo(SECRET);
        });
        assertThat(job.toString()).doesNotContain(SECRET);
    }

    @ParameterizedTest
    @CsvSource({"host", "host:", ":5", "host:0", "host:65536", "host:x", "unix:/a"})
    void shouldRefuseWhenAnAddressIsMalformed(String address) {
        assertThatThrownBy(
                        () -> job("TUTTI_RANK=0 TUTTI_SIZE=2 TUTTI_RENDEZVOUS=" + address + " TUTTI_SECRET=" + SECRET))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be HOST:PORT");
    }

    @Test
    void shouldNeverUseMasterPort() {
        assertThatThrownBy(() ->
                        job("RANK=1 WORLD_SIZE=4 MASTER_PORT=29500 TUTTI_RENDEZVOUS=h:29500 TUTTI_SECRET=" + SECRET))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("MASTER_PORT");
    }

    @Test
    void shouldReadTheSecretFromAFileThatOthersCannotWrite(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("secret");
        Files.writeString(file, SECRET + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        String text = "TUTTI_RANK=0 TUTTI_SIZE=2 TUTTI_RENDEZVOUS=h:1 TUTTI_SECRET_FILE=" + file;
        assertThat(((Venue.Server) job(text).venue()).secret().toHex()).isEqualTo(SECRET);
        assertThatThrownBy(() -> job(text + " TUTTI_SECRET=" + SECRET)).hasMessageContaining("both set");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThatThrownBy(() -> job(text)).hasMessageContaining("can be written by others");
        Files.delete(file);
        assertThatThrownBy(() -> job(text)).hasMessageContaining("cannot be read");
    }

    @Test
    void shouldHaveTheSameIdInAllProcessesOfAJobAndAnotherInTheNext() {
        String first = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=1 OMPI_COMM_WORLD_RANK=";
        String second = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=2 OMPI_COMM_WORLD_RANK=";
        assertThat(job(first + 0).id())
                .isEqualTo(job(first + 1).id())
                .isNotEqualTo(job(second + 0).id());
        // Whoever started us has no such variable, and is part of the name.
        assertThat(job(first + 0).id())
                .endsWith(ProcessId.self().parent().map(ProcessId::toString).orElse(""));
        assertThat(job("PMI_RANK=0 PMI_SIZE=2 TUTTI_JOB=mine").id()).isEqualTo("TUTTI_JOB mine");
    }
}
