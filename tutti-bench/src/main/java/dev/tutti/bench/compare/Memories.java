package dev.tutti.bench.compare;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;

/** A rank's input and output of one kind and type, grown to the longest row so far and used from the start for shorter ones. */
final class Memories {
    private static final float[] NO_ARRAY = {};

    private final String kind;
    private final Buffer in;
    private final Buffer out;
    private final float[] inArray;
    private final float[] outArray;

    private Memories(String kind, Buffer in, Buffer out, float[] inArray, float[] outArray) {
        this.kind = kind;
        this.in = in;
        this.out = out;
        this.inArray = inArray;
        this.outArray = outArray;
    }

    private static Memories allocate(Communicator comm, String kind, DataType type, long count) {
        return switch (kind) {
            case "native" -> {
                Arena arena = Arena.ofAuto();
                yield new Memories(
                        kind,
                        Buffer.of(arena.allocate(count * type.bytes(), 4096), type),
                        Buffer.of(arena.allocate(count * type.bytes(), 4096), type),
                        NO_ARRAY,
                        NO_ARRAY);
            }
            case "registered" ->
                new Memories(kind, comm.allocate(type, count), comm.allocate(type, count), NO_ARRAY, NO_ARRAY);
            case "array" -> {
                if (type != DataType.FLOAT32) {
                    throw new IllegalArgumentException("arrays are float[], not " + type);
                }
                float[] in = new float[(int) count];
                float[] out = new float[(int) count];
                yield new Memories(kind, Buffer.of(in), Buffer.of(out), in, out);
            }
            default -> throw new IllegalArgumentException("memory " + kind);
        };
    }

    Buffer in(long count) {
        return in.slice(0, count);
    }

    Buffer out(long count) {
        return out.slice(0, count);
    }

    boolean isHeap() {
        return kind.equals("array");
    }

    float[] inArray() {
        return inArray;
    }

    float[] outArray() {
        return outArray;
    }

    /** All kinds and types that one rank has used so far. */
    static final class Pool {
        private final Communicator comm;
        private final Map<String, Memories> pool = new HashMap<>();

        Pool(Communicator comm) {
            this.comm = comm;
        }

        Memories of(String kind, DataType type, long count) {
            String key = kind + " " + type;
            Memories found = pool.get(key);
            if (found == null || found.in.count() < count) {
                if (found != null && kind.equals("registered")) {
                    found.in.close();
                    found.out.close();
                }
                found = allocate(comm, kind, type, count);
                pool.put(key, found);
            }
            return found;
        }
    }
}
