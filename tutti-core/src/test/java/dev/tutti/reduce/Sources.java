package dev.tutti.reduce;

import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.util.Random;

/** Native memory with elements worth folding: ordinary numbers and every special one. */
final class Sources {
    static final int CAPACITY = 4200 * 8 + 64;
    static final int CANARY_BYTES = 24;
    static final byte CANARY = 0x5A;

    final long[] addresses;
    private final DataType type;

    Sources(DataType type, int n, Arena arena, Random random) {
        this.type = type;
        addresses = new long[n];
        for (int k = 0; k < n; k++) {
            addresses[k] = arena.allocate(CAPACITY + 2L * CANARY_BYTES, 64).address() + CANARY_BYTES;
        }
        fill(random);
    }

    void fill(Random random) {
        for (long address : addresses) {
            for (int i = 0; i < CAPACITY / type.bytes(); i++) {
                set(type, address + (long) i * type.bytes(), element(random));
            }
        }
    }

    private long element(Random random) {
        long bits = random.nextLong() & Numbers.mask(type);
        if (type.isInteger()) {
            return bits;
        }
        int choice = random.nextInt(16);
        if (type == DataType.FLOAT64) {
            return Double.doubleToRawLongBits(
                    switch (choice) {
                        case 0 -> random.nextBoolean() ? 0.0 : -0.0;
                        case 1 -> random.nextBoolean() ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
                        case 2 -> Double.longBitsToDouble(random.nextLong(1L << 50));
                        case 3 -> random.nextInt(4) == 0 ? Double.NaN : Double.MAX_VALUE;
                        case 4 -> Double.longBitsToDouble(bits);
                        default -> random.nextGaussian();
                    });
        }
        return choice == 4
                ? bits
                : Numbers.encode(
                        type,
                        switch (choice) {
                            case 0 -> random.nextBoolean() ? 0f : -0f;
                            case 1 -> random.nextBoolean() ? Float.POSITIVE_INFINITY : Float.NEGATIVE_INFINITY;
                            case 2 -> Numbers.decode(type, random.nextLong(8)); // the smallest subnormals
                            case 3 -> random.nextInt(4) == 0 ? Float.NaN : Float.MAX_VALUE;
                            default -> (float) random.nextGaussian();
                        });
    }

    static long get(DataType type, long address) {
        return switch (type.bytes()) {
            case 1 -> Memory.ALL.get(Memory.BYTE, address) & 0xFFL;
            case 2 -> Memory.ALL.get(Memory.SHORT, address) & 0xFFFFL;
            case 4 -> Memory.ALL.get(Memory.INT, address) & 0xFFFFFFFFL;
            default -> Memory.ALL.get(Memory.LONG, address);
        };
    }

    static void set(DataType type, long address, long bits) {
        switch (type.bytes()) {
            case 1 -> Memory.ALL.set(Memory.BYTE, address, (byte) bits);
            case 2 -> Memory.ALL.set(Memory.SHORT, address, (short) bits);
            case 4 -> Memory.ALL.set(Memory.INT, address, (int) bits);
            default -> Memory.ALL.set(Memory.LONG, address, bits);
        }
    }

    /** What {@code aux} may be: a divisor or a scalar. */
    static long aux(DataType type, Fold fold, int n, Random random) {
        if (fold != Fold.MUL_SUM) {
            return random.nextBoolean() ? n : 1 + random.nextInt(300);
        }
        if (type == DataType.FLOAT64) {
            return Double.doubleToRawLongBits(random.nextGaussian());
        }
        return type.isInteger() ? random.nextLong() : Float.floatToRawIntBits((float) random.nextGaussian());
    }
}
