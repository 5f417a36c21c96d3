package dev.tutti.processes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.tutti.posix.SharedMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests that start ranks as processes, which meet in a folder of the test's own and leave nothing there. */
abstract class WithChildren {
    final Children children = new Children();

    @TempDir
    Path runtime;

    @BeforeEach
    void needSharedMemory() {
        if (!SharedMemory.isAvailable()) {
            throw skip("no shared memory between processes here: " + SharedMemory.unavailabilityCause());
        }
    }

    @AfterEach
    void shouldLeaveNothingBehind() throws IOException {
        children.close();
        try (Stream<Path> left = Files.list(runtime)) {
            assertThat(left).isEmpty();
        }
    }

    /** Ends a test that cannot run here; never returns. */
    static AssertionError skip(String reason) {
        System.out.println("skipped: " + reason);
        abort(reason);
        return new AssertionError(reason);
    }

    /** An environment of these variables, each {@code NAME=VALUE}. */
    final Map<String, String> variables(String... pairs) {
        Map<String, String> variables = new HashMap<>(Map.of("XDG_RUNTIME_DIR", runtime.toString()));
        for (String pair : pairs) {
            int equals = pair.indexOf('=');
            variables.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
        return variables;
    }

    /** What {@code tutti run} would tell each rank. */
    final IntFunction<Map<String, String>> ranksOf(int size, String... more) {
        return rank -> {
            Map<String, String> variables = variables(more);
            variables.put("TUTTI_RANK", "" + rank);
            variables.put("TUTTI_SIZE", "" + size);
            return variables;
        };
    }
}
