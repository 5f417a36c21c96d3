package dev.tutti.bench.compare;

import dev.tutti.Buffer;
import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * One rank's part in one row: its buffers, the loops that are timed, and a check of the result. Every loop is a small method of its
 * own, so that it is compiled as a whole and no collective's loop depends on what another has seen.
 */
final class Exchange {
    private static final VectorSpecies<Integer> WORDS = IntVector.SPECIES_PREFERRED;

    private final Communicator comm;
    private final Collective collective;
    private final DataType type;
    private final Buffer in;
    private final Buffer out;
    /** What rewriting writes: all of this rank's input, in its array or at its address. */
    private final float[] array;

    private final long address;
    private final long inputBytes;

    Exchange(Communicator comm, Collective collective, DataType type, long bytes, Memories memory) {
        this.comm = comm;
        this.collective = collective;
        this.type = type;
        long elements = bytes / type.bytes();
        long block = Math.max(1, elements / comm.size());
        long longest = isDivided() ? block * comm.size() : elements;
        this.in = memory.in(collective == Collective.ALL_GATHER ? block : longest);
        this.out = memory.out(collective == Collective.REDUCE_SCATTER ? block : longest);
        boolean broadcasts = collective == Collective.BROADCAST;
        Buffer written = broadcasts ? out : in;
        this.array = broadcasts ? memory.outArray() : memory.inArray();
        this.address = memory.isHeap() ? 0 : written.segment().address();
        this.inputBytes = collective == Collective.BARRIER || (broadcasts && comm.rank() != 0) ? 0 : written.bytes();
    }

    private boolean isDivided() {
        return collective != Collective.ALL_REDUCE && collective != Collective.BROADCAST;
    }

    /** Nanoseconds that this rank takes for so many operations. */
    long run(int iterations, boolean rewriting) {
        long start = System.nanoTime();
        switch (collective) {
            case ALL_REDUCE -> allReduce(iterations, rewriting);
            case ALL_GATHER -> allGather(iterations, rewriting);
            case REDUCE_SCATTER -> reduceScatter(iterations, rewriting);
            case BROADCAST -> broadcast(iterations, rewriting);
            case ALL_TO_ALL -> allToAll(iterations, rewriting);
            default -> barrier(iterations);
        }
        return System.nanoTime() - start;
    }

    /** Nanoseconds that rewriting alone takes. */
    long runRewrites(int iterations) {
        long start = System.nanoTime();
        for (int i = 0; i < iterations; i++) {
            rewrite(i);
        }
        return System.nanoTime() - start;
    }

    private void allReduce(int iterations, boolean rewriting) {
        for (int i = 0; i < iterations; i++) {
            if (rewriting) {
                rewrite(i);
            }
            comm.allReduce(in, out, ReduceOp.SUM);
        }
    }

    private void allGather(int iterations, boolean rewriting) {
        for (int i = 0; i < iterations; i++) {
            if (rewriting) {
                rewrite(i);
            }
            comm.allGather(in, out);
        }
    }

    private void reduceScatter(int iterations, boolean rewriting) {
        for (int i = 0; i < iterations; i++) {
            if (rewriting) {
                rewrite(i);
            }
            comm.reduceScatter(in, out, ReduceOp.SUM);
        }
    }

    private void broadcast(int iterations, boolean rewriting) {
        for (int i = 0; i < iterations; i++) {
            if (rewriting) {
                rewrite(i);
            }
            comm.broadcast(out, 0);
        }
    }

    private void allToAll(int iterations, boolean rewriting) {
        for (int i = 0; i < iterations; i++) {
            if (rewriting) {
                rewrite(i);
            }
            comm.allToAll(in, out);
        }
    }

    private void barrier(int iterations) {
        for (int i = 0; i < iterations; i++) {
            comm.barrier();
        }
    }

    /** Writes the whole input anew. Equal bytes of 0x38 to 0x3b make small floats of every type. */
    private void rewrite(int number) {
        byte value = (byte) (0x38 + (number & 3));
        if (inputBytes == 0) {
            return;
        }
        if (address == 0) {
            Arrays.fill(array, 0, (int) (inputBytes >> 2), Float.intBitsToFloat(value * 0x01010101));
        } else {
            fillWords(value * 0x01010101);
        }
    }

    /** By vectors, as the compilers of the others write theirs: {@link MemorySegment#fill} takes 1.7 times as long in a cache. */
    private void fillWords(int word) {
        long at = 0;
        if (inputBytes >= WORDS.vectorByteSize()) {
            IntVector words = IntVector.broadcast(WORDS, word);
            for (; at <= inputBytes - WORDS.vectorByteSize(); at += WORDS.vectorByteSize()) {
                words.intoMemorySegment(Memory.ALL, address + at, ByteOrder.nativeOrder());
            }
        }
        for (; at < inputBytes; at += 4) {
            Memory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address + at, word);
        }
    }

    /** Runs one operation on known data and looks at all of the result. */
    boolean isWrong() {
        if (collective == Collective.BARRIER) {
            return false;
        }
        fill(out, -1);
        if (collective == Collective.BROADCAST) {
            fill(out, comm.rank() == 0 ? 1 : -1);
        } else {
            fill(in, comm.rank() + 1);
        }
        comm.barrier();
        run(1, false);
        long part = out.count() / comm.size();
        for (long i = 0; i < out.count(); i++) {
            float expected = switch (collective) {
                case BROADCAST -> 1;
                case ALL_GATHER, ALL_TO_ALL -> Math.min(comm.size(), i / part + 1);
                default -> comm.size() * (comm.size() + 1) / 2;
            };
            if (get(out.segment(), i) != expected) {
                return true;
            }
        }
        return false;
    }

    private void fill(Buffer buffer, float value) {
        MemorySegment segment = buffer.segment();
        for (long i = 0; i < buffer.count(); i++) {
            switch (type) {
                case FLOAT16 -> segment.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, Float.floatToFloat16(value));
                case BFLOAT16 ->
                    segment.setAtIndex(
                            ValueLayout.JAVA_SHORT_UNALIGNED, i, (short) (Float.floatToIntBits(value) >> 16));
                default -> segment.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, value);
            }
        }
    }

    private float get(MemorySegment segment, long i) {
        return switch (type) {
            case FLOAT16 -> Float.float16ToFloat(segment.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i));
            case BFLOAT16 -> Float.intBitsToFloat(segment.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i) << 16);
            default -> segment.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i);
        };
    }
}
