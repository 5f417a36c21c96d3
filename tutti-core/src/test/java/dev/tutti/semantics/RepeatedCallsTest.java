package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.config;
import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.AbortedException;
import dev.tutti.Buffer;
import dev.tutti.Collective;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.Prepared;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.IntBinaryOperator;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small calls in a row take a short cut; whatever comes between or after them must not notice. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RepeatedCallsTest {
    private static final int MANY = 10;

    private static void barriers(Communicator comm) {
        for (int i = 0; i < MANY; i++) {
            comm.barrier();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldLetNobodyThroughBeforeEverybodyHasCome(int ranks) {
        int[] rounds = new int[ranks * 64];
        // Where others want the cores, too, each round of more ranks than cores may take time slices of theirs.
        int most = ranks == 3 ? 1_000 : 5_000;
        World.local(ranks).run(comm -> {
            for (int round = 1; round <= most; round++) {
                rounds[comm.rank() * 64] = round;
                comm.barrier();
                for (int peer = 0; peer < ranks; peer++) {
                    assertThat(rounds[peer * 64]).isBetween(round, round + 1);
                }
            }
        });
    }

    /** Launches come round among barriers in a row, before them and after them. */
    @ParameterizedTest
    @ValueSource(longs = {4294967280L, 4294967291L, 4294967292L, 4294967293L, 4294967294L, 4294967295L})
    void shouldGoOnWhenLaunchesComeRound(long firstLaunch) {
        World.local(2)
                .config(config(Config.Key.FIRST_LAUNCH, Long.toString(firstLaunch)))
                .run(comm -> {
                    for (int round = 0; round < 5; round++) {
                        barriers(comm);
                        int[] sum = {comm.rank() + round, 1};
                        comm.allReduce(sum, ReduceOp.SUM);
                        assertThat(sum).containsExactly(2 * round + 1, 2);
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldSayWhoCalledSomethingElse(int ranks) {
        Outcomes outcomes = Outcomes.of(ranks, comm -> {
            barriers(comm);
            if (comm.rank() == 1) {
                comm.allReduce(new int[5], ReduceOp.SUM);
            } else {
                comm.barrier();
            }
            comm.barrier();
        });
        outcomes.assertAll(MismatchException.class, "barrier", "allReduce of 5 int32 sum", "#" + (MANY + 1));
    }

    @Test
    void shouldKeepTheTimeOfWhoeverWaits() {
        missing(comm -> {
                    barriers(comm);
                    return comm.withTimeout(Duration.ofMillis(300));
                })
                .assertAll(
                        CollectiveTimeoutException.class,
                        "barrier (#" + (MANY + 1) + ")",
                        "300 ms",
                        "missing: 1 (last called #" + MANY + " barrier)");
    }

    @Test
    void shouldKeepItsOwnTimeInARow() {
        missing(comm -> {
                    Communicator hasty = comm.withTimeout(Duration.ofMillis(2300));
                    barriers(hasty);
                    return hasty;
                })
                .assertAll(CollectiveTimeoutException.class, "barrier (#" + (MANY + 1) + ")", "2.3 s", "missing: 1");
    }

    /** Barriers in a row, and then one to which rank 1 comes when rank 0 has given up. */
    private static Outcomes missing(UnaryOperator<Communicator> row) {
        TestWorld.Latch over = TestWorld.latch(1);
        return Outcomes.of(2, comm -> {
            Communicator last = row.apply(comm);
            if (comm.rank() == 1) {
                over.await();
            }
            try {
                last.barrier();
            } finally {
                over.countDown();
            }
        });
    }

    @Test
    void shouldNotMindACallThatWasRefused() {
        Outcomes.of(2, comm -> {
                    barriers(comm);
                    for (int i = 0; i < MANY; i++) {
                        if (comm.rank() == 0) {
                            assertThat(thrownBy(() -> {
                                        comm.reduceScatter(new int[4], new int[3], ReduceOp.SUM);
                                        return null;
                                    }))
                                    .isInstanceOf(RuntimeException.class);
                        }
                        barriers(comm);
                    }
                })
                .assertNone();
    }

    @Test
    void shouldComeInOrderWithStartedOnes() {
        Outcomes.of(2, comm -> {
                    for (int i = 0; i < 100; i++) {
                        barriers(comm);
                        var started = comm.barrierAsync();
                        comm.barrier();
                        started.await();
                    }
                })
                .assertNone();
    }

    /** Where a call's elements are. */
    enum Where {
        ARRAY,
        NATIVE,
        CONFINED,
        SHARED,
        REGISTERED;

        Buffer of(Communicator comm, int count) {
            return switch (this) {
                case ARRAY -> Buffer.of(new int[count]);
                case NATIVE -> Buffer.of(Arena.ofAuto().allocate(4L * count, 64), DataType.INT32);
                case CONFINED -> Buffer.of(Arena.ofConfined().allocate(4L * count, 64), DataType.INT32);
                case SHARED -> Buffer.of(Arena.ofShared().allocate(4L * count, 64), DataType.INT32);
                case REGISTERED -> comm.allocate(DataType.INT32, count);
            };
        }
    }

    /** A call on memory of its own, which has other data every time and looks at what it got. */
    private static final class Repeated {
        private final Communicator comm;
        private final Collective collective;
        private final Buffer in;
        private final Buffer out;
        /** Null for memory of a confined arena, which cannot be prepared for. */
        private final Prepared prepared;

        private int round;

        Repeated(Communicator comm, Collective collective, Where where, int count) {
            this.comm = comm;
            this.collective = collective;
            this.in = where.of(comm, count * collective.inputBlocks(2));
            this.out = where.of(comm, count * collective.outputBlocks(2));
            this.prepared = where == Where.CONFINED ? null : prepare();
        }

        private Prepared prepare() {
            return switch (collective) {
                case ALL_REDUCE -> comm.prepareAllReduce(in, out, ReduceOp.SUM);
                case ALL_GATHER -> comm.prepareAllGather(in, out);
                case REDUCE_SCATTER -> comm.prepareReduceScatter(in, out, ReduceOp.SUM);
                case BROADCAST -> comm.prepareBroadcast(comm.rank() == 1 ? in : null, out, 1);
                default -> comm.prepareAllToAll(in, out);
            };
        }

        private static int value(int rank, int round, long index) {
            return (rank + 1) * 1_000_003 + round * 7919 + (int) index;
        }

        void run(boolean usePrepared) {
            round++;
            for (int i = 0; i < in.count(); i++) {
                in.segment().setAtIndex(ValueLayout.JAVA_INT, i, value(comm.rank(), round, i));
            }
            out.segment().fill((byte) 0x5A);
            if (usePrepared && prepared != null) {
                prepared.run();
            } else {
                switch (collective) {
                    case ALL_REDUCE -> comm.allReduce(in, out, ReduceOp.SUM);
                    case ALL_GATHER -> comm.allGather(in, out);
                    case REDUCE_SCATTER -> comm.reduceScatter(in, out, ReduceOp.SUM);
                    case BROADCAST -> comm.broadcast(comm.rank() == 1 ? in : null, out, 1);
                    default -> comm.allToAll(in, out);
                }
            }
            for (int i = 0; i < out.count(); i++) {
                assertThat(out.segment().getAtIndex(ValueLayout.JAVA_INT, i))
                        .as("%s of %d, round %d, element %d", collective, in.count(), round, i)
                        .isEqualTo(expected(i));
            }
        }

        private int expected(int i) {
            int block = (int) out.count() / collective.outputBlocks(2);
            int own = comm.rank() * block;
            return switch (collective) {
                case ALL_REDUCE -> value(0, round, i) + value(1, round, i);
                case REDUCE_SCATTER -> value(0, round, own + i) + value(1, round, own + i);
                case ALL_GATHER -> value(i / block, round, i % block);
                case BROADCAST -> value(1, round, i);
                default -> value(i / block, round, own + i % block);
            };
        }
    }

    /** Packets, packets of an odd number of words, posts, slots, slots that go round, on registered memory no slots, and what is not remembered. */
    private static final int[] COUNTS = {1, 2, 7, 16, 17, 33, 128, 501, 1024, 2047, 5003, 20011};

    private static final List<Collective> COLLECTIVES = List.of(
            Collective.ALL_REDUCE,
            Collective.ALL_GATHER,
            Collective.REDUCE_SCATTER,
            Collective.ALL_TO_ALL,
            Collective.BROADCAST);

    @ParameterizedTest
    @EnumSource
    void shouldMoveTheDataOfEachCall(Where where) {
        Outcomes.of(2, comm -> {
                    for (Collective collective : COLLECTIVES) {
                        for (int count : COUNTS) {
                            Repeated repeated = new Repeated(comm, collective, where, count);
                            for (int i = 0; i < MANY; i++) {
                                repeated.run(false);
                            }
                        }
                    }
                })
                .assertNone();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 4294967100L, 4294967200L})
    void shouldKeepCallsApartThatTakeTurns(long firstLaunch) {
        long seed = 20261116;
        System.out.println("RepeatedCallsTest: seed " + seed);
        Outcomes.of(2, config(Config.Key.FIRST_LAUNCH, Long.toString(firstLaunch)), comm -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    List<Repeated> all = new ArrayList<>();
                    for (int i = 0; i < 12; i++) {
                        all.add(new Repeated(
                                comm,
                                COLLECTIVES.get(i % COLLECTIVES.size()),
                                Where.values()[random.nextInt(Where.values().length)],
                                COUNTS[random.nextInt(COUNTS.length)]));
                    }
                    for (int turn = 0; turn < 300; turn++) {
                        Repeated next = all.get(random.nextInt(all.size()));
                        boolean usePrepared = random.nextBoolean();
                        for (int times = random.nextInt(5); times >= 0; times--) {
                            next.run(usePrepared);
                        }
                        if (random.nextInt(4) == 0) {
                            comm.barrier();
                        }
                    }
                })
                .assertNone();
    }

    /** The same call, each time on memory that it has never had before; of another kind on the two ranks, if not registered. */
    @ParameterizedTest
    @ValueSource(longs = {1, 4294967270L})
    void shouldMoveTheDataOnEverOtherMemory(long firstLaunch) {
        long seed = System.nanoTime();
        System.out.println("RepeatedCallsTest: seed " + seed);
        List<Where> unregistered = List.of(Where.ARRAY, Where.NATIVE, Where.CONFINED, Where.SHARED);
        Outcomes.of(2, config(Config.Key.FIRST_LAUNCH, Long.toString(firstLaunch)), comm -> {
                    SplittableRandom common = new SplittableRandom(seed);
                    SplittableRandom own = new SplittableRandom(seed + 1 + comm.rank());
                    for (Collective collective : COLLECTIVES) {
                        for (int count : COUNTS) {
                            for (int i = 0; i < MANY; i++) {
                                Where where = common.nextInt(5) == 0
                                        ? Where.REGISTERED
                                        : unregistered.get(own.nextInt(unregistered.size()));
                                Repeated once = new Repeated(comm, collective, where, count);
                                once.round = i;
                                once.run(false);
                            }
                        }
                    }
                })
                .assertNone();
    }

    /** As many as are remembered, fewer and more. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 7, 8, 9, 20})
    void shouldKeepCallsApartThatGoRound(int calls) {
        Outcomes.of(2, comm -> {
                    List<Repeated> all = new ArrayList<>();
                    for (int i = 0; i < calls; i++) {
                        Where where = Where.values()[i % 3];
                        // Several of one length, which differ in their memory alone.
                        all.add(new Repeated(
                                comm,
                                COLLECTIVES.get(i / 2 % COLLECTIVES.size()),
                                where,
                                COUNTS[i / 2 % COUNTS.length]));
                    }
                    for (int i = 0; i < MANY * calls; i++) {
                        all.get(i % calls).run(false);
                        if (i % 5 == 0) {
                            comm.barrier();
                        }
                    }
                })
                .assertNone();
    }

    /** Sometimes the root is far ahead, sometimes the others wait for it. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldTakeEveryBroadcastWhoeverIsAhead(int ranks) {
        long seed = System.nanoTime();
        System.out.println("RepeatedCallsTest: seed " + seed);
        Outcomes.of(ranks, config(Config.Key.FIRST_LAUNCH, "4294960000"), comm -> {
                    SplittableRandom random = new SplittableRandom(seed + comm.rank());
                    for (int count : new int[] {1, 2, 8, 32, 77, 500}) {
                        MemorySegment x = Arena.ofAuto().allocate(4L * count, 64);
                        int patience = 0;
                        for (int round = 0; round < 3000; round++) {
                            if (round % 200 == 0) {
                                patience = random.nextInt(3) * random.nextInt(2000);
                            }
                            for (int i = random.nextInt(patience + 1); i > 0; i--) {
                                Thread.onSpinWait();
                            }
                            for (int i = 0; i < count; i++) {
                                x.setAtIndex(ValueLayout.JAVA_INT, i, comm.rank() == 0 ? round * 31 + i : -1);
                            }
                            comm.broadcast(x, DataType.INT32, 0);
                            for (int i = 0; i < count; i++) {
                                if (x.getAtIndex(ValueLayout.JAVA_INT, i) != round * 31 + i) {
                                    throw new AssertionError("round " + round + " element " + i + " of " + count);
                                }
                            }
                        }
                    }
                })
                .assertNone();
    }

    /** Each rank takes other memory for a row of the same calls, when it likes. */
    @ParameterizedTest
    @CsvSource({
        "ALL_REDUCE, direct",
        "ALL_REDUCE, direct-write",
        "ALL_GATHER, direct",
        "REDUCE_SCATTER, direct",
        "ALL_TO_ALL, direct"
    })
    void shouldFindThePeersMemoryWhenItIsAnother(Collective collective, String algorithm) {
        long seed = 20261116;
        System.out.println("RepeatedCallsTest: seed " + seed);
        Outcomes.of(2, config(Config.Key.ALGO, algorithm), comm -> {
                    SplittableRandom random = new SplittableRandom(seed + comm.rank());
                    List<Repeated> all = new ArrayList<>();
                    for (int i = 0; i < 3; i++) {
                        all.add(new Repeated(comm, collective, Where.REGISTERED, 5003));
                    }
                    Repeated next = all.getFirst();
                    for (int round = 0; round < 200; round++) {
                        next = random.nextInt(4) == 0 ? all.get(random.nextInt(all.size())) : next;
                        next.round = round;
                        next.run(false);
                    }
                })
                .assertNone();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 200})
    void shouldSayWhoLeftTheRow(int count) {
        Outcomes outcomes = Outcomes.of(2, comm -> {
            int[] x = new int[count];
            for (int i = 0; i < MANY; i++) {
                comm.allReduce(x, ReduceOp.SUM);
            }
            if (comm.rank() == 1) {
                comm.allReduce(new int[count + 1], ReduceOp.SUM);
            } else {
                comm.allReduce(x, ReduceOp.SUM);
            }
        });
        outcomes.assertAll(
                MismatchException.class,
                "allReduce of " + count + " int32 sum",
                "allReduce of " + (count + 1) + " int32 sum",
                "#" + (MANY + 1));
    }

    /** Two functions of the same kind in turn, in the order of ranks: each row of calls must have its own. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 20, 70, 300})
    void shouldFoldByTheFunctionOfEachCall(int count) {
        ReduceOp subtract = function("subtract", (a, b) -> a - b);
        ReduceOp appended = function("append", (a, b) -> 10 * a + b);
        Outcomes.of(2, comm -> {
                    int[] x = new int[count];
                    int[] out = new int[count];
                    for (int i = 0; i < 6 * MANY; i++) {
                        // In rows of five, and then in turn.
                        boolean first = (i < 3 * MANY ? i / 5 : i) % 2 == 0;
                        Arrays.fill(x, 3 + i + comm.rank());
                        comm.allReduce(x, out, first ? subtract : appended);
                        assertThat(out).containsOnly(first ? -1 : 11 * (3 + i) + 1);
                    }
                })
                .assertNone();
    }

    private static ReduceOp function(String name, IntBinaryOperator body) {
        return ReduceOp.of(new ReduceFunction(name, DataType.INT32, false, (into, from, count) -> {
            for (long i = 0; i < count; i++) {
                int result = body.applyAsInt(
                        into.getAtIndex(ValueLayout.JAVA_INT, i), from.getAtIndex(ValueLayout.JAVA_INT, i));
                into.setAtIndex(ValueLayout.JAVA_INT, i, result);
            }
        }));
    }

    @Test
    void shouldRefuseMemoryThatWasClosedInARow() {
        Outcomes.of(2, comm -> {
                    Buffer x = comm.allocate(DataType.INT32, 4);
                    for (int i = 0; i < MANY; i++) {
                        comm.allReduce(x, ReduceOp.MAX);
                    }
                    x.close();
                    assertThat(thrownBy(() -> {
                                comm.allReduce(x, ReduceOp.MAX);
                                return null;
                            }))
                            .isInstanceOf(RuntimeException.class)
                            .hasMessageContaining("closed");
                    barriers(comm);
                })
                .assertNone();
    }

    @ParameterizedTest
    @EnumSource(names = {"CONFINED", "SHARED"})
    void shouldRefuseArenasThatWereClosedInARow(Where where) {
        Outcomes.of(2, comm -> {
                    for (int count : new int[] {2, 200, 1000}) {
                        Arena arena = where == Where.SHARED ? Arena.ofShared() : Arena.ofConfined();
                        MemorySegment x = arena.allocate(4L * count, 64);
                        Buffer in = Buffer.of(arena.allocate(4L * count, 64), DataType.INT32);
                        for (int i = 0; i < MANY; i++) {
                            comm.allReduce(x, DataType.INT32, ReduceOp.MAX);
                            comm.allReduce(in, Buffer.of(new int[count]), ReduceOp.MAX);
                            comm.broadcast(in, 1);
                        }
                        arena.close();
                        assertRefused(IllegalStateException.class, "closed", () -> {
                            comm.allReduce(x, DataType.INT32, ReduceOp.MAX);
                            return null;
                        });
                        assertRefused(IllegalStateException.class, "closed", () -> {
                            comm.broadcast(in, 1);
                            return null;
                        });
                        barriers(comm);
                    }
                })
                .assertNone();
    }

    private static void assertRefused(Class<? extends Exception> type, String text, Callable<?> call) {
        assertThat(thrownBy(call)).isInstanceOf(type).hasMessageContaining(text);
    }

    @Test
    void shouldRefuseAnotherThreadsConfinedMemoryInARow() {
        Outcomes.of(2, comm -> {
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment x = arena.allocate(8, 8);
                        for (int round = 0; round < 3; round++) {
                            for (int i = 0; i < MANY; i++) {
                                comm.allReduce(x, DataType.INT32, ReduceOp.MAX);
                            }
                            FutureTask<Throwable> other = new FutureTask<>(() -> thrownBy(() -> {
                                comm.allReduce(x, DataType.INT32, ReduceOp.MAX);
                                return null;
                            }));
                            Thread.ofPlatform().start(other);
                            assertThat(other.get())
                                    .isInstanceOf(IllegalArgumentException.class)
                                    .hasMessageContaining("another thread");
                        }
                    }
                })
                .assertNone();
    }

    /** Rank 0 waits in a call that it has made before when somebody closes its memory. */
    @ParameterizedTest
    @ValueSource(ints = {2, 200, 1000})
    void shouldAbortWhenAnArenaIsClosedDuringACallOfARow(int count) throws Exception {
        try (World world = World.local(2).open()) {
            Communicator[] comms = {world.communicator(0), world.communicator(1)};
            Arena arena = Arena.ofShared();
            MemorySegment closing = arena.allocate(4L * count, 64);
            int[] peers = new int[count];
            for (int i = 0; i < MANY; i++) {
                Blocked first = Blocked.in(() -> comms[0].allReduce(closing, DataType.INT32, ReduceOp.SUM));
                comms[1].allReduce(peers, ReduceOp.SUM);
                assertThat(first.thrown()).isNull();
            }
            Blocked inside = Blocked.in(() -> comms[0].allReduce(closing, DataType.INT32, ReduceOp.SUM));
            arena.close();
            // Rank 0 has sent what it had to: this may end well, or find that rank 0 has failed meanwhile.
            assertThat(thrownBy(() -> {
                        comms[1].allReduce(peers, ReduceOp.SUM);
                        return null;
                    }))
                    .satisfiesAnyOf(
                            thrown -> assertThat(thrown).isNull(),
                            thrown -> assertThat(thrown).isInstanceOf(AbortedException.class));
            assertThat(inside.thrown()).isInstanceOf(IllegalStateException.class);
            assertRefused(AbortedException.class, "failed on rank 0", () -> {
                comms[1].allReduce(peers, ReduceOp.SUM);
                return null;
            });
        }
    }

    /** A barrier, a post, a slot: who has not been inside when somebody aborted throws at its next call, as if it were the first. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, 1000})
    void shouldSayWhoAbortedBetweenTwoCallsOfARow(int count) {
        CountDownLatch aborted = new CountDownLatch(1);
        Outcomes outcomes = Outcomes.of(World.local(2), comm -> {
            Buffer x = comm.allocate(DataType.INT32, count);
            for (int i = 0; i < MANY; i++) {
                call(comm, x, count);
            }
            if (comm.rank() == 0) {
                comm.abort("loss is NaN");
                aborted.countDown();
            } else {
                aborted.await();
            }
            for (int i = 0; i < 3; i++) {
                assertThat(thrownBy(() -> {
                            call(comm, x, count);
                            return null;
                        }))
                        .isInstanceOf(AbortedException.class)
                        .hasMessageContaining("loss is NaN");
            }
        });
        outcomes.assertNone();
    }

    private static void call(Communicator comm, Buffer x, int count) {
        if (count == 0) {
            comm.barrier();
        } else {
            comm.allReduce(x, ReduceOp.SUM);
        }
    }
}
