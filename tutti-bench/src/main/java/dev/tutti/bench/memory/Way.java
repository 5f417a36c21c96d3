package dev.tutti.bench.memory;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/** What memory a program's small calls have. */
enum Way {
    AUTOMATIC("automatic arena"),
    CONFINED("confined arena"),
    SHARED("shared arena"),
    REGISTERED("comm.allocate"),
    HEAP("segment of an array"),
    ARRAY("float[]"),
    SEGMENTS("32 segments in turn"),
    SLICES("a new slice each time"),
    ARRAYS("32 float[] in turn"),
    NEW_ARRAYS("a new float[] each time");

    private static final int MANY = 32;

    final String title;

    Way(String title) {
        this.title = title;
    }

    /** So many calls, as a loop: of the collective that is asked for, on this memory. */
    IntConsumer calls(Communicator comm, boolean reduces, int bytes) {
        int count = bytes / Float.BYTES;
        return switch (this) {
            case AUTOMATIC -> onOne(comm, reduces, Arena.ofAuto().allocate(bytes, 64));
            case CONFINED -> onOne(comm, reduces, Arena.ofConfined().allocate(bytes, 64));
            case SHARED -> onOne(comm, reduces, Arena.ofShared().allocate(bytes, 64));
            case HEAP -> onOne(comm, reduces, MemorySegment.ofArray(new float[count]));
            case REGISTERED -> onBuffer(comm, reduces, comm.allocate(DataType.FLOAT32, count));
            case SEGMENTS -> {
                MemorySegment[] all = many(bytes);
                yield onSegments(comm, reduces, i -> all[i % MANY]);
            }
            case SLICES -> {
                MemorySegment[] all = many(bytes);
                yield onSegments(comm, reduces, i -> all[i % MANY].asSlice(0));
            }
            case ARRAY -> {
                float[] array = new float[count];
                yield onArrays(comm, reduces, _ -> array);
            }
            case ARRAYS -> {
                float[][] all = new float[MANY][count];
                yield onArrays(comm, reduces, i -> all[i % MANY]);
            }
            case NEW_ARRAYS -> onArrays(comm, reduces, _ -> new float[count]);
        };
    }

    private static MemorySegment[] many(int bytes) {
        MemorySegment[] all = new MemorySegment[MANY];
        Arrays.setAll(all, _ -> Arena.ofAuto().allocate(bytes, 64));
        return all;
    }

    private static IntConsumer onOne(Communicator comm, boolean reduces, MemorySegment segment) {
        return onSegments(comm, reduces, _ -> segment);
    }

    private static IntConsumer onSegments(Communicator comm, boolean reduces, IntFunction<MemorySegment> memory) {
        return reduces
                ? repeat(i -> comm.allReduce(memory.apply(i), DataType.FLOAT32, ReduceOp.MAX))
                : repeat(i -> comm.broadcast(memory.apply(i), DataType.FLOAT32, 0));
    }

    private static IntConsumer onArrays(Communicator comm, boolean reduces, IntFunction<float[]> memory) {
        return reduces
                ? repeat(i -> comm.allReduce(memory.apply(i), ReduceOp.MAX))
                : repeat(i -> comm.broadcast(memory.apply(i), 0));
    }

    private static IntConsumer onBuffer(Communicator comm, boolean reduces, Buffer buffer) {
        return reduces ? repeat(_ -> comm.allReduce(buffer, ReduceOp.MAX)) : repeat(_ -> comm.broadcast(buffer, 0));
    }

    private static IntConsumer repeat(IntConsumer call) {
        return times -> {
            for (int i = 0; i < times; i++) {
                call.accept(i);
            }
        };
    }
}
