package dev.tutti;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tutti.transport.shm.MeetingPoint;
import dev.tutti.transport.shm.ShmTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks that reach each other through shared memory only: each transport has mappings of its own, as a process would. */
@Timeout(60)
class SharedMemoryWorldTest {
    private static final long TIMEOUT_NANOS = 20_000_000_000L;

    /** Runs a body on every rank of a world of {@code processes} transports with {@code ranksEach}. */
    static void run(int processes, int ranksEach, RankBody body) throws Exception {
        MeetingPoint meeting = new MeetingPoint();
        int size = processes * ranksEach;
        Config config = Config.from(Map.of());
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<World>> worlds = new ArrayList<>();
            for (int process = 0; process < processes; process++) {
                int[] local = new int[ranksEach];
                for (int i = 0; i < ranksEach; i++) {
                    local[i] = process * ranksEach + i;
                }
                worlds.add(threads.submit(() ->
                        new World(size, "shared", config, ShmTransport.open(size, local, meeting, TIMEOUT_NANOS))));
            }
            List<Future<?>> ranks = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                World world = worlds.get(rank / ranksEach).get();
                int number = rank;
                ranks.add(threads.submit((Callable<Void>) () -> {
                    try (Communicator comm = world.communicator(number)) {
                        body.run(comm);
                    }
                    return null;
                }));
            }
            try {
                for (Future<?> each : ranks) {
                    each.get();
                }
            } catch (ExecutionException failed) {
                throw failed.getCause() instanceof Exception cause ? cause : failed;
            } finally {
                for (Future<World> world : worlds) {
                    world.get().close();
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"2,1", "4,1", "2,2", "1,3", "3,2"})
    void shouldReduceGatherAndSendWhenRanksAreApart(int processes, int ranksEach) throws Exception {
        run(processes, ranksEach, comm -> {
            int n = comm.size();
            for (int count : new int[] {1, 7, 1000, 300_000}) {
                double[] data = new double[count];
                java.util.Arrays.fill(data, comm.rank() + 1);
                comm.allReduce(data, ReduceOp.SUM);
                double[] expected = new double[count];
                java.util.Arrays.fill(expected, n * (n + 1) / 2.0);
                assertArrayEquals(expected, data);
                long[] all = new long[n];
                comm.allGather(new long[] {comm.rank() * 10L + count}, all);
                for (int peer = 0; peer < n; peer++) {
                    assertEquals(peer * 10L + count, all[peer]);
                }
            }
            for (int count : new int[] {3, 200_000}) {
                int[] mine = new int[count];
                java.util.Arrays.fill(mine, comm.rank());
                int[] theirs = new int[count];
                comm.sendRecv(Buffer.of(mine), (comm.rank() + 1) % n, 5, Buffer.of(theirs), Communicator.ANY_SOURCE, 5);
                int[] expected = new int[count];
                java.util.Arrays.fill(expected, (comm.rank() + n - 1) % n);
                assertArrayEquals(expected, theirs);
            }
            try (Communicator half = comm.split(comm.rank() % 2, 0)) {
                int[] sum = {1};
                half.allReduce(sum, ReduceOp.SUM);
                assertEquals(half.size(), sum[0]);
            }
            comm.barrier();
        });
    }
}
