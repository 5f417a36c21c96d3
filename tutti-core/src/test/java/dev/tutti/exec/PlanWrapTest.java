package dev.tutti.exec;

import static dev.tutti.plan.language.Lanes.lane;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.memory.Memory;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.language.Chunks;
import dev.tutti.plan.language.CollectiveProgram;
import dev.tutti.plan.language.MemoryChannel;
import dev.tutti.plan.language.ProgramRank;
import dev.tutti.transport.local.LocalTransport;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A context of a plan has flags of its own, and they come round after 2³² launches of that plan. */
@Timeout(60)
class PlanWrapTest {
    /** All-reduce of packets in two steps: parts to their owners, sums to everybody. Safe with one half of scratch, and with two. */
    private static Plan twoStep(int ranks, boolean halves) {
        CollectiveProgram program = CollectiveProgram.of("two-step", Collective.ALL_REDUCE, ranks, 1)
                .protocol(Protocol.PACKET)
                .doubleScratch(halves);
        Chunks[] scratch = new Chunks[ranks];
        Arrays.setAll(scratch, rank -> program.rank(rank).scratch(2 * ranks));
        for (int rank = 0; rank < ranks; rank++) {
            ProgramRank me = program.rank(rank);
            List<Chunks> parts = new ArrayList<>();
            MemoryChannel[] channels = new MemoryChannel[ranks];
            for (int peer = 0; peer < ranks; peer++) {
                if (peer != rank) {
                    channels[peer] = program.memoryChannel(peer, rank);
                    channels[peer].putPackets(scratch[peer].at(rank), me.input().at(peer), lane(0));
                    parts.add(scratch[rank].at(peer));
                }
            }
            me.reducePackets(me.output().at(rank), me.input().at(rank), parts, ReduceOp.SUM, lane(0));
            for (int peer = 0; peer < ranks; peer++) {
                if (peer != rank) {
                    channels[peer].putPackets(
                            scratch[peer].at(ranks + rank), me.output().at(rank), lane(0));
                }
            }
            for (int peer = 0; peer < ranks; peer++) {
                if (peer != rank) {
                    me.unpackPackets(me.output().at(peer), scratch[rank].at(ranks + peer), lane(0));
                }
            }
        }
        return program.build();
    }

    /** Flags 1 to 6 have been used once, and their packets lie where the packets of the second time will come. */
    @ParameterizedTest
    @CsvSource({"2,false", "3,false", "3,true", "5,true"})
    void shouldNotTakeOldPacketsForNewWhenFlagsComeRound(int size, boolean halves) throws InterruptedException {
        Plan plan = twoStep(size, halves);
        LocalTransport transport = new LocalTransport(size);
        CyclicBarrier allHere = new CyclicBarrier(size);
        Ranks ranks = new Ranks(
                size,
                16 << 10,
                16 << 10,
                0,
                call -> Algorithms.find(call.collective(), "one-shot", Protocol.SIMPLE)
                        .orElseThrow()
                        .plan(size, call.root(), 1));
        ranks.run(rank -> {
            PlanContext context = new PlanContext(
                    plan,
                    rank.endpoint,
                    bytes -> transport.allocate(rank.rank, bytes),
                    new PlanExchange(rank.execution, size, Ranks.TIMEOUT_NANOS),
                    PlanContext.SCRATCH_BYTES);
            allReduces(context, rank, size, 0, 6);
            allHere.await();
            context.skipTo((1L << 32) - 3);
            allHere.await();
            allReduces(context, rank, size, 1000, 9);
            assertThat(context.endpoint().flag()).isEqualTo(8);
        });
    }

    private static void allReduces(PlanContext context, Ranks.Rank rank, int size, long start, int launches) {
        long bytes = 8L * size;
        long memory = Arena.ofAuto().allocate(2 * bytes, 8).address();
        long[] inputs = new long[size];
        long[] outputs = new long[size];
        inputs[rank.rank] = memory;
        outputs[rank.rank] = memory + bytes;
        context.prepare(bytes, bytes, DataType.INT64, null);
        for (int launch = 0; launch < launches; launch++) {
            long base = start + 10L * launch;
            for (int i = 0; i < size; i++) {
                Memory.putLong(memory + 8L * i, base + rank.rank + i);
            }
            if (rank.rank == size - 1) {
                // Late, so that the others look at its packets before it has written them.
                for (int spin = 0; spin < 20_000; spin++) {
                    Thread.onSpinWait();
                }
            }
            context.run(inputs, outputs);
            for (int i = 0; i < size; i++) {
                long expected = size * (base + i) + size * (size - 1L) / 2;
                assertThat(Memory.getLong(memory + bytes + 8L * i))
                        .as("launch " + launch + " rank " + rank.rank)
                        .isEqualTo(expected);
            }
        }
    }

    /** Ordinary calls: the wrap comes between calls, and, where a message takes several launches, inside of one. */
    @ParameterizedTest
    @CsvSource({"2,false,4", "3,true,100", "3,false,200000", "4,true,200000"})
    void shouldServeCallsWhileFlagsComeRound(int size, boolean halves, int count) {
        Plan plan = twoStep(size, halves);
        Config config = Config.fromEnvironment()
                .with(Config.Key.FIRST_LAUNCH, Long.toString((1L << 32) - 4))
                .with(Config.Key.SCRATCH, "64K");
        World.local(size).config(config).run(comm -> {
            comm.use(plan);
            for (int call = 0; call < 12; call++) {
                int[] x = new int[count];
                for (int i = 0; i < count; i++) {
                    x[i] = comm.rank() + i + 100 * call;
                }
                comm.allReduce(x, ReduceOp.SUM);
                for (int i = 0; i < count; i++) {
                    int expected = size * (i + 100 * call) + size * (size - 1) / 2;
                    if (x[i] != expected) {
                        throw new AssertionError(
                                "call " + call + " element " + i + ": " + x[i] + " in place of " + expected);
                    }
                }
            }
        });
    }
}
