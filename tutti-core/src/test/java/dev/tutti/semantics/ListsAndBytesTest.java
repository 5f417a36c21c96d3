package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.RankBody;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several buffers as one operation; bytes of which only one rank knows how many there are. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ListsAndBytesTest {
    private static final int[] LENGTHS = {5, 0, 1, 3_000, 0, 20_000, 2, 30_000};

    private static List<Guarded> memories(int rank) {
        List<Guarded> memories = new ArrayList<>();
        for (int i = 0; i < LENGTHS.length; i++) {
            Guarded.Placement placement = Guarded.Placement.values()[i % 3];
            Guarded memory = Guarded.of(placement, LENGTHS[i]);
            int buffer = i;
            memory.set(0, LENGTHS[i], k -> value(rank, buffer, k));
            memories.add(memory);
        }
        return memories;
    }

    private static int value(int rank, int buffer, int index) {
        return 1_000_000 * rank + 31 * buffer + index;
    }

    private static List<Buffer> buffers(List<Guarded> memories, int count) {
        return memories.stream().limit(count).map(Guarded::buffer).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void shouldTreatAListAsOneArray(int ranks) {
        TestWorld.of(ranks).run(comm -> {
            for (int count : new int[] {1, 2, 4, LENGTHS.length}) {
                for (int form = 0; form < 3; form++) {
                    allReduce(comm, count, form);
                    broadcast(comm, count, form);
                }
            }
            comm.allReduce(List.of(Buffer.of(new int[0]), Buffer.of(new int[0])), ReduceOp.SUM);
            comm.barrier();
        });
    }

    private static void allReduce(Communicator comm, int count, int form) {
        List<Guarded> memories = memories(comm.rank());
        List<Buffer> buffers = buffers(memories, count);
        switch (form) {
            case 0 -> comm.allReduce(buffers, ReduceOp.SUM);
            case 1 -> comm.allReduceAsync(buffers, ReduceOp.SUM).await();
            default -> comm.prepareAllReduce(buffers, ReduceOp.SUM).run();
        }
        for (int i = 0; i < count; i++) {
            int buffer = i;
            memories.get(i)
                    .assertElements(
                            0,
                            LENGTHS[i],
                            k -> IntStream.range(0, comm.size())
                                    .map(rank -> value(rank, buffer, k))
                                    .sum(),
                            "buffer " + i);
            memories.get(i).assertGuards("buffer " + i);
        }
    }

    private static void broadcast(Communicator comm, int count, int form) {
        int root = count % comm.size();
        List<Guarded> memories = memories(comm.rank());
        List<Buffer> buffers = buffers(memories, count);
        switch (form) {
            case 0 -> comm.broadcast(buffers, root);
            case 1 -> comm.broadcastAsync(buffers, root).await();
            default -> comm.prepareBroadcast(buffers, root).run();
        }
        for (int i = 0; i < count; i++) {
            int buffer = i;
            memories.get(i).assertElements(0, LENGTHS[i], k -> value(root, buffer, k), "buffer " + i);
            memories.get(i).assertGuards("buffer " + i);
        }
    }

    private static byte[] bytes(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed + 7 * i);
        }
        return bytes;
    }

    private static int length(int rank, int round) {
        return round == 0 ? 0 : round == 1 ? rank * 5 : round == 2 ? (rank == 0 ? 100_001 : 0) : 70_000 + rank;
    }

    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "3, false", "3, true", "5, false"})
    void shouldMoveBytesOfUnknownLength(int ranks, boolean virtual) {
        RankBody body = comm -> {
            int rank = comm.rank();
            for (int round = 0; round < 4; round++) {
                int now = round;
                byte[] mine = bytes(length(rank, round), rank);
                byte[] copy = mine.clone();
                List<byte[]> all = new ArrayList<>();
                for (int peer = 0; peer < ranks; peer++) {
                    all.add(bytes(length(peer, now), peer));
                }
                for (int root = 0; root < ranks; root++) {
                    assertThat(comm.broadcastBytes(rank == root ? mine : null, root))
                            .isEqualTo(all.get(root));
                    List<byte[]> gathered = comm.gatherBytes(mine, root);
                    assertSame(gathered, rank == root ? all : List.of());
                    assertThat(comm.scatterBytes(rank == root ? all : null, root))
                            .isEqualTo(all.get(rank));
                }
                assertSame(comm.allGatherBytes(mine), all);
                assertThat(mine).isEqualTo(copy);
            }
        };
        if (virtual) {
            World.local(ranks).virtualThreads().run(body);
        } else {
            TestWorld.of(ranks).run(body);
        }
    }

    private static void assertSame(List<byte[]> actual, List<byte[]> expected) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(Arrays.equals(actual.get(i), expected.get(i)))
                    .as("part %d", i)
                    .isTrue();
        }
    }
}
