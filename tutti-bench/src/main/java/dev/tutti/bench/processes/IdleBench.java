package dev.tutti.bench.processes;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * What ranks cost that do nothing: processor time, in per cent of one core, of eight processes over ten seconds. Once without Tutti,
 * once with a world in which nobody calls anything, and then with seven ranks that wait for the eighth: in a collective, in a
 * receive, and in a collective that was started and nobody awaits. Arguments: which of {@code jvm idle blocked receiving started}.
 */
public final class IdleBench {
    private static final int RANKS = 8;
    private static final int SETTLE_MILLIS = 8_000;
    private static final int MEASURE_MILLIS = 10_000;
    /** How many names of threads are shown, those that use most. */
    private static final int THREADS = 6;

    private IdleBench() {}

    public static void main(String[] arguments) throws Exception {
        String[] all = {"jvm", "idle", "blocked", "receiving", "started"};
        for (String kind : arguments.length == 0 ? all : arguments) {
            try (RankProcesses ranks = new RankProcesses(RANKS, Rank.class, kind)) {
                Thread.sleep(SETTLE_MILLIS);
                Map<String, Long> before = ranks.nanosByThread();
                Thread.sleep(MEASURE_MILLIS);
                Map<String, Long> used = ranks.nanosByThread();
                before.forEach((thread, nanos) -> used.merge(thread, -nanos, Long::sum));
                System.out.printf(
                        "%-10s %d processes use %.2f %% of a core: %s%n",
                        kind,
                        RANKS,
                        percent(used.values().stream()
                                .mapToLong(Long::longValue)
                                .sum()),
                        used.entrySet().stream()
                                .sorted(Map.Entry.<String, Long>comparingByValue()
                                        .reversed())
                                .limit(THREADS)
                                .map(each -> String.format("%s %.2f", each.getKey(), percent(each.getValue())))
                                .collect(Collectors.joining(", ")));
            }
        }
    }

    private static double percent(long nanos) {
        return nanos / 10_000.0 / MEASURE_MILLIS;
    }

    /** One of the eight. */
    public static final class Rank {
        private Rank() {}

        public static void main(String[] arguments) throws Exception {
            if (!arguments[0].equals("jvm")) {
                Communicator comm = Communicator.fromEnvironment();
                comm.allReduce(new float[] {1}, ReduceOp.SUM);
                comm.barrier();
                if (comm.rank() > 0) {
                    switch (arguments[0]) {
                        case "blocked" -> comm.barrier();
                        case "receiving" -> comm.recv(dev.tutti.Buffer.of(new int[1]), 0, 0);
                        case "started" -> comm.barrierAsync();
                        default -> {}
                    }
                }
            }
            new CountDownLatch(1).await();
        }
    }
}
