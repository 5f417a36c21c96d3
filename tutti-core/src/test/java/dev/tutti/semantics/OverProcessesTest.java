package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.MessagesFailureTest;
import dev.tutti.MessagesTest;
import dev.tutti.processes.TestProcesses;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tests of what ranks are told, of messages, of forms and of memory, once more with ranks that are processes. */
@EnabledOnOs(OS.LINUX)
@Timeout(240)
class OverProcessesTest {
    private static final List<Class<?>> TOLD = List.of(
            MismatchTest.class,
            CountsMismatchTest.class,
            RootMismatchTest.class,
            TimeoutTest.class,
            InterruptTest.class,
            StatesTest.class,
            FactsTest.class,
            SplitTest.class,
            MessagesTest.class,
            MessageTypesTest.class,
            MessagesFailureTest.class);

    private static final List<Class<?>> DONE = List.of(
            StartedTest.class,
            GroupTest.class,
            ThreadsTest.class,
            PlacementTest.class,
            ListsAndBytesTest.class,
            MemorySafetyTest.class,
            OverlapTest.class,
            WindowTest.class);

    private static final Duration LIMIT = Duration.ofSeconds(200);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldTellAllRanksTheSameWhenTheyAreProcesses(int processes) throws Exception {
        run(processes, TOLD);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldDoTheSameWhenRanksAreProcesses(int processes) throws Exception {
        run(processes, DONE);
    }

    private void run(int processes, List<Class<?>> classes) throws Exception {
        TestProcesses.Result result = TestProcesses.run(folder, processes, LIMIT, classes);
        assertThat(result.complaints()).isEmpty();
        System.out.println(result.succeeded() + " tests in " + processes + " processes");
        assertThat(result.succeeded()).isGreaterThan(classes.size());
    }
}
