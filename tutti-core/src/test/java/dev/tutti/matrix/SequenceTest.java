package dev.tutti.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.World;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs through the API: 200 collectives of all kinds on up to three communicators, blocking, started (several at a
 * time) and prepared, back to back, while ranks run at different speeds. {@code -Dtutti.seed} repeats a run.
 */
@Timeout(120)
class SequenceTest {
    private static final int STEPS = 200;
    private static final int MOST_STARTED = 4;
    private static final List<String> ALGORITHMS = List.of(
            "",
            "",
            "one-shot",
            "one-shot-pipelined",
            "two-shot",
            "ring",
            "tree",
            "one-shot-read",
            "two-shot-read",
            "chain",
            "double-tree",
            "pat",
            "bruck",
            "hierarchical");

    /** A cell for each size of communicator that may run it, as halves of an odd number of ranks differ. */
    private record Step(int communicator, List<Cell> cells) {}

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8})
    void shouldGiveExactResultsWhenCallsFollowEachOther(int size) {
        long seed = Long.getLong("tutti.seed", System.nanoTime());
        Sequence sequence = Sequence.of(seed, size);
        System.out.println("sequence: " + sequence);
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        World.Local world = World.local(size).config(sequence.config());
        (sequence.virtual ? world.virtualThreads() : world).run(comm -> sequence.run(comm, wrong));
        assertThat(wrong).as("-Dtutti.seed=" + seed).isEmpty();
    }

    /** All that ranks must know to make the same calls. */
    record Sequence(
            long seed,
            int size,
            String algorithm,
            boolean virtual,
            Setting setting,
            int lanes,
            int communicators,
            List<Step> steps) {
        static Sequence of(long seed, int size) {
            Random random = new Random(seed + size);
            String algorithm = ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
            boolean virtual = random.nextInt(4) == 0;
            Setting setting = Setting.values()[random.nextInt(Setting.values().length)];
            int lanes = 1 + random.nextInt(3);
            int communicators = 1 + random.nextInt(3);
            List<Step> steps = SequenceTest.steps(new Sampler(random.nextLong()), random, communicators, size, virtual);
            return new Sequence(seed, size, algorithm, virtual, setting, lanes, communicators, steps);
        }

        Config config() {
            return setting.apply(Config.fromEnvironment())
                    .with(Config.Key.ALGO, algorithm)
                    .with(Config.Key.LANES, "" + lanes)
                    .with(Config.Key.TIMEOUT, System.getProperty("tutti.matrix.timeout", "20s"));
        }

        void run(Communicator comm, ConcurrentLinkedQueue<String> wrong) {
            SequenceTest.run(comm, communicators, steps, seed, wrong);
        }

        @Override
        public String toString() {
            return "ranks " + size + ", -Dtutti.seed=" + seed + ", algorithm '" + algorithm + "', " + setting + ", "
                    + lanes + " lanes" + (virtual ? ", virtual threads" : "");
        }
    }

    /** Second and third communicator: a duplicate with ranks in reverse, and halves of the ranks. */
    private static int sizeOf(int communicator, int size, int rank) {
        return communicator < 2 ? size : rank % 2 == 0 ? (size + 1) / 2 : size / 2;
    }

    private static List<Step> steps(Sampler sampler, Random random, int communicators, int size, boolean virtual) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            int communicator = random.nextInt(communicators);
            List<Cell> cells = new ArrayList<>();
            for (int ranks : new int[] {sizeOf(communicator, size, 0), sizeOf(communicator, size, 1)}) {
                cells.add(sampler.step(ranks, virtual, random.nextInt(1 << 20)));
            }
            steps.add(new Step(communicator, cells));
        }
        return steps;
    }

    private static void run(
            Communicator world, int communicators, List<Step> steps, long seed, ConcurrentLinkedQueue<String> wrong) {
        SplittableRandom random = new SplittableRandom(seed * 31 + world.rank());
        List<Communicator> all = new ArrayList<>(List.of(world));
        if (communicators > 1) {
            all.add(world.split(0, -world.rank()));
        }
        if (communicators > 2) {
            all.add(world.split(world.rank() % 2, 0));
        }
        ArrayDeque<Trial> started = new ArrayDeque<>();
        try (Memories memories = new Memories(world)) {
            for (int i = 0; i < steps.size(); i++) {
                delay(random);
                Step step = steps.get(i);
                Communicator comm = all.get(step.communicator);
                Cell cell = step.cells.get(step.communicator == 2 ? world.rank() % 2 : 0);
                Trial trial = new Trial(cell, comm, memories);
                if (cell.form() == Form.ASYNC) {
                    trial.start();
                    started.add(trial);
                } else {
                    note(wrong, world, i, cell, trial.run());
                }
                if (started.size() > random.nextInt(MOST_STARTED + 1)) {
                    Trial first = started.remove();
                    note(wrong, world, i, first.cell(), first.finish());
                }
            }
            for (Trial trial : started) {
                note(wrong, world, steps.size(), trial.cell(), trial.finish());
            }
            world.barrier();
        }
    }

    private static void note(
            ConcurrentLinkedQueue<String> wrong, Communicator world, int step, Cell cell, String what) {
        if (what != null) {
            wrong.add("rank " + world.rank() + " before step " + step + ": " + what + " in " + cell);
        }
    }

    private static void delay(SplittableRandom random) {
        int spins = random.nextInt(4) > 0 ? 0 : random.nextInt(1 << random.nextInt(13));
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }
}
