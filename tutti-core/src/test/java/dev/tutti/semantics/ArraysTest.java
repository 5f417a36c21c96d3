package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.data.DataStream;
import dev.tutti.data.ExactData;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Heap arrays, which have no address, and which the collector moves. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ArraysTest {
    private static final byte POISON = 0x5A;

    /** Nothing, one element, tiles and pieces with something over, several windows. In bytes, which no type divides. */
    private static final int[] BYTES = {0, 8, 1009, 8 << 10 | 13, 131 << 10 | 5, 1 << 20 | 77};

    private final AtomicBoolean over = new AtomicBoolean();

    /** Each lets the collector run once. */
    private final Semaphore collections = new Semaphore(0);

    @AfterEach
    void stopCollecting() {
        over.set(true);
        collections.release();
    }

    /** Part of an array, with poison around it. */
    private record Part(Buffer buffer, MemorySegment whole, long from) {
        static Part of(DataType type, int offset, int count) {
            Class<?> element = switch (type) {
                case FLOAT32 -> float.class;
                case FLOAT64 -> double.class;
                default ->
                    switch (type.bytes()) {
                        case 1 -> byte.class;
                        case 2 -> short.class;
                        case 4 -> int.class;
                        default -> long.class;
                    };
            };
            Object array = Array.newInstance(element, offset + count + 5);
            Buffer all = Buffer.of(array, type);
            all.segment().fill(POISON);
            return new Part(all.slice(offset, count), all.segment(), (long) offset * type.bytes());
        }

        Part fill(DataStream data) {
            data.fill(buffer.segment(), 0);
            return this;
        }

        /** Elements {@code [first, first + count)} are the beginning of a row of data. */
        void require(DataStream data, long first, long count, String what) {
            int width = buffer.type().bytes();
            MemorySegment found = buffer.segment().asSlice(first * width, count * width);
            assertThat(data.firstWrong(found, 0))
                    .as(what + ": first wrong element")
                    .isEqualTo(-1);
        }

        void requireNothingAround(String what) {
            requirePoison(0, from, what);
            requirePoison(from + buffer.bytes(), whole.byteSize(), what);
        }

        private void requirePoison(long first, long end, String what) {
            for (long i = first; i < end; i++) {
                assertThat(whole.get(java.lang.foreign.ValueLayout.JAVA_BYTE, i))
                        .as(what + ": byte " + (i - from))
                        .isEqualTo(POISON);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReduceEveryTypeOnPartsOfArrays(DataType type) {
        World.local(3).run(comm -> reduceAll(comm, type, 1));
    }

    /** More ranks than there are before the own array can come first in a sum. */
    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16", "INT64"})
    void shouldReduceWhenManyComeBeforeTheOwnArray(DataType type) {
        World.local(6).run(comm -> reduceAll(comm, type, 2));
    }

    private static void reduceAll(Communicator comm, DataType type, int seed) {
        for (ReduceOp.Kind kind : List.of(ReduceOp.Kind.SUM, ReduceOp.Kind.PRE_MUL_SUM, ReduceOp.Kind.MAX)) {
            ExactData data = ExactData.reducing(type, kind, comm.size());
            ReduceOp op = data.operator(comm.rank());
            DataStream input = data.input(comm.rank(), seed);
            DataStream reduced = data.reduced(seed);
            for (int bytes : BYTES) {
                int count = bytes / type.bytes();
                String what = kind + " of " + count + " " + type;
                Part in = Part.of(type, 3, count).fill(input);
                Part out = Part.of(type, 1, count);
                comm.allReduce(in.buffer(), out.buffer(), op);
                out.require(reduced, 0, count, what);
                in.require(input, 0, count, what + ", input");
                comm.allReduce(in.buffer(), op);
                in.require(reduced, 0, count, what + " in place");
                in.requireNothingAround(what);
                out.requireNothingAround(what);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldMoveEveryTypeOnPartsOfArrays(DataType type) {
        World.local(3).run(comm -> {
            ExactData data = ExactData.moving(type, comm.size());
            for (int bytes : BYTES) {
                int count = bytes / type.bytes();
                String what = count + " " + type;
                Part in = Part.of(type, 3, count).fill(data.input(comm.rank(), 1));
                Part out = Part.of(type, 1, 3 * count);
                comm.allGather(in.buffer(), out.buffer());
                for (int rank = 0; rank < 3; rank++) {
                    out.require(data.input(rank, 1), (long) rank * count, count, "gathered " + what);
                }
                // Everybody gets its own block back, and those of the others.
                comm.allToAll(out.buffer(), out.buffer());
                for (int rank = 0; rank < 3; rank++) {
                    out.require(data.input(comm.rank(), 1), (long) rank * count, count, "all-to-all in place " + what);
                }
                comm.allGather(out.buffer());
                comm.broadcast(in.buffer(), 2);
                for (int rank = 0; rank < 3; rank++) {
                    out.require(data.input(rank, 1), (long) rank * count, count, "gathered in place " + what);
                }
                in.require(data.input(2, 1), 0, count, "broadcast " + what);
                in.requireNothingAround(what);
                out.requireNothingAround(what);
            }
        });
    }

    /** The last window of the longer block is a short copy; the shorter array ended long before. */
    @Test
    void shouldGatherWhenAnArrayHasEndedBeforeTheLastWindow() {
        World.local(2).run(comm -> {
            long[] counts = {1, 4 * 65_536 + 1};
            float[] in = new float[(int) counts[comm.rank()]];
            Arrays.fill(in, comm.rank() + 1);
            float[] out = new float[(int) (counts[0] + counts[1])];
            comm.allGatherV(Buffer.of(in), Buffer.of(out), counts, null);
            float[] expected = new float[out.length];
            Arrays.fill(expected, 2);
            expected[0] = 1;
            assertThat(out).isEqualTo(expected);
        });
    }

    @Test
    void shouldNotMindThatArraysMoveMeanwhile() {
        Thread collector = Thread.ofPlatform().name("collector").daemon().start(() -> {
            while (!over.get()) {
                collections.acquireUninterruptibly();
                System.gc();
            }
        });
        World.local(2).run(comm -> {
            ExactData data = ExactData.reducing(DataType.FLOAT32, ReduceOp.Kind.SUM, 2);
            for (int round = 0; round < 24; round++) {
                int count = round % 3 == 0 ? 1_000 : 200_003;
                // New ones each time: they begin young, and the collector copies what it keeps.
                Part started = Part.of(DataType.FLOAT32, 2, count).fill(data.input(comm.rank(), 2 * round));
                Part blocking = Part.of(DataType.FLOAT32, 7, count).fill(data.input(comm.rank(), 2 * round + 1));
                // Just now, as a collection takes longer than a round, and more of them would only stop everybody.
                if (comm.rank() == 0) {
                    collections.release();
                }
                Work work = comm.allReduceAsync(started.buffer(), ReduceOp.SUM);
                comm.allReduce(blocking.buffer(), ReduceOp.SUM);
                work.await();
                started.require(data.reduced(2 * round), 0, count, "started, round " + round);
                blocking.require(data.reduced(2 * round + 1), 0, count, "blocking, round " + round);
                started.requireNothingAround("started, round " + round);
                blocking.requireNothingAround("blocking, round " + round);
            }
        });
        assertThat(collector.isAlive()).isTrue();
    }
}
