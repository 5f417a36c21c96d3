package dev.tutti.matrix;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentHashMap;

/** Makes buffers of every placement for one rank. */
final class Memories implements AutoCloseable {
    private static final int CANARY_BYTES = 64;

    /** Memory of the global arena is never freed: what one cell has used, another takes. */
    private static final ConcurrentHashMap<Long, ArrayDeque<MemorySegment>> GLOBAL = new ConcurrentHashMap<>();

    private final Communicator comm;
    private final Arena confined = Arena.ofConfined();
    private final Arena shared = Arena.ofShared();
    private final ArrayDeque<MemorySegment> borrowed = new ArrayDeque<>();

    Memories(Communicator comm) {
        this.comm = comm;
    }

    Slot make(Placement placement, DataType type, long count, int shift) {
        int width = type.bytes();
        long bytes = count * width;
        int canaries = CANARY_BYTES / width;
        return switch (placement) {
            case ARRAY -> {
                Object array = newArray(type, (int) count);
                yield new Slot(placement, Buffer.of(array, type), array, heap(array), 0);
            }
            case ARRAY_PART, OTHER_ARRAY_PART -> {
                DataType elements = placement == Placement.ARRAY_PART ? type : otherType(type);
                Object array = newArray(elements, (int) count + shift + 2 * canaries);
                int offset = canaries + shift;
                Buffer buffer = Buffer.of(array, offset, (int) count, type);
                yield new Slot(placement, buffer, buffer, heap(array), (long) offset * width);
            }
            case ALLOCATED -> {
                Buffer all = comm.allocate(type, count + shift + 2L * canaries);
                long offset = canaries + shift;
                Buffer part = all.slice(offset, count);
                yield new Slot(placement, part, part, all.segment(), offset * width);
            }
            default -> {
                long length = bytes + shift + 2 * CANARY_BYTES;
                MemorySegment whole = segment(placement, length);
                long from = CANARY_BYTES + shift;
                MemorySegment data = whole.asSlice(from, bytes);
                yield new Slot(placement, Buffer.of(data, type), data, whole, from);
            }
        };
    }

    private MemorySegment segment(Placement placement, long bytes) {
        return switch (placement) {
            case HEAP_SEGMENT -> MemorySegment.ofArray(new byte[(int) bytes]);
            case AUTOMATIC -> Arena.ofAuto().allocate(bytes, 64);
            case CONFINED -> confined.allocate(bytes, 64);
            case SHARED -> shared.allocate(bytes, 64);
            case GLOBAL -> borrowGlobal(bytes);
            default -> throw new IllegalArgumentException(placement + " is no segment");
        };
    }

    private MemorySegment borrowGlobal(long bytes) {
        long size = Math.max(256, Long.highestOneBit(bytes - 1) << 1);
        ArrayDeque<MemorySegment> free = GLOBAL.computeIfAbsent(size, _ -> new ArrayDeque<>());
        MemorySegment segment;
        synchronized (free) {
            segment = free.poll();
        }
        if (segment == null) {
            segment = Arena.global().allocate(size, 64);
        }
        borrowed.add(segment);
        return segment.asSlice(0, bytes);
    }

    private static DataType otherType(DataType type) {
        return switch (type) {
            case FLOAT32 -> DataType.INT32;
            case FLOAT64 -> DataType.INT64;
            case INT32, UINT32 -> DataType.FLOAT32;
            case INT64, UINT64 -> DataType.FLOAT64;
            default -> type;
        };
    }

    static Object newArray(DataType type, int length) {
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
        return Array.newInstance(element, length);
    }

    private static MemorySegment heap(Object array) {
        return switch (array) {
            case byte[] a -> MemorySegment.ofArray(a);
            case short[] a -> MemorySegment.ofArray(a);
            case int[] a -> MemorySegment.ofArray(a);
            case long[] a -> MemorySegment.ofArray(a);
            case float[] a -> MemorySegment.ofArray(a);
            case double[] a -> MemorySegment.ofArray(a);
            default -> throw new IllegalArgumentException("" + array.getClass());
        };
    }

    @Override
    public void close() {
        for (MemorySegment segment : borrowed) {
            ArrayDeque<MemorySegment> free = GLOBAL.get(segment.byteSize());
            synchronized (free) {
                free.add(segment);
            }
        }
        confined.close();
        shared.close();
    }
}
