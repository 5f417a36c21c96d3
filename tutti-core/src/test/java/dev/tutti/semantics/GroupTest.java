package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Group;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations of a group are started together and none waits for another of it. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class GroupTest {
    private static void assertUsage(Throwable thrown) {
        assertThat(thrown).isInstanceOf(TuttiException.class);
        assertThat(((TuttiException) thrown).category()).isEqualTo(TuttiException.Category.USAGE);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void shouldSendInACircle(int ranks) {
        TestWorld.of(ranks).run(comm -> {
            int next = (comm.rank() + 1) % ranks;
            int previous = (comm.rank() + ranks - 1) % ranks;
            for (int count : new int[] {0, 1, 1_000, 300_000}) {
                int[] mine = new int[count];
                java.util.Arrays.fill(mine, comm.rank());
                int[] theirs = new int[count];
                try (Group group = comm.world().group()) {
                    group.send(comm, Buffer.of(mine), next).recv(comm, Buffer.of(theirs), previous);
                }
                for (int value : theirs) {
                    assertThat(value).isEqualTo(previous);
                }
            }
        });
    }

    @Test
    void shouldMixCollectivesAndMessagesOfSeveralCommunicatorsInAnyOrder() {
        TestWorld.of(4).run(comm -> {
            Communicator row = comm.split(comm.rank() / 2, comm.rank());
            Communicator copy = comm.dup();
            boolean even = comm.rank() % 2 == 0;
            for (int i = 0; i < 50; i++) {
                int[] sum = {comm.rank()};
                int[] max = {comm.rank() + i};
                int[] rowSum = {1};
                int[] all = new int[4];
                int[] got = {-1};
                try (Group group = comm.world().group()) {
                    // Each communicator's own order is the same everywhere; across communicators it differs.
                    if (even) {
                        group.allReduce(comm, Buffer.of(sum), Buffer.of(sum), ReduceOp.SUM);
                        group.allReduce(copy, Buffer.of(max), Buffer.of(max), ReduceOp.MAX);
                        group.send(comm, Buffer.of(new int[] {comm.rank()}), comm.rank() + 1, 3);
                        group.allReduce(row, Buffer.of(rowSum), Buffer.of(rowSum), ReduceOp.SUM);
                        group.recv(comm, Buffer.of(got), comm.rank() + 1, 4);
                    } else {
                        group.recv(comm, Buffer.of(got), comm.rank() - 1, 3);
                        group.allReduce(row, Buffer.of(rowSum), Buffer.of(rowSum), ReduceOp.SUM);
                        group.send(comm, Buffer.of(new int[] {comm.rank()}), comm.rank() - 1, 4);
                        group.allReduce(copy, Buffer.of(max), Buffer.of(max), ReduceOp.MAX);
                        group.allReduce(comm, Buffer.of(sum), Buffer.of(sum), ReduceOp.SUM);
                    }
                    group.allGather(comm, Buffer.of(new int[] {comm.rank()}), Buffer.of(all));
                }
                assertThat(sum).containsExactly(6);
                assertThat(max).containsExactly(3 + i);
                assertThat(rowSum).containsExactly(2);
                assertThat(all).containsExactly(0, 1, 2, 3);
                assertThat(got).containsExactly(even ? comm.rank() + 1 : comm.rank() - 1);
            }
        });
    }

    @Test
    void shouldRunEveryKindOfCollective() {
        TestWorld.of(2).run(comm -> {
            int[] broadcast = {comm.rank() + 5};
            int[] reduced = {comm.rank() + 1};
            int[] scattered = new int[1];
            int[] exchanged = new int[2];
            try (Group group = comm.world().group()) {
                group.broadcast(comm, Buffer.of(broadcast), 1)
                        .reduce(comm, Buffer.of(reduced), comm.rank() == 0 ? Buffer.of(reduced) : null, ReduceOp.SUM, 0)
                        .reduceScatter(comm, Buffer.of(new int[] {1, 2}), Buffer.of(scattered), ReduceOp.SUM)
                        .allToAll(comm, Buffer.of(new int[] {comm.rank(), comm.rank()}), Buffer.of(exchanged))
                        .add(comm, comm.prepareBarrier());
            }
            assertThat(broadcast).containsExactly(6);
            assertThat(reduced).containsExactly(comm.rank() == 0 ? 3 : 2);
            assertThat(scattered).containsExactly(comm.rank() == 0 ? 2 : 4);
            assertThat(exchanged).containsExactly(0, 1);
        });
    }

    @Test
    void shouldNest() {
        TestWorld.of(2).run(comm -> {
            int peer = 1 - comm.rank();
            int[] outer = {-1};
            int[] inner = {-1};
            try (Group group = comm.world().group()) {
                group.send(comm, Buffer.of(new int[] {1}), peer, 1).recv(comm, Buffer.of(outer), peer, 1);
                try (Group nested = comm.world().group()) {
                    nested.send(comm, Buffer.of(new int[] {2}), peer, 2).recv(comm, Buffer.of(inner), peer, 2);
                }
                assertThat(inner).containsExactly(2);
                assertThat(outer).containsExactly(-1);
            }
            assertThat(outer).containsExactly(1);
        });
    }

    @Test
    void shouldDoNothingWhenEmpty() {
        TestWorld.of(2).run(comm -> {
            try (Group group = comm.world().group()) {
                assertThat(group).isNotNull();
            }
            Work work = comm.world().group().start();
            assertThat(work.isDone()).isTrue();
            assertThat(work.error()).isNull();
            work.await();
            work.toCompletableFuture().join();
        });
    }

    @Test
    void shouldRunOnceWhenStartedAndThenClosed() {
        TestWorld.of(2).run(comm -> {
            int[] values = {1};
            Group group = comm.world().group();
            group.allReduce(comm, Buffer.of(values), Buffer.of(values), ReduceOp.SUM);
            Work work = group.start();
            assertUsage(thrownBy(group::start));
            assertUsage(thrownBy(() -> group.broadcast(comm, Buffer.of(values), 0)));
            group.close();
            group.close();
            work.await();
            assertThat(work.isDone()).isTrue();
            assertThat(values).containsExactly(2);
        });
    }

    @Test
    void shouldBelongToTheThreadThatMadeIt() throws Exception {
        TestWorld.of(1).run(comm -> {
            Group group = comm.world().group();
            assertUsage(Blocked.in(() -> group.broadcast(comm, Buffer.of(new int[1]), 0))
                    .thrown());
            assertUsage(Blocked.in(group::start).thrown());
            assertUsage(Blocked.in(group::close).thrown());
            group.close();
        });
    }

    @Test
    void shouldStayUsableWhenAnArgumentWasWrong() {
        TestWorld.of(2).run(comm -> {
            int[] values = {1};
            try (Group group = comm.world().group();
                    World other = World.local(1).open()) {
                Communicator stranger = other.communicator(0);
                assertThat(thrownBy(() -> group.broadcast(comm, Buffer.of(values), 2)))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThat(thrownBy(() -> group.send(comm, Buffer.of(values), -1)))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThat(thrownBy(() -> group.recv(comm, Buffer.of(values), 0, -2)))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThat(thrownBy(() -> group.broadcast(stranger, Buffer.of(values), 0)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("another world");
                group.allReduce(comm, Buffer.of(values), Buffer.of(values), ReduceOp.SUM);
            }
            assertThat(values).containsExactly(2);
        });
    }

    /** Half a group would wait for its other half until the deadline, and hold up the exception that says why. */
    @Test
    void shouldNotRunWhenItsLastOperationWasRefused() {
        TestWorld.of(2).run(comm -> {
            int peer = 1 - comm.rank();
            int[] value = {-1};
            Throwable thrown = thrownBy(() -> {
                try (Group group = comm.world().group()) {
                    group.recv(comm, Buffer.of(value), peer);
                    group.send(comm, Buffer.of(value), 2);
                }
                return null;
            });
            assertThat(thrown).isInstanceOf(IllegalArgumentException.class);
            assertUsage(thrown.getSuppressed()[0]);
            comm.sendRecv(Buffer.of(new int[] {comm.rank()}), peer, 0, Buffer.of(value), peer, 0);
            assertThat(value).containsExactly(peer);
        });
    }

    @Test
    void shouldRefuseMemoryOfMessagesWhenItIsAdded() {
        TestWorld.of(1).run(comm -> {
            Group group = comm.world().group();
            try (Arena arena = Arena.ofConfined()) {
                Buffer confined = Buffer.of(arena.allocate(8), DataType.INT8);
                Buffer readOnly = Buffer.of(MemorySegment.ofArray(new byte[8]).asReadOnly(), DataType.INT8);
                assertThat(thrownBy(() -> group.send(comm, confined, 0)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("confined");
                assertThat(thrownBy(() -> group.recv(comm, readOnly, 0)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("read-only");
                byte[] received = new byte[8];
                group.send(comm, readOnly, 0).recv(comm, Buffer.of(received, DataType.INT8), 0);
                group.close();
            }
        });
    }

    @Test
    void shouldWaitForTheRestWhenOneFails() {
        TestWorld.of(2).run(comm -> {
            Communicator good = comm.dup();
            Communicator bad = comm.dup();
            int[] values = {1};
            Group group = comm.world().group();
            group.allReduce(
                    bad, Buffer.of(new int[1 + comm.rank()]), Buffer.of(new int[1 + comm.rank()]), ReduceOp.SUM);
            group.allReduce(good, Buffer.of(values), Buffer.of(values), ReduceOp.SUM);
            Work work = group.start();
            assertThat(thrownBy(() -> {
                        work.await();
                        return null;
                    }))
                    .isInstanceOf(TuttiException.class);
            assertThat(work.isDone()).isTrue();
            assertThat(work.error()).isNotNull();
            assertThat(values).containsExactly(2);
            comm.barrier();
        });
    }
}
