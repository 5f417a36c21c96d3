package dev.tutti.bench.memory;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

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
            case AUTOMATIC -> segments(comm, reduces, Arena.ofAuto().allocate(bytes, 64));
            case CONFINED -> segments(comm, reduces, Arena.ofConfined().allocate(bytes, 64));
            case SHARED -> segments(comm, reduces, Arena.ofShared().allocate(bytes, 64));
            case REGISTERED ->
                segments(comm, reduces, comm.allocate(DataType.FLOAT32, count).segment());
            case HEAP -> segments(comm, reduces, MemorySegment.ofArray(new float[count]));
            case SEGMENTS -> segments(comm, reduces, many(bytes));
            case SLICES -> slices(comm, reduces, many(bytes));
            case ARRAY -> arrays(comm, reduces, new float[1][count]);
            case ARRAYS -> arrays(comm, reduces, new float[MANY][count]);
            case NEW_ARRAYS -> newArrays(comm, reduces, count);
        };
    }

    private static MemorySegment[] many(int bytes) {
        MemorySegment[] all = new MemorySegment[MANY];
        for (int i = 0; i < MANY; i++) {
            all[i] = Arena.ofAuto().allocate(bytes, 64);
        }
        return all;
    }

    private static IntConsumer segments(Communicator comm, boolean reduces, MemorySegment... all) {
        int mask = all.length - 1;
        return reduces
                ? times -> {
                    for (int i = 0; i < times; i++) {
                        comm.allReduce(all[i & mask], DataType.FLOAT32, ReduceOp.MAX);
                    }
                }
                : times -> {
                    for (int i = 0; i < times; i++) {
                        comm.broadcast(all[i & mask], DataType.FLOAT32, 0);
                    }
                };
    }

    private static IntConsumer slices(Communicator comm, boolean reduces, MemorySegment... all) {
        int mask = all.length - 1;
        return reduces
                ? times -> {
                    for (int i = 0; i < times; i++) {
                        comm.allReduce(all[i & mask].asSlice(0), DataType.FLOAT32, ReduceOp.MAX);
                    }
                }
                : times -> {
                    for (int i = 0; i < times; i++) {
                        comm.broadcast(all[i & mask].asSlice(0), DataType.FLOAT32, 0);
                    }
                };
    }

    private static IntConsumer buffers(Communicator comm, boolean reduces, Buffer buffer) {
        return reduces
                ? times -> {
                    for (int i = 0; i < times; i++) {
                        comm.allReduce(buffer, ReduceOp.MAX);
                    }
                }
                : times -> {
                    for (int i = 0; i < times; i++) {
                        comm.broadcast(buffer, 0);
                    }
                };
    }

    private static IntConsumer arrays(Communicator comm, boolean reduces, float[][] all) {
        int mask = all.length - 1;
        return reduces
                ? times -> {
                    for (int i = 0; i < times; i++) {
                        comm.allReduce(all[i & mask], ReduceOp.MAX);
                    }
                }
                : times -> {
                    for (int i = 0; i < times; i++) {
                        comm.broadcast(all[i & mask], 0);
                    }
                };
    }

    private static IntConsumer newArrays(Communicator comm, boolean reduces, int count) {
        return reduces
                ? times -> {
                    for (int i = 0; i < times; i++) {
                        comm.allReduce(new float[count], ReduceOp.MAX);
                    }
                }
                : times -> {
                    for (int i = 0; i < times; i++) {
                        comm.broadcast(new float[count], 0);
                    }
                };
    }
}
