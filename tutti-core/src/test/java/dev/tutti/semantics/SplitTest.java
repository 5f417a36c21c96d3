package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.AbortedException;
import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Communicators of some of the ranks: colours, keys, names, and no mixing up. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class SplitTest {
    /** The world ranks of a communicator's members, in its order. */
    private static int[] members(Communicator comm, int worldRank) {
        int[] all = new int[comm.size()];
        comm.allGather(new int[] {worldRank}, all);
        return all;
    }

    @Test
    void shouldGroupByColourAndOrderByKeyThenRank() {
        TestWorld.of(7).run(comm -> {
            int rank = comm.rank();
            Communicator part = comm.split(rank % 3, rank);
            assertThat(members(part, rank))
                    .containsExactly(rank % 3 == 0 ? new int[] {0, 3, 6} : new int[] {rank % 3, rank % 3 + 3});
            Communicator backwards = comm.split(5, -rank);
            assertThat(members(backwards, rank)).containsExactly(6, 5, 4, 3, 2, 1, 0);
            assertThat(backwards.rank()).isEqualTo(6 - rank);
            Communicator equal = comm.split(Integer.MAX_VALUE, 42);
            assertThat(members(equal, rank)).containsExactly(0, 1, 2, 3, 4, 5, 6);
            Communicator extreme = comm.split(0, rank % 2 == 0 ? Integer.MIN_VALUE : Integer.MAX_VALUE);
            assertThat(members(extreme, rank)).containsExactly(0, 2, 4, 6, 1, 3, 5);
            Communicator alone = comm.split(rank, 0);
            assertThat(alone.size()).isEqualTo(1);
            Exchange.all(alone, 4, rank);
            Exchange.all(part, 4, 3);
            Exchange.all(backwards, 4, 4);
            Exchange.all(comm, 4, 5);
        });
    }

    @Test
    void shouldGiveUpOnASplitWhenTheParentIsAborted() {
        Outcomes outcomes = Outcomes.of(2, comm -> {
            if (comm.rank() == 0) {
                comm.split(0, 0);
            } else {
                // What a split says first, and nothing after it: ranks of other processes wait for this one's memory.
                comm.allGather(new long[] {0, 0}, new long[4]);
                comm.abort("enough");
            }
            comm.barrier();
        });
        outcomes.assertAll(AbortedException.class, "rank 1 gave up on 'world': enough");
    }

    @Test
    void shouldLeaveOutRanksWithoutColour() {
        TestWorld.of(5).run(comm -> {
            int rank = comm.rank();
            Optional<Communicator> odd = comm.splitOptional(rank % 2 == 1 ? 0 : Communicator.NO_COLOR, 0);
            assertThat(odd.isPresent()).isEqualTo(rank % 2 == 1);
            odd.ifPresent(part -> assertThat(members(part, rank)).containsExactly(1, 3));
            assertThat(comm.splitOptional(Communicator.NO_COLOR, 0)).isEmpty();
            // Numbers of splits stay in step on those who were left out.
            assertThat(members(comm.split(0, 0), rank)).containsExactly(0, 1, 2, 3, 4);
        });
    }

    @Test
    void shouldNest() {
        World.local(8).named("w").run(comm -> {
            Communicator half = comm.split(comm.rank() / 4, comm.rank());
            Communicator quarter = half.split(half.rank() / 2, half.rank());
            Communicator pair = quarter.dup();
            assertThat(half.name()).isEqualTo("w/0." + comm.rank() / 4);
            assertThat(quarter.name()).isEqualTo(half.name() + "/0." + half.rank() / 2);
            assertThat(pair.name()).isEqualTo(quarter.name() + "/0.0");
            assertThat(pair.toString()).contains(pair.name(), "rank " + pair.rank() + " of 2");
            int[] sum = {comm.rank()};
            pair.allReduce(sum, ReduceOp.SUM);
            assertThat(sum).containsExactly(comm.rank() / 2 * 4 + 1);
            half.close();
            Exchange.all(quarter, 7, 1);
            Exchange.all(comm, 7, 2);
        });
    }

    @Test
    void shouldKeepCommunicatorsApartWhenSplitsHappenInDifferentOrder() {
        for (int i = 0; i < 30; i++) {
            TestWorld.of(3).run(comm -> {
                Communicator first = comm.dup();
                Communicator second = comm.split(0, -comm.rank());
                // The next split of both has the same number.
                first.dup().close();
                first.dup().close();
                // Each rank splits its communicators on threads of their own, so that the splits cross on their way.
                List<Communicator> parents = List.of(comm, first, second);
                List<CompletableFuture<Communicator>> children = parents.stream()
                        .map(parent -> CompletableFuture.supplyAsync(
                                () -> parent.split(0, parent.rank()), Thread::startVirtualThread))
                        .toList();
                for (int k = 0; k < parents.size(); k++) {
                    Communicator child = children.get((k + comm.rank()) % 3).join();
                    Communicator parent = parents.get((k + comm.rank()) % 3);
                    assertThat(child.name()).startsWith(parent.name() + "/");
                }
                for (int k = 0; k < parents.size(); k++) {
                    int[] all = new int[3];
                    children.get(k).join().allGather(new int[] {comm.rank() + 10 * k}, all);
                    assertThat(all)
                            .containsExactly(
                                    k == 2 ? new int[] {22, 21, 20} : new int[] {10 * k, 10 * k + 1, 10 * k + 2});
                }
            });
        }
    }

    @Test
    void shouldFailApart() {
        TestWorld.of(2).run(comm -> {
            Communicator copy = comm.dup();
            comm.barrier();
            copy.abort("only this one");
            Exchange.all(comm, 3, 1);
            Communicator another = comm.dup();
            Exchange.all(another, 3, 1);
        });
    }

    @Test
    void shouldSplitManyTimes() {
        TestWorld.of(3).run(comm -> {
            for (int i = 0; i < 300; i++) {
                try (Communicator part = comm.split(comm.rank() == 2 ? 1 : 0, i)) {
                    assertThat(part.size()).isEqualTo(comm.rank() == 2 ? 1 : 2);
                    part.barrier();
                }
            }
        });
    }
}
