package dev.tutti.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Config;
import dev.tutti.processes.ProcessWorld;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A part of the matrix, and sequences of calls, on ranks that are processes. {@code -Dtutti.seed} repeats a run. */
@EnabledOnOs(OS.LINUX)
@Timeout(240)
class OverProcessesTest {
    private static final int MOST_WORLDS = 30;
    private static final int MOST_OF_A_WORLD = 3;
    private static final Duration LIMIT = Duration.ofSeconds(100);

    private static final long SEED = Long.getLong("tutti.seed", System.nanoTime());
    private static Sampler.Sample sample;

    @TempDir
    Path folder;

    private static synchronized Sampler.Sample sample() {
        if (sample == null) {
            sample = new Sampler(SEED).pairs();
        }
        return sample;
    }

    @ParameterizedTest
    @CsvSource({"2,1", "3,1", "2,2"})
    void shouldGiveExactResultsWhenRanksAreProcesses(int processes, int ranksEach) throws Exception {
        Map<Cell.WorldKey, List<Cell>> byWorld = new LinkedHashMap<>();
        sample().cells().stream()
                .filter(cell ->
                        cell.ranks() == processes * ranksEach && !cell.world().virtual())
                .forEach(cell -> byWorld.computeIfAbsent(cell.world(), key -> new ArrayList<>())
                        .add(cell));
        // Those drawn first have the first routes.
        List<List<Cell>> worlds = new ArrayList<>(byWorld.values());
        Collections.shuffle(worlds, new Random(SEED));
        List<Cell> cells = worlds.stream()
                .limit(MOST_WORLDS)
                .flatMap(world -> world.stream().limit(MOST_OF_A_WORLD))
                .toList();
        System.out.printf(
                "matrix over processes: -Dtutti.seed=%d, %d processes with %d ranks each, %d cells in %d worlds%n",
                SEED, processes, ranksEach, cells.size(), Math.min(MOST_WORLDS, worlds.size()));
        assertThat(cells).isNotEmpty();
        Path list = folder.resolve("cells");
        Files.write(list, cells.stream().map(Cell::toString).toList());
        assertThat(ProcessWorld.run(
                        options(processes), CellsProgram.class, processes, ranksEach, LIMIT, list.toString()))
                .as("-Dtutti.seed=" + SEED)
                .isEmpty();
    }

    /** Where there is no core for each, the compilers would take them from the ranks. */
    private static List<String> options(int processes) {
        return processes > Runtime.getRuntime().availableProcessors() ? List.of(ProcessWorld.QUICKLY) : List.of();
    }

    /** Runs cells; those of one world one after the other without a barrier between them. */
    public static final class CellsProgram implements ProcessWorld.Program {
        @Override
        public String run(int ranksHere, String[] arguments) throws Exception {
            Map<Cell.WorldKey, List<Cell>> byWorld = new LinkedHashMap<>();
            for (String line : Files.readAllLines(Path.of(arguments[0]))) {
                Cell cell = Cell.parse(line);
                byWorld.computeIfAbsent(cell.world(), key -> new ArrayList<>()).add(cell);
            }
            ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
            byWorld.forEach((key, cells) -> ProcessWorld.join(ranksHere, MatrixRun.config(key), comm -> {
                try (Memories memories = new Memories(comm)) {
                    for (Cell cell : cells) {
                        String said = new Trial(cell, comm, memories).run();
                        if (said != null) {
                            wrong.add("rank " + comm.rank() + ": " + said + "\n    " + cell);
                        }
                    }
                    comm.barrier();
                }
            }));
            return wrong.isEmpty() ? null : String.join("\n", wrong);
        }
    }

    @Test
    void shouldGiveExactResultsWhenCallsFollowEachOtherInProcesses() throws Exception {
        System.out.println("sequences over processes: -Dtutti.seed=" + SEED);
        for (int processes : new int[] {2, 3}) {
            assertThat(ProcessWorld.run(
                            options(processes), SequenceProgram.class, processes, 1, LIMIT, "" + SEED, "" + processes))
                    .as("-Dtutti.seed=" + SEED)
                    .isEmpty();
        }
    }

    /** What eight ranks with a core each do differs from what they do where they share cores: these processes take the machine for one of sixteen. */
    @Test
    void shouldGiveExactResultsWhenEachOfManyRanksSeemsToHaveACore() throws Exception {
        System.out.println("sequence with many cores: -Dtutti.seed=" + SEED);
        List<String> options = List.of("-XX:ActiveProcessorCount=16", ProcessWorld.QUICKLY);
        assertThat(ProcessWorld.run(options, SequenceProgram.class, 2, 4, LIMIT, "" + SEED, "8", ""))
                .as("-Dtutti.seed=" + SEED)
                .isEmpty();
    }

    /** A sequence; each seed has its own settings. The algorithm may be given. */
    public static final class SequenceProgram implements ProcessWorld.Program {
        @Override
        public String run(int ranksHere, String[] arguments) {
            ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
            SequenceTest.Sequence sequence =
                    SequenceTest.Sequence.of(Long.parseLong(arguments[0]), Integer.parseInt(arguments[1]));
            Config config =
                    arguments.length > 2 ? sequence.config().with(Config.Key.ALGO, arguments[2]) : sequence.config();
            ProcessWorld.join(ranksHere, config, comm -> sequence.run(comm, wrong));
            return wrong.isEmpty() ? null : String.join("\n", wrong);
        }
    }
}
