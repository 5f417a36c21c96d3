package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Wrong arguments throw at the call, on the rank that gave them, before anything is sent; the communicator stays
 * usable.
 */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ArgumentsTest {
    private static final ReduceOp SUM = ReduceOp.SUM;

    /** A call that must be refused. */
    record Wrong(String name, Class<? extends Exception> type, Action action) {
        @Override
        public String toString() {
            return name;
        }
    }

    @FunctionalInterface
    interface Action {
        void run(Communicator comm) throws Exception;
    }

    private static void illegal(List<Wrong> all, String name, Action action) {
        all.add(new Wrong(name, IllegalArgumentException.class, action));
    }

    private static void missing(List<Wrong> all, String name, Action action) {
        all.add(new Wrong(name, NullPointerException.class, action));
    }

    static List<Wrong> wrong() {
        List<Wrong> all = new ArrayList<>();
        nulls(all);
        counts(all);
        roots(all);
        operators(all);
        variants(all);
        return all;
    }

    private static Buffer ints(int count) {
        return Buffer.of(new int[count]);
    }

    private static void nulls(List<Wrong> all) {
        missing(all, "null array", c -> c.allReduce((int[]) null, SUM));
        missing(all, "null buffer", c -> c.allReduce((Buffer) null, SUM));
        missing(all, "null output", c -> c.allReduce(ints(3), null, SUM));
        missing(all, "null operator", c -> c.allReduce(new int[3], null));
        missing(all, "null type", c -> c.allReduce(MemorySegment.ofArray(new int[3]), null, SUM));
        missing(all, "null buffer started", c -> c.allReduceAsync((Buffer) null, SUM));
        missing(all, "null buffer prepared", c -> c.prepareAllReduce((Buffer) null, SUM));
        missing(all, "null in list", c -> c.allReduce(Arrays.asList(ints(3), null), SUM));
        missing(all, "null reason", c -> c.abort(null));
        missing(all, "null bytes", c -> c.allGatherBytes(null));
        illegal(all, "no bytes at the root", c -> c.broadcastBytes(null, c.rank()));
        illegal(all, "no output at the root", c -> c.reduce(ints(3), null, SUM, c.rank()));
        illegal(all, "no gather output at the root", c -> c.gather(ints(3), null, c.rank()));
        illegal(all, "neither at gather", c -> c.gather(null, null, 0));
        illegal(all, "no gather input elsewhere", c -> c.gather(null, ints(3), (c.rank() + 1) % c.size()));
        illegal(all, "no scatter output elsewhere", c -> c.scatter(ints(3), null, (c.rank() + 1) % c.size()));
        illegal(all, "no scatter input at the root", c -> c.scatter(null, ints(3), c.rank()));
        illegal(all, "no broadcast input at the root", c -> c.broadcast(null, ints(3), c.rank()));
        illegal(all, "no counts at the root", c -> c.gatherV(ints(3), ints(9), null, null, c.rank()));
        illegal(all, "parts for too few ranks", c -> c.scatterBytes(List.of(), c.rank()));
    }

    private static void counts(List<Wrong> all) {
        illegal(all, "output too small", c -> c.allReduce(new int[4], new int[3], SUM));
        illegal(all, "output too large", c -> c.allReduce(new int[3], new int[4], SUM));
        illegal(all, "types differ", c -> c.allReduce(ints(3), Buffer.of(new float[3]), SUM));
        illegal(all, "all-gather output", c -> c.allGather(new int[3], new int[8]));
        illegal(all, "all-gather in place", c -> c.allGather(ints(10)));
        illegal(all, "reduce-scatter input", c -> c.reduceScatter(new int[10], new int[3], SUM));
        illegal(all, "reduce-scatter in place", c -> c.reduceScatter(ints(10), SUM));
        illegal(all, "gather output", c -> c.gather(ints(3), ints(10), c.rank()));
        illegal(all, "scatter input", c -> c.scatter(ints(10), ints(3), c.rank()));
        illegal(all, "all-to-all input", c -> c.allToAll(ints(10), ints(10)));
        illegal(all, "all-to-all output", c -> c.allToAll(ints(9), ints(12)));
        illegal(all, "scan output", c -> c.scan(ints(3), ints(2), SUM));
        illegal(all, "part of an element", c -> c.allReduce(MemorySegment.ofArray(new byte[7]), DataType.INT32, SUM));
        illegal(
                all,
                "part of an element in a buffer",
                _ -> Buffer.of(MemorySegment.ofArray(new byte[7]), DataType.INT32));
        illegal(all, "array of another width", _ -> Buffer.of(new short[3], DataType.INT32));
        illegal(all, "array of something else", _ -> Buffer.of(new boolean[3], DataType.INT8));
        illegal(all, "no array", _ -> Buffer.of("text", DataType.INT8));
        illegal(all, "negative count to allocate", c -> c.allocate(DataType.INT8, -1));
        all.add(new Wrong("array range", IndexOutOfBoundsException.class, _ -> Buffer.of(new int[3], 1, 3)));
        all.add(new Wrong("slice range", IndexOutOfBoundsException.class, _ -> ints(3).slice(2, 2)));
        illegal(all, "empty list", c -> c.allReduce(List.of(), SUM));
        illegal(all, "list of two types", c -> c.allReduce(List.of(ints(3), Buffer.of(new long[3])), SUM));
    }

    private static void roots(List<Wrong> all) {
        for (int root : new int[] {-1, 3, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            illegal(all, "broadcast root " + root, c -> c.broadcast(new int[3], root));
            illegal(all, "reduce root " + root, c -> c.reduce(new int[3], SUM, root));
            illegal(all, "gather root " + root, c -> c.gather(ints(3), ints(9), root));
            illegal(all, "scatter root " + root, c -> c.scatter(ints(9), ints(3), root));
            illegal(all, "gatherV root " + root, c -> c.gatherV(ints(3), ints(9), new long[] {3, 3, 3}, null, root));
            illegal(all, "scatterV root " + root, c -> c.scatterV(ints(9), new long[] {3, 3, 3}, null, ints(3), root));
            illegal(all, "broadcast list root " + root, c -> c.broadcast(List.of(ints(3)), root));
            illegal(all, "broadcast bytes root " + root, c -> c.broadcastBytes(new byte[1], root));
            illegal(all, "started root " + root, c -> c.broadcastAsync(ints(3), root));
            illegal(all, "prepared root " + root, c -> c.prepareBroadcast(ints(3), root));
        }
        illegal(all, "negative colour", c -> c.split(-1, 0));
        illegal(all, "colour below none", c -> c.splitOptional(-2, 0));
        illegal(all, "destination", c -> c.send(ints(1), 3, 0));
        illegal(all, "source", c -> c.recv(ints(1), -2, 0));
        illegal(all, "tag", c -> c.send(ints(1), 0, -1));
    }

    private static void operators(List<Wrong> all) {
        ReduceOp forLongs = ReduceOp.of(new ReduceFunction("longs", DataType.INT64, true, (_, _, _) -> {}));
        for (ReduceOp bitwise : new ReduceOp[] {ReduceOp.AND, ReduceOp.OR, ReduceOp.XOR}) {
            illegal(all, bitwise + " of floats", c -> c.allReduce(new float[3], bitwise));
            illegal(all, bitwise + " of halves", c -> c.reduce(Buffer.of(new short[3], DataType.BFLOAT16), bitwise, 0));
        }
        illegal(all, "function for another type", c -> c.allReduce(new int[3], forLongs));
        illegal(all, "avg in scan", c -> c.scan(ints(3), ints(3), ReduceOp.AVG));
        illegal(all, "avg in exscan", c -> c.exscan(ints(3), ints(3), ReduceOp.AVG));
        illegal(all, "avg in a started scan", c -> c.scanAsync(ints(3), ints(3), ReduceOp.AVG));
    }

    private static void variants(List<Wrong> all) {
        long[] threes = {3, 3, 3};
        illegal(all, "counts for two", c -> c.allGatherV(ints(3), ints(9), new long[] {3, 3}, null));
        illegal(all, "negative count", c -> c.allGatherV(ints(3), ints(9), new long[] {3, -1, 3}, null));
        illegal(all, "counts beyond the output", c -> c.allGatherV(ints(3), ints(8), threes, null));
        illegal(
                all,
                "counts beyond everything",
                c -> c.allGatherV(ints(3), ints(9), new long[] {1, Long.MAX_VALUE, Long.MAX_VALUE}, null));
        illegal(all, "own count", c -> c.allGatherV(ints(4), ints(12), threes, null));
        illegal(all, "offsets for two", c -> c.allGatherV(ints(3), ints(9), threes, new long[] {0, 3}));
        illegal(all, "negative offset", c -> c.allGatherV(ints(3), ints(9), threes, new long[] {-1, 3, 6}));
        illegal(all, "offset beyond the output", c -> c.allGatherV(ints(3), ints(9), threes, new long[] {0, 3, 7}));
        illegal(
                all,
                "offset far beyond",
                c -> c.allGatherV(ints(3), ints(9), threes, new long[] {0, 3, Long.MAX_VALUE}));
        illegal(all, "output blocks that overlap", c -> c.allGatherV(ints(3), ints(9), threes, new long[] {0, 2, 6}));
        illegal(all, "reduceScatterV output", c -> c.reduceScatterV(ints(9), ints(4), threes, SUM));
        illegal(all, "reduceScatterV input", c -> c.reduceScatterV(ints(8), ints(3), threes, SUM));
        illegal(all, "gatherV root's own count", c -> c.gatherV(ints(2), ints(9), threes, null, c.rank()));
        illegal(all, "gatherV output", c -> c.gatherV(ints(3), ints(8), threes, null, c.rank()));
        illegal(all, "scatterV root's own count", c -> c.scatterV(ints(9), threes, null, ints(2), c.rank()));
        illegal(all, "scatterV input", c -> c.scatterV(ints(8), threes, null, ints(3), c.rank()));
        illegal(all, "allToAllV own counts", c -> {
            long[] other = threes.clone();
            other[c.rank()] = 2;
            c.allToAllV(ints(9), threes, null, ints(9), other, null);
        });
        illegal(all, "allToAllV output", c -> c.allToAllV(ints(9), threes, null, ints(8), threes, null));
        missing(all, "allToAllV counts", c -> c.allToAllV(ints(9), null, null, ints(9), threes, null));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void shouldThrowAtTheCallAndStayUsable(Wrong wrong) {
        World.local(3).run(comm -> {
            comm.barrier();
            assertThat(thrownBy(() -> {
                        wrong.action.run(comm);
                        return null;
                    }))
                    .isInstanceOf(wrong.type);
            Exchange.all(comm, 5, 3);
            assertThat(thrownBy(() -> {
                        wrong.action.run(comm);
                        return null;
                    }))
                    .isInstanceOf(wrong.type);
            comm.barrier();
        });
    }

    /** Only one rank gives a wrong argument; nobody else hears of it. */
    @Test
    void shouldNotTellTheOthersOfWrongArguments() {
        World.local(3).run(comm -> {
            for (Wrong wrong : comm.rank() == 1 ? wrong() : List.<Wrong>of()) {
                assertThat(thrownBy(() -> {
                            wrong.action.run(comm);
                            return null;
                        }))
                        .as(wrong.name)
                        .isInstanceOf(wrong.type);
            }
            Exchange.all(comm, 9, 5);
        });
    }

    @Test
    void shouldNameOperationRankAndCommunicator() {
        World.local(3).named("choir").run(comm -> {
            String on = " on rank " + comm.rank() + " of 'choir': ";
            assertText(() -> comm.broadcast(new int[3], 3), "broadcast" + on + "root 3 is outside 0..2");
            assertText(() -> comm.reduceAsync(ints(3), SUM, -1), "reduceAsync" + on + "root -1 is outside 0..2");
            assertText(
                    () -> comm.prepareAllReduce(ints(3), ints(4), SUM),
                    "prepareAllReduce" + on + "output has 4 elements instead of 3, which the input has");
            assertText(
                    () -> comm.allReduce(MemorySegment.ofArray(new byte[7]), DataType.INT32, SUM),
                    "allReduce" + on + "input has 7 bytes");
            assertText(() -> comm.send(ints(1), 7, 0), "send" + on + "destination 7");
            assertText(() -> comm.scatterBytes(null, comm.rank()), "scatterBytes" + on + "the root needs 3 parts");
            assertText(() -> comm.split(-1, 0), "split" + on + "color");
            assertText(() -> comm.window(ints(3)), "window" + on + "a window needs registered memory");
            assertText(() -> comm.world().group().broadcast(comm, ints(1), 3), "broadcast" + on + "root 3");
            comm.barrier();
        });
    }

    private static void assertText(Callable<?> call, String beginning) {
        assertThat(thrownBy(call))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .startsWith(beginning);
    }

    private static void assertText(Runnable call, String beginning) {
        assertText(Executors.callable(call), beginning);
    }
}
