package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/** Elements worth folding, and what {@code dev.tutti.reduce} makes of them. */
final class HostFold {
    private final DataType type;
    private final Fold fold;
    private final MemorySegment[] sources;
    private final MemorySegment expected;
    private final int scaled;
    private final double scalar;

    HostFold(DataType type, Fold fold, int ranks, int count, Arena arena, Random random) {
        this.type = type;
        this.fold = fold;
        this.sources = new MemorySegment[ranks];
        long bytes = (long) count * type.bytes();
        long[] addresses = new long[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            sources[rank] = arena.allocate(bytes, 64);
            for (int i = 0; i < count; i++) {
                set(sources[rank], i, element(random));
            }
            addresses[rank] = sources[rank].address();
        }
        expected = arena.allocate(bytes, 64);
        scaled = random.nextInt(ranks);
        scalar = type.isInteger() ? random.nextInt(7) - 3 : random.nextGaussian();
        long aux = fold == Fold.MUL_SUM ? FoldArgs.scalarBits(type, scalar) : ranks;
        Kernels.reduce(Kernels.id(type, fold), addresses, 0, ranks, 0, expected.address(), count, aux, scaled);
    }

    MemorySegment source(int rank) {
        return sources[rank];
    }

    /** Everybody's scalar but one is 1, which changes nothing. */
    ReduceOp operator(int rank) {
        return fold == Fold.MUL_SUM ? ReduceOp.preMulSum(rank == scaled ? scalar : 1) : KernelBitsTest.operator(fold);
    }

    /** Empty if all bits are equal; NaNs are equal whatever their payload. */
    String firstDifference(byte[] got) {
        MemorySegment other = MemorySegment.ofArray(got);
        for (int i = 0; i < got.length / type.bytes(); i++) {
            long wanted = get(expected, i);
            long found = get(other, i);
            if (wanted != found && !(isNaN(wanted) && isNaN(found))) {
                StringBuilder from = new StringBuilder();
                for (MemorySegment source : sources) {
                    from.append(' ').append(Long.toHexString(get(source, i)));
                }
                return "element " + i + ": host " + Long.toHexString(wanted) + ", device " + Long.toHexString(found)
                        + ", from" + from;
            }
        }
        return "";
    }

    private boolean isNaN(long bits) {
        return switch (type) {
            case FLOAT16 -> (bits & 0x7FFF) > 0x7C00;
            case BFLOAT16 -> (bits & 0x7FFF) > 0x7F80;
            case FLOAT8E4M3 -> (bits & 0x7F) == 0x7F;
            case FLOAT8E5M2 -> (bits & 0x7F) > 0x7C;
            case FLOAT32 -> Float.isNaN(Float.intBitsToFloat((int) bits));
            case FLOAT64 -> Double.isNaN(Double.longBitsToDouble(bits));
            default -> false;
        };
    }

    private long element(Random random) {
        long bits = random.nextLong();
        if (type.isInteger() || random.nextInt(8) == 0) {
            return bits;
        }
        double value = random.nextInt(12) == 0 ? 0 : random.nextGaussian() * (random.nextInt(6) == 0 ? 300 : 1);
        return switch (type) {
            case FLOAT64 -> Double.doubleToRawLongBits(value);
            case FLOAT32 -> Float.floatToRawIntBits((float) value);
            case FLOAT16 -> Float.floatToFloat16((float) value);
            case BFLOAT16 -> Float.floatToRawIntBits((float) value) >>> 16;
            default -> bits;
        };
    }

    private void set(MemorySegment memory, int index, long bits) {
        switch (type.bytes()) {
            case 1 -> memory.set(ValueLayout.JAVA_BYTE, index, (byte) bits);
            case 2 -> memory.setAtIndex(ValueLayout.JAVA_SHORT, index, (short) bits);
            case 4 -> memory.setAtIndex(ValueLayout.JAVA_INT, index, (int) bits);
            default -> memory.setAtIndex(ValueLayout.JAVA_LONG, index, bits);
        }
    }

    private long get(MemorySegment memory, int index) {
        return switch (type.bytes()) {
            case 1 -> memory.get(ValueLayout.JAVA_BYTE, index) & 0xFFL;
            case 2 -> memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * index) & 0xFFFFL;
            case 4 -> memory.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * index) & 0xFFFFFFFFL;
            default -> memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * index);
        };
    }
}
