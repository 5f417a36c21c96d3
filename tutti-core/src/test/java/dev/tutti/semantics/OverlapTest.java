package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.processes.TestWorld;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Input and output are apart, or in place as the words of each collective say; anything between is refused. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class OverlapTest {
    /** Two views of one memory of 100 integers, each of its own kind. */
    private static Buffer[] views(String kind) {
        int[] array = new int[100];
        MemorySegment heap = MemorySegment.ofArray(array);
        MemorySegment nativeMemory = Arena.ofAuto().allocate(400, 4);
        MemorySegment shared = Arena.ofShared().allocate(400, 4);
        Buffer own = OwnMemory.allocate(DataType.INT32, 100);
        return switch (kind) {
            case "array" -> new Buffer[] {Buffer.of(array), Buffer.of(array)};
            case "array and segment" -> new Buffer[] {Buffer.of(array), Buffer.of(heap, DataType.INT32)};
            case "read-only segment and array" ->
                new Buffer[] {Buffer.of(heap.asReadOnly(), DataType.INT32), Buffer.of(array)};
            case "heap segments" -> new Buffer[] {Buffer.of(heap, DataType.INT32), Buffer.of(heap, DataType.INT32)};
            case "native" ->
                new Buffer[] {Buffer.of(nativeMemory, DataType.INT32), Buffer.of(nativeMemory, DataType.INT32)};
            case "shared" -> new Buffer[] {Buffer.of(shared, DataType.INT32), Buffer.of(shared, DataType.INT32)};
            default -> new Buffer[] {own, Buffer.of(own.segment(), DataType.INT32)};
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "array",
                "array and segment",
                "read-only segment and array",
                "heap segments",
                "native",
                "shared",
                "own"
            })
    void shouldRefuseMemoryThatOverlapsInPart(String kind) {
        TestWorld.of(2).run(comm -> {
            int next = comm.rank();
            Buffer[] views = views(kind);
            Buffer in = views[0].slice(0, 10);
            Buffer shifted = views[1].slice(1, 10);
            Buffer twice = views[1].slice(5, 20);
            Buffer whole = views[0].slice(0, 20);
            long[] tens = {10, 10};
            Map<String, Consumer<Communicator>> calls = new LinkedHashMap<>();
            calls.put("allReduce", c -> c.allReduce(in, shifted, ReduceOp.SUM));
            calls.put("reduce", c -> c.reduce(in, shifted, ReduceOp.SUM, next));
            calls.put("broadcast", c -> c.broadcast(in, shifted, next));
            calls.put("scan", c -> c.scan(in, shifted, ReduceOp.SUM));
            calls.put("exscan", c -> c.exscan(in, shifted, ReduceOp.SUM));
            calls.put("allGather", c -> c.allGather(in, twice));
            calls.put("allGatherV", c -> c.allGatherV(in, twice, tens, null));
            calls.put("gather", c -> c.gather(in, twice, next));
            calls.put("gatherV", c -> c.gatherV(in, twice, tens, null, next));
            calls.put("reduceScatter", c -> c.reduceScatter(whole, shifted, ReduceOp.SUM));
            calls.put("reduceScatterV", c -> c.reduceScatterV(whole, shifted, tens, ReduceOp.SUM));
            calls.put("scatter", c -> c.scatter(whole, shifted, next));
            calls.put("scatterV", c -> c.scatterV(whole, tens, null, shifted, next));
            calls.put("allToAll", c -> c.allToAll(whole, twice));
            calls.put("allToAllV", c -> c.allToAllV(whole, tens, null, twice, tens, null));
            calls.put("allReduceAsync", c -> c.allReduceAsync(in, shifted, ReduceOp.SUM));
            calls.forEach((name, call) -> assertThat(thrownBy(() -> {
                        call.accept(comm);
                        return null;
                    }))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("overlap"));
            Exchange.all(comm, 3, 1);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"array", "array and segment", "heap segments", "native", "shared", "own"})
    void shouldTakeTwoViewsOfTheSamePlaceAsInPlace(String kind) {
        TestWorld.of(2).run(comm -> {
            Buffer[] views = views(kind);
            MemorySegment memory = views[0].segment();
            int mine = comm.rank() + 1;
            fill(memory, mine);
            comm.allReduce(views[0], views[1], ReduceOp.SUM);
            assertAll(memory, 0, 100, 3);
            fill(memory, mine);
            comm.allGather(views[0].slice(50L * comm.rank(), 50), views[1]);
            assertAll(memory, 0, 50, 1);
            assertAll(memory, 50, 50, 2);
            fill(memory, mine);
            comm.reduceScatter(views[0], views[1].slice(50L * comm.rank(), 50), ReduceOp.SUM);
            assertAll(memory, 50 * comm.rank(), 50, 3);
            fill(memory, mine);
            comm.allToAll(views[0], views[1]);
            assertAll(memory, 0, 50, 1);
            assertAll(memory, 50, 50, 2);
        });
    }

    private static void fill(MemorySegment memory, int value) {
        for (int i = 0; i < 100; i++) {
            memory.set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 4L * i, value);
        }
    }

    private static void assertAll(MemorySegment memory, int from, int count, int value) {
        for (int i = from; i < from + count; i++) {
            assertThat(memory.get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 4L * i))
                    .as("element %d", i)
                    .isEqualTo(value);
        }
    }

    @Test
    void shouldRefuseAnAllToAllVInPlaceWhoseBlocksMove() {
        TestWorld.of(2).run(comm -> {
            Buffer buffer = Buffer.of(new int[10]);
            long[] sent = comm.rank() == 0 ? new long[] {2, 3} : new long[] {1, 4};
            long[] received = comm.rank() == 0 ? new long[] {2, 1} : new long[] {3, 4};
            assertThat(thrownBy(() -> {
                        comm.allToAllV(buffer, sent, null, buffer, received, null);
                        return null;
                    }))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("in place");
            int[] values = {comm.rank(), comm.rank()};
            comm.allToAllV(Buffer.of(values), new long[] {1, 1}, null, Buffer.of(values), new long[] {1, 1}, null);
            assertThat(values).containsExactly(0, 1);
        });
    }
}
