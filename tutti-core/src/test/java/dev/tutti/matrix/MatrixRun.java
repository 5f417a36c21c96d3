package dev.tutti.matrix;

import dev.tutti.Config;
import dev.tutti.World;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Runs cells, those that can share a world in one world, one after the other without a barrier between them. */
final class MatrixRun {
    /** A cell that went wrong on some rank. */
    record Failure(Cell cell, int rank, String what) {
        @Override
        public String toString() {
            return "rank " + rank + ": " + what + "\n    -Dtutti.matrix.cell=" + cell;
        }
    }

    /** For planted faults: the first failure is enough. */
    private static final boolean FAIL_FAST = Boolean.getBoolean("tutti.matrix.failfast");

    private static final String TIMEOUT = System.getProperty("tutti.matrix.timeout");

    /** Beyond so many ranks to a core, new code waits for long until a compiler gets a turn. */
    private static final int CROWDED = 8;

    private final ConcurrentLinkedQueue<Failure> failures = new ConcurrentLinkedQueue<>();
    private final long deadlineNanos;
    private int worlds;
    private int done;

    MatrixRun(long deadlineNanos) {
        this.deadlineNanos = deadlineNanos;
    }

    List<Failure> failures() {
        return new ArrayList<>(failures);
    }

    int worlds() {
        return worlds;
    }

    int done() {
        return done;
    }

    /**
     * Runs cells until the deadline.
     *
     * @return those that were run
     */
    List<Cell> run(List<Cell> cells) {
        Map<Cell.WorldKey, List<Cell>> byWorld = new LinkedHashMap<>();
        cells.forEach(cell ->
                byWorld.computeIfAbsent(cell.world(), _ -> new ArrayList<>()).add(cell));
        List<Cell> ran = new ArrayList<>();
        for (Map.Entry<Cell.WorldKey, List<Cell>> group : byWorld.entrySet()) {
            if (System.nanoTime() - deadlineNanos > 0 || (FAIL_FAST && !failures.isEmpty())) {
                break;
            }
            runGroup(group.getKey(), group.getValue());
            ran.addAll(group.getValue());
        }
        done += ran.size();
        return ran;
    }

    private void runGroup(Cell.WorldKey key, List<Cell> cells) {
        int next = 0;
        while (next < cells.size()) {
            next = runFrom(key, cells, next);
        }
    }

    /** Runs cells until one throws, which ends the world; returns where to go on. */
    private int runFrom(Cell.WorldKey key, List<Cell> cells, int first) {
        worlds++;
        AtomicIntegerArray reached = new AtomicIntegerArray(key.ranks());
        World.Local world = World.local(key.ranks()).config(config(key));
        AtomicInteger furthest = new AtomicInteger(first);
        try {
            (key.virtual() ? world.virtualThreads() : world).run(comm -> {
                try (Memories memories = new Memories(comm)) {
                    for (int i = first; i < cells.size(); i++) {
                        reached.set(comm.rank(), i);
                        furthest.accumulateAndGet(i, Math::max);
                        String wrong = new Trial(cells.get(i), comm, memories).run();
                        if (wrong != null) {
                            failures.add(new Failure(cells.get(i), comm.rank(), wrong));
                        }
                    }
                    // A rank that has gone would fail those that are still inside.
                    comm.barrier();
                }
            });
        } catch (RuntimeException | Error thrown) {
            int at = furthest.get();
            for (int rank = 0; rank < key.ranks(); rank++) {
                at = Math.min(at, reached.get(rank));
            }
            failures.add(new Failure(cells.get(at), -1, "" + thrown));
            return furthest.get() + 1;
        }
        return cells.size();
    }

    private static String timeout(int ranks) {
        boolean crowded = ranks > CROWDED * Runtime.getRuntime().availableProcessors();
        return TIMEOUT != null ? TIMEOUT : crowded ? "60s" : "20s";
    }

    static Config config(Cell.WorldKey key) {
        Config config = key.setting()
                .apply(Config.fromEnvironment())
                .with(Config.Key.TIMEOUT, timeout(key.ranks()))
                .with(Config.Key.LANES, "" + key.lanes());
        if (!key.algorithm().equals(Cell.AUTO)) {
            config = config.with(Config.Key.ALGO, key.algorithm()).with(Config.Key.PROTO, key.protocol());
        }
        return config;
    }
}
