package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tutti.Buffer;
import dev.tutti.Config;
import dev.tutti.Config.Key;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Argument, then variable, then default; each says where it came from; nothing misspelt goes unnoticed. */
@Timeout(value = 10, unit = TimeUnit.SECONDS)
class ConfigTest {
    @Test
    void shouldPreferCodeToEnvironmentToDefault() {
        Config plain = Config.from(Map.of());
        Config environment = Config.from(Map.of("TUTTI_TIMEOUT", "7s", "PATH", "/bin"));
        Config code = environment.with(Key.TIMEOUT, "9s");
        assertThat(plain.duration(Key.TIMEOUT)).isEqualTo(Duration.ofMinutes(5));
        assertThat(plain.duration(Key.WARN_AFTER)).isEqualTo(Duration.ofSeconds(10));
        assertThat(environment.duration(Key.TIMEOUT)).isEqualTo(Duration.ofSeconds(7));
        assertThat(code.duration(Key.TIMEOUT)).isEqualTo(Duration.ofSeconds(9));
        assertThat(environment.duration(Key.TIMEOUT)).as("unchanged").isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void shouldPrintEachValueAndItsOrigin() {
        Config config = Config.from(Map.of("TUTTI_SCRATCH", "4M")).with(Key.ALGO, "ring");
        assertThat(config.toString().lines().map(line -> line.replaceAll(" +", " ")))
                .hasSize(Key.values().length)
                .contains("TUTTI_TIMEOUT 5m (default)", "TUTTI_SCRATCH 4M (environment)", "TUTTI_ALGO ring (code)");
    }

    @Test
    void shouldRefuseAnUnknownName() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Config.from(Map.of("TUTTI_TIMOUT", "7s", "TUTTI_ALGORITHM", "ring")))
                .withMessageContainingAll("TUTTI_TIMOUT", "TUTTI_ALGORITHM", "TUTTI_TIMEOUT");
        Config.from(Map.of("TUTTI_JAVA_HOME", "/java", "TUTTI_JVM_OPTS", "-ea", "tutti_timeout", "x"));
    }

    @ParameterizedTest
    @CsvSource({
        "TIMEOUT, soon",
        "TIMEOUT, 5",
        "TIMEOUT, 5d",
        "TIMEOUT, s",
        "TIMEOUT, ''",
        "TIMEOUT, -5s",
        "TIMEOUT, 1.5s",
        "TIMEOUT, 9223372036854775807h",
        "WARN_AFTER, 9223372036854775807s",
        "SCRATCH, lots",
        "SCRATCH, -1",
        "SCRATCH, 9999999999G",
        "SCRATCH, 0",
        "PACKETS, 12Q",
        "LANES, ''",
        "LANES, 0",
        "CHANNELS, 0",
        "FIRST_LAUNCH, -3"
    })
    void shouldRefuseABadValueByName(Key key, String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Config.from(Map.of(key.variable(), text)))
                .withMessageContaining(key.variable() + "=" + text)
                .withMessageContaining("environment");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Config.fromEnvironment().with(key, text))
                .withMessageContaining("code");
    }

    @ParameterizedTest
    @CsvSource({"250ms, 250", "3s, 3000", " 2M , 120000", "1h, 3600000", "0s, 0"})
    void shouldReadDurations(String text, long millis) {
        assertThat(Config.from(Map.of("TUTTI_TIMEOUT", text)).duration(Key.TIMEOUT))
                .hasMillis(millis);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "3k, 3072", "2M, 2097152", "1G, 1073741824"})
    void shouldReadSizes(String text, long bytes) {
        assertThat(Config.from(Map.of("TUTTI_SCRATCH", text)).number(Key.SCRATCH))
                .isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LANES=3",
                "CHANNELS=1",
                "SCRATCH=64K",
                "PACKETS=8K",
                "ALGO=ring",
                "ALGO=tree",
                "PROTO=simple",
                "PROTO=packet"
            })
    void shouldRunWithWhatIsSet(String setting) {
        String[] parts = setting.split("=");
        Config config = Config.fromEnvironment().with(Key.valueOf(parts[0]), parts[1]);
        World.local(3).config(config).run(comm -> {
            assertThat(comm.world().config()).isSameAs(config);
            int[] values = {1, 2};
            comm.allReduce(values, ReduceOp.SUM);
            assertThat(values).containsExactly(3, 6);
            Exchange.all(comm, 3, 11);
            Exchange.all(comm, 2_000, 12);
            Exchange.all(comm, 20_000, 13);
            // Not every algorithm can do with counts: there another one runs.
            long[] counts = {1, 1, 1};
            comm.gatherV(Buffer.of(values, 0, 1), Buffer.of(new int[3]), counts, null, 0);
            comm.scatterV(Buffer.of(new int[3]), counts, null, Buffer.of(values, 0, 1), 0);
            comm.allToAllV(Buffer.of(new int[3]), counts, null, Buffer.of(new int[3]), counts, null);
            comm.barrier();
        });
    }

    @Test
    void shouldRefuseAlgorithmThatNobodyHasWhenWorldIsMade() {
        Config misspelt = Config.from(Map.of()).with(Config.Key.ALGO, "rnig");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> World.local(2).config(misspelt).open())
                .withMessageContainingAll("rnig", "ring");
    }

    @Test
    void shouldBeInTheReadmeWhenItIsASetting() throws IOException {
        assertThat(Files.readString(Path.of("..", "README.md")))
                .contains(Arrays.stream(Config.Key.values())
                        .map(key -> "`" + key.variable() + "`")
                        .toList());
    }
}
