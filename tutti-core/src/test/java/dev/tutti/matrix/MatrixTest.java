package dev.tutti.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A sample of all collectives, types, operators, algorithms, placements, sizes and forms in which every pair of values occurs.
 * {@code -Dtutti.seed} repeats a run, {@code -Dtutti.matrix.cell} runs one case alone, {@code .ci/matrix} runs them all.
 */
@Timeout(300)
class MatrixTest {
    @Test
    void shouldGiveExactResultsWhenValuesOfAllAxesMeet() {
        String alone = System.getProperty("tutti.matrix.cell");
        long seed = Long.getLong("tutti.seed", System.nanoTime());
        long start = System.nanoTime();
        Sampler.Sample sample = alone == null ? new Sampler(seed).pairs() : null;
        List<Cell> cells = sample == null ? List.of(Cell.parse(alone)) : sample.cells();
        long drawn = System.nanoTime();
        MatrixRun run = new MatrixRun(start + TimeUnit.SECONDS.toNanos(Integer.getInteger("tutti.matrix.seconds", 240)));
        run.run(cells);
        System.out.printf(
                "matrix: seed %d, %d of %d cells in %d worlds, %s pairs, drawn in %d ms, run in %d ms, %d failures%n",
                seed,
                run.done(),
                cells.size(),
                run.worlds(),
                sample == null ? "-" : sample.pairs(),
                (drawn - start) / 1_000_000,
                (System.nanoTime() - drawn) / 1_000_000,
                run.failures().size());
        assertThat(run.failures().stream().limit(20)).as("-Dtutti.seed=" + seed).isEmpty();
    }
}
