package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Lane;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import dev.tutti.plan.Reach;
import dev.tutti.spi.Fabric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Plans that touch peers' input and output and leave it to the executor that everybody is there meanwhile. */
@Timeout(60)
class PeerBuffersTest {
    private static final long SEED = Long.getLong("tutti.seed", System.nanoTime());
    private static final byte POISON = 0x5A;

    private enum Way {
        INTERPRETER,
        LANES,
        STEPPED
    }

    /** Everybody writes its block into everybody's output; nobody signals anything. */
    private static void put(RankBuilder me) {
        Chunk own = me.input(0);
        for (int peer = 0; peer < me.size(); peer++) {
            me.lane().copy(own, me.outputOf(peer, me.rank(), own));
        }
    }

    /** Everybody reads everybody's input through its own scratch, in a lane for each; so the message needs windows. */
    private static void get(RankBuilder me) {
        me.scratchSlots(me.size());
        for (int peer = 0; peer < me.size(); peer++) {
            Chunk result = me.output(peer);
            Lane lane = me.lane(peer);
            lane.copy(me.inputOf(peer, 0, result), me.scratch(peer, result)).copy(me.scratch(peer, result), result);
        }
    }

    private static Plan plan(int ranks, Consumer<RankBuilder> author) {
        return Plan.of("bare", Collective.ALL_GATHER, ranks, 0, Protocol.SIMPLE, author)
                .reaching(Reach.PEERS);
    }

    /** The executor's own small calls take a plan of theirs. */
    private static Plan chosen(Call call, Plan plan) {
        return call.collective() == plan.collective()
                ? plan
                : Algorithms.find(call.collective(), "one-shot", Protocol.PACKET)
                        .orElseThrow()
                        .plan(plan.ranks(), 0, 1);
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepEverybodyInsideWhenAPlanWritesPeersOutputs(Way way) throws InterruptedException {
        gatherOverAndOver(way, PeerBuffersTest::put);
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepEverybodyInsideWhenAPlanReadsPeersInputs(Way way) throws InterruptedException {
        gatherOverAndOver(way, PeerBuffersTest::get);
    }

    /** Input and output change hands at once when a call returns: whoever comes early or stays late shows. */
    private static void gatherOverAndOver(Way way, Consumer<RankBuilder> author) throws InterruptedException {
        System.out.println("tutti.seed=" + SEED);
        for (int size : new int[] {1, 2, 3, 5}) {
            Plan plan = plan(size, author);
            Ranks ranks = new Ranks(size, 64 << 10, 64 << 10, 0, call -> chosen(call, plan));
            ranks.run(rank -> {
                rank.endpoint.usesInterpreter = way == Way.INTERPRETER;
                SplittableRandom counts = new SplittableRandom(SEED);
                SplittableRandom own = new SplittableRandom(SEED ^ rank.rank);
                for (int round = 0; round < 60; round++) {
                    int bytes = counts.nextInt(4) == 0 ? counts.nextInt(200_000) : counts.nextInt(300);
                    gather(rank, size, bytes, round, own, way);
                }
            });
        }
    }

    private static void gather(Ranks.Rank rank, int size, int bytes, int round, SplittableRandom random, Way way) {
        Arena arena = Arena.ofAuto();
        MemorySegment in = arena.allocate(bytes + 64L).asSlice(random.nextInt(64), bytes);
        MemorySegment out = arena.allocate((long) size * bytes + 64).asSlice(random.nextInt(64), (long) size * bytes);
        in.fill(value(rank.rank, round));
        out.fill(POISON);
        run(rank, call(in, out, bytes, size), way);
        in.fill(POISON);
        for (int peer = 0; peer < size; peer++) {
            MemorySegment block = out.asSlice((long) peer * bytes, bytes);
            for (byte each : block.toArray(ValueLayout.JAVA_BYTE)) {
                if (each != value(peer, round)) {
                    throw new AssertionError("rank " + rank.rank + " round " + round + " has " + each + " of " + peer);
                }
            }
        }
        out.fill(POISON);
    }

    private static byte value(int rank, int round) {
        return (byte) (rank * 31 + round + 1);
    }

    private static Call call(MemorySegment in, MemorySegment out, int bytes, int size) {
        Call call = new Call().of(Collective.ALL_GATHER, DataType.INT8, null, 0, bytes);
        call.input().setSegment(in, false);
        call.output().setSegment(out, false);
        call.uniform(size);
        call.registered(true);
        call.timeoutNanos(Ranks.TIMEOUT_NANOS);
        call.hold(in, out);
        return call;
    }

    private static void run(Ranks.Rank rank, Call call, Way way) {
        if (way == Way.STEPPED) {
            rank.step(call);
        } else {
            rank.execution.run(call);
        }
    }

    @Test
    void shouldRefuseAPlanWhenItReachesPeersUnannounced() {
        Plan plan = Plan.of("bare", Collective.ALL_GATHER, 2, 0, Protocol.SIMPLE, PeerBuffersTest::put);
        Ranks ranks = new Ranks(2, 64 << 10, 64 << 10, 0, call -> plan);
        MemorySegment memory = Arena.ofAuto().allocate(64);
        assertThatThrownBy(() -> ranks.all.getFirst().execution.run(call(memory.asSlice(0, 8), memory, 8, 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rank 0 cannot reach o[0]@1");
    }

    @Test
    void shouldHaveItsMemoryBackWhenThePeerInsideItHasEnded() {
        Plan plan = plan(2, PeerBuffersTest::get);
        Ranks ranks = new Ranks(2, 64 << 10, 64 << 10, 0, call -> plan);
        MemorySegment memory = Arena.ofAuto().allocate(64);
        for (Ranks.Rank rank : ranks.all) {
            rank.execution.begin(call(memory.asSlice(32, 8), memory.asSlice(0, 16), 8, 2));
            rank.execution.advance();
        }
        Ranks.Rank survivor = ranks.all.getFirst();
        assertThat(survivor.execution.isWithdrawn()).isFalse();
        survivor.endpoint.board.abortUnlessClosed(1, "rank 1 has ended");
        assertThat(survivor.execution.isWithdrawn()).isTrue();
    }

    @Test
    void shouldSayWhoseMemoryWhenItCannotBeReached() {
        Plan plan = plan(2, PeerBuffersTest::get);
        Ranks ranks = new Ranks(2, 64 << 10, 64 << 10, 0, call -> plan);
        Ranks.Rank hidden = ranks.all.get(1);
        Ranks.Rank unreachable = new Ranks.Rank(
                1,
                new Endpoint(hiding(hidden.endpoint.fabric()), "test", 1, 2, 0, TimeUnit.MINUTES.toNanos(1)),
                call -> plan);
        ranks.all.set(1, unreachable);
        assertThatThrownBy(() -> ranks.run(rank -> {
                    MemorySegment memory = Arena.ofAuto().allocate(64);
                    rank.execution.run(call(memory.asSlice(32, 8), memory.asSlice(0, 16), 8, 2));
                }))
                .hasMessageContaining("reach into the input of rank 1")
                .hasMessageContaining("comm.allocate");
    }

    /** A rank whose memory nobody else can reach. */
    private static Fabric hiding(Fabric fabric) {
        return (Fabric) Proxy.newProxyInstance(
                Fabric.class.getClassLoader(), new Class<?>[] {Fabric.class}, (_, method, arguments) -> {
                    if (method.getName().equals("location")) {
                        return Fabric.NOWHERE;
                    }
                    try {
                        return method.invoke(fabric, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }
}
