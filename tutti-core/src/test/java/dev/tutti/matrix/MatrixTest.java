package dev.tutti.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * All collectives, types, operators, algorithms, placements, sizes and forms. {@code -Dtutti.seed} repeats a run,
 * {@code -Dtutti.matrix.cell} runs one case alone.
 */
class MatrixTest {
    private final long seed = Long.getLong("tutti.seed", System.nanoTime());

    /** A sample in which every pair of values of two axes occurs. */
    @Test
    @Timeout(300)
    void shouldGiveExactResultsWhenValuesOfAllAxesMeet() {
        String alone = System.getProperty("tutti.matrix.cell");
        long start = System.nanoTime();
        Sampler.Sample sample = alone == null ? new Sampler(seed).pairs() : null;
        List<Cell> cells = sample == null ? List.of(Cell.parse(alone)) : sample.cells();
        MatrixRun run =
                new MatrixRun(start + TimeUnit.SECONDS.toNanos(Integer.getInteger("tutti.matrix.seconds", 240)));
        run.run(cells);
        System.out.printf(
                "matrix: seed %d, %,d of %,d cells in %,d worlds, %s pairs of values, %.1f s, %d failures%n",
                seed,
                run.done(),
                cells.size(),
                run.worlds(),
                sample == null ? "-" : String.format("%,d", sample.pairs()),
                (System.nanoTime() - start) / 1e9,
                run.failures().size());
        assertThat(run.failures().stream().limit(20)).as("-Dtutti.seed=" + seed).isEmpty();
    }

    /** What {@code .ci/matrix} runs. */
    @Test
    @EnabledIfSystemProperty(named = "tutti.matrix.minutes", matches = "[0-9.]+")
    void shouldGiveExactResultsWhenAllCellsAreRun() {
        double minutes = Double.parseDouble(System.getProperty("tutti.matrix.minutes"));
        String[] part = System.getProperty("tutti.matrix.part", "1/1").split("/");
        FullMatrix matrix = new FullMatrix(seed, Integer.parseInt(part[0]), Integer.parseInt(part[1]));
        assertThat(matrix.run(minutes).stream().limit(20))
                .as("-Dtutti.seed=" + seed)
                .isEmpty();
    }
}
