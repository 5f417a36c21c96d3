package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.MismatchException;
import dev.tutti.RankBody;
import dev.tutti.ReduceOp;
import dev.tutti.ResultWork;
import dev.tutti.TuttiException;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
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
                assertSame(comm.allToAllBytes(outgoing(rank, ranks, now)), incoming(rank, ranks, now));
                assertThat(mine).isEqualTo(copy);
            }
        };
        if (virtual) {
            World.local(ranks).virtualThreads().run(body);
        } else {
            TestWorld.of(ranks).run(body);
        }
    }

    private static List<byte[]> outgoing(int rank, int ranks, int round) {
        return IntStream.range(0, ranks)
                .mapToObj(peer -> bytes(length(peer, round) + rank, 10 * rank + peer))
                .toList();
    }

    private static List<byte[]> incoming(int rank, int ranks, int round) {
        return IntStream.range(0, ranks)
                .mapToObj(peer -> bytes(length(rank, round) + peer, 10 * peer + rank))
                .toList();
    }

    /** Each rank awaits in an order of its own, so that lengths become known at different moments on each. */
    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "3, false", "3, true", "5, false"})
    void shouldKeepLengthsAndBytesTogetherWhenMoreIsStarted(int ranks, boolean virtual) {
        RankBody body = comm -> {
            int rank = comm.rank();
            for (int round = 0; round < 12; round++) {
                int now = round % 4;
                int root = round % ranks;
                List<byte[]> all = IntStream.range(0, ranks)
                        .mapToObj(peer -> bytes(length(peer, now), peer))
                        .toList();
                byte[] mine = all.get(rank);
                int[] sum = {rank};
                ResultWork<byte[]> sent = comm.broadcastBytesAsync(rank == root ? mine : null, root);
                Work reduced = comm.allReduceAsync(Buffer.of(sum), ReduceOp.SUM);
                ResultWork<List<byte[]>> gathered = comm.gatherBytesAsync(mine, root);
                ResultWork<byte[]> scattered = comm.scatterBytesAsync(rank == root ? all : null, root);
                ResultWork<List<byte[]>> everybodys = comm.allGatherBytesAsync(mine);
                ResultWork<List<byte[]>> exchanged = comm.allToAllBytesAsync(outgoing(rank, ranks, now));
                List<Work> works = new ArrayList<>(List.of(sent, reduced, gathered, scattered, everybodys, exchanged));
                Collections.shuffle(works, new Random(31L * round + rank));
                if ((round + rank) % 2 == 0) {
                    // One of its calls waits for all that was started before.
                    comm.barrier();
                    works.forEach(Work::await);
                } else {
                    works.forEach(Work::await);
                    comm.barrier();
                }
                assertThat(sum[0]).isEqualTo(ranks * (ranks - 1) / 2);
                assertThat(sent.result()).isEqualTo(all.get(root)).isSameAs(sent.result());
                assertSame(gathered.result(), rank == root ? all : List.of());
                assertThat(scattered.result()).isEqualTo(mine);
                assertSame(everybodys.result(), all);
                assertSame(exchanged.result(), incoming(rank, ranks, now));
            }
        };
        if (virtual) {
            World.local(ranks).virtualThreads().run(body);
        } else {
            TestWorld.of(ranks).run(body);
        }
    }

    @Test
    void shouldGiveNoResultWhenItIsNotOverOrHasFailed() {
        TestWorld.Latch asked = TestWorld.latch(1);
        TestWorld.of(2).run(comm -> {
            if (comm.rank() == 0) {
                ResultWork<List<byte[]>> work = comm.allGatherBytesAsync(new byte[3]);
                assertThatThrownBy(work::result)
                        .isInstanceOf(TuttiException.class)
                        .hasMessageContaining("await");
                asked.countDown();
                work.await();
                assertThat(work.result()).hasSize(2);
            } else {
                asked.await();
                comm.allGatherBytes(new byte[5]);
            }
            ResultWork<?> wrong =
                    comm.rank() == 0 ? comm.allGatherBytesAsync(new byte[3]) : comm.gatherBytesAsync(new byte[3], 0);
            assertThatThrownBy(wrong::await).isInstanceOf(MismatchException.class);
            assertThatThrownBy(wrong::result).isInstanceOf(MismatchException.class);
        });
    }

    @Test
    void shouldRefuseAtTheCallWhenPartsAreMissing() {
        TestWorld.of(2).run(comm -> {
            assertThatThrownBy(() -> comm.allToAllBytesAsync(List.of(new byte[1])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("2 parts");
            if (comm.rank() == 0) {
                assertThatThrownBy(() -> comm.scatterBytesAsync(null, 0))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("the root needs 2 parts");
                assertThatThrownBy(() -> comm.broadcastBytesAsync(null, 0))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThat(comm.allGatherBytes(new byte[1])).hasSize(2);
        });
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
