package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads of a rank, on one communicator and on several. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ThreadsTest {
    private static Executor threads(boolean virtual) {
        return task -> (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldServeThreadsOfOneRankOneAfterTheOther(boolean virtual) {
        TestWorld.of(3).run(comm -> {
            AtomicInteger done = new AtomicInteger();
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                threads.add(CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < 100; i++) {
                                // The same call from every thread: whichever comes first on each rank, they fit.
                                int[] values = {1, 2, 3};
                                comm.allReduce(values, ReduceOp.SUM);
                                assertThat(values).containsExactly(3, 6, 9);
                                done.incrementAndGet();
                            }
                        },
                        threads(virtual)));
            }
            threads.forEach(CompletableFuture::join);
            assertThat(done).hasValue(400);
            comm.barrier();
        });
    }

    @ParameterizedTest
    @CsvSource({"2, false", "3, false", "2, true", "4, true"})
    void shouldInterleaveTwoCommunicatorsOfTwoThreads(int ranks, boolean virtual) {
        TestWorld.of(ranks).run(comm -> {
            try (Communicator copy = comm.dup()) {
                CompletableFuture<Void> other = CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < 60; i++) {
                                Exchange.all(copy, 1 + i % 9, i);
                            }
                        },
                        threads(virtual));
                for (int i = 0; i < 60; i++) {
                    Exchange.all(comm, 1 + i % 7, 1_000 + i);
                }
                other.join();
            }
        });
    }

    @Test
    void shouldLetAnyThreadTakeARanksPart() {
        try (World world = World.local(2).open()) {
            Communicator[] comms = {world.communicator(0), world.communicator(1)};
            for (int i = 0; i < 50; i++) {
                int round = i;
                List<CompletableFuture<Void>> parts = new ArrayList<>();
                for (Communicator comm : comms) {
                    parts.add(CompletableFuture.runAsync(() -> Exchange.all(comm, 5, round), threads(round % 2 == 0)));
                }
                parts.forEach(CompletableFuture::join);
            }
        }
    }

    /** What a rank wrote before its call is seen by whoever got data from it, beyond the data itself. */
    @Test
    void shouldMakeEarlierWritesVisible() {
        int rounds = 2_000;
        int[][] plain = new int[3][rounds];
        World.local(3).run(comm -> {
            int[] token = new int[1];
            for (int i = 0; i < rounds; i++) {
                plain[comm.rank()][i] = i + 1;
                switch (i % 4) {
                    case 0 -> comm.barrier();
                    case 1 -> comm.allReduce(token, ReduceOp.SUM);
                    case 2 -> comm.allGather(new int[1], new int[3]);
                    default -> comm.broadcast(token, i % 3);
                }
                for (int peer = 0; peer < 3; peer++) {
                    if (i % 4 != 3 || peer == i % 3) {
                        assertThat(plain[peer][i]).isEqualTo(i + 1);
                    }
                }
            }
        });
    }

    /** On return no peer reads this rank's memory any more: it may be overwritten at once. */
    @ParameterizedTest
    @ValueSource(ints = {3, 3_000, 100_000})
    void shouldLetBuffersBeOverwrittenOnReturn(int count) {
        TestWorld.of(3).run(comm -> {
            int[] in = new int[count];
            int[] out = new int[count];
            for (int i = 0; i < 30; i++) {
                java.util.Arrays.fill(in, i);
                comm.allReduce(in, out, ReduceOp.SUM);
                java.util.Arrays.fill(in, -1);
                assertOnly(out, 3 * i);
                java.util.Arrays.fill(out, comm.rank() == i % 3 ? i : -7);
                comm.broadcast(out, i % 3);
                assertOnly(out, i);
                java.util.Arrays.fill(out, -9);
            }
        });
    }

    private static void assertOnly(int[] values, int expected) {
        for (int value : values) {
            if (value != expected) {
                assertThat(value).isEqualTo(expected);
            }
        }
    }
}
