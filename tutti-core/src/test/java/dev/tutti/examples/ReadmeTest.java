package dev.tutti.examples;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Group;
import dev.tutti.Prepared;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The programs of the README and of the API's Javadoc, run as they stand there. */
@Timeout(30)
class ReadmeTest {
    @Test
    void shouldAddRanksWhenEightAllReduce() {
        List<Float> sums = World.local(8).call(comm -> {
            float[] x = {comm.rank()};
            comm.allReduce(x, ReduceOp.SUM); // 28.0 on every rank
            return x[0];
        });
        assertThat(sums).hasSize(8).containsOnly(28f);
    }

    @Test
    void shouldRunTheFirstProgram() {
        World.local(4).run(comm -> {
            // any memory: arrays, parts of arrays, segments, or memory of Tutti's own
            Buffer gradients = comm.allocate(DataType.BFLOAT16, 1 << 20);

            // start, do something else, wait: every wait has an end
            Work work = comm.allReduceAsync(gradients, ReduceOp.AVG);
            work.await(Duration.ofSeconds(30));

            // several at once, in any order, across communicators
            int next = (comm.rank() + 1) % comm.size();
            int previous = (comm.rank() + comm.size() - 1) % comm.size();
            int[] mine = {comm.rank()};
            int[] theirs = new int[1];
            try (Group group = comm.world().group()) {
                group.send(comm, Buffer.of(mine), next);
                group.recv(comm, Buffer.of(theirs), previous);
            }
            assertThat(theirs).containsExactly(previous);

            // groups of ranks
            Communicator pairs = comm.split(comm.rank() / 2, comm.rank());
            assertThat(pairs.size()).isEqualTo(2);

            // the same operation many times: checked and planned once
            Prepared step = comm.prepareAllReduce(gradients, ReduceOp.AVG);
            step.run();
        });
    }

    @Test
    void shouldFoldByAFunctionOfTheUsers() {
        ReduceFunction hypot = new ReduceFunction("hypot", DataType.FLOAT64, true, (acc, in, count) -> {
            for (long i = 0; i < count; i++) {
                double h = Math.hypot(acc.getAtIndex(JAVA_DOUBLE, i), in.getAtIndex(JAVA_DOUBLE, i));
                acc.setAtIndex(JAVA_DOUBLE, i, h);
            }
        });
        World.local(2).run(comm -> {
            double[] x = {comm.rank() == 0 ? 3 : 4};
            comm.allReduce(x, ReduceOp.of(hypot));
            assertThat(x[0]).isEqualTo(5);
        });
    }

    @Test
    void shouldWriteAPlanWithTheBuilder() {
        Plan plan = Plan.of("one-shot", Collective.ALL_REDUCE, 4, 0, Protocol.SIMPLE, ReadmeTest::oneShot);
        assertThat(plan.rank(2).lanes().getFirst()).hasSize(10);
        assertThat(plan.rank(2).scratchChunks()).isEqualTo(4);
    }

    // Everybody sends its input to everybody and folds what arrives, in rank order.
    private static void oneShot(RankBuilder me) {
        Lane lane = me.scratchSlots(me.size()).lane();
        for (int peer : me.peers()) {
            lane.copy(me.input(0), me.scratchOf(peer, me.rank(), me.input(0)));
            lane.signal(me.channel(peer));
        }
        List<Chunk> inOrder = new ArrayList<>();
        for (int rank = 0; rank < me.size(); rank++) {
            if (rank != me.rank()) {
                lane.await(me.channel(rank));
            }
            inOrder.add(rank == me.rank() ? me.input(0) : me.scratch(rank, me.input(0)));
        }
        lane.finishReduce(inOrder, me.output(0));
    }
}
