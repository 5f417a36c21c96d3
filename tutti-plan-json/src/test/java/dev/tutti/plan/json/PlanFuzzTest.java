package dev.tutti.plan.json;

import dev.tutti.plan.Plan;
import dev.tutti.plan.verify.Verifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever bytes come: a plan, or an error that says where. What has been read can be judged, in bounded time and memory.
 *
 * <p>{@code .ci/fuzz [minutes]} lets Jazzer look for inputs for which that is not so; this runs those that it ever found.
 */
@Timeout(20)
public class PlanFuzzTest {
    private static final Path FOUND = Path.of("src/test/resources/fuzz");

    /** Plans with more operations take longer than a fuzzer should spend on one input. */
    private static final int MOST_OPERATIONS = 2_000;

    static List<Path> found() throws IOException {
        try (Stream<Path> files = Files.list(FOUND)) {
            return files.sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("found")
    void shouldReadOrExplainWhenGivenAnyBytes(Path input) throws IOException {
        fuzzerTestOneInput(Files.readAllBytes(input));
    }

    /**
     * The entry of the fuzzer.
     *
     * @param bytes anything
     */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Plan plan;
        try {
            plan = PlanFile.parse(bytes);
        } catch (PlanFormatException explained) {
            if (explained.getMessage() == null || explained.getMessage().isBlank()) {
                throw new AssertionError("an error without a text", explained);
            }
            return;
        }
        long operations =
                plan.all().stream().mapToLong(part -> part.operations().count()).sum();
        if (operations <= MOST_OPERATIONS) {
            Verifier.check(plan);
        }
    }
}
