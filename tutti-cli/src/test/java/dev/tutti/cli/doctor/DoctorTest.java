package dev.tutti.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.cuda.Cuda;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

@Timeout(60)
class DoctorTest {
    @Test
    void shouldSayWhichLibraryIsMissingOrWhichVersionIsThere() {
        String report = run();
        assertThat(report).contains("tutti", "java", "vector kernels", "CUDA", "NVRTC", "NVML", "NCCL");
        if (!Cuda.isAvailable()) {
            assertThat(report).contains("no: " + Cuda.unavailabilityCause());
        }
    }

    @Test
    void shouldSayTheSameForPrograms() {
        assertThat(run("--json"))
                .startsWith("{\"tutti\": ")
                .contains("\"devices\": [")
                .endsWith("}\n");
    }

    private static String run(String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int status = new CommandLine(new DoctorCommand(new PrintStream(bytes, true, StandardCharsets.UTF_8)))
                .execute(arguments);
        assertThat(status).isZero();
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
