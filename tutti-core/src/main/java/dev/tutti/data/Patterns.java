package dev.tutti.data;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Draws values for all ranks such that every partial reduction is exact.
 *
 * <p>Integers may be anything, as they wrap the same way in any order; but a sum that is divided must not wrap. Sums of floats
 * are whole numbers times one power of two, the positive ones together and the negative ones together no larger than the
 * significand can count. Products of floats are powers of two, one of them with a significand of its own, and the positive
 * exponents together and the negative ones together stay in range. With more ranks than there is room for, some are 0 (or ±1).
 */
final class Patterns {
    private final DataType type;
    private final ReduceOp.Kind kind;
    private final int ranks;
    private final int[] order;
    private final long[] parts;
    private final SplittableRandom random;

    Patterns(DataType type, ReduceOp.Kind kind, int ranks) {
        this.type = type;
        this.kind = kind;
        this.ranks = ranks;
        this.order = new int[ranks];
        this.parts = new long[ranks];
        this.random = new SplittableRandom(31L * type.number() + kind.ordinal());
        for (int rank = 0; rank < ranks; rank++) {
            order[rank] = rank;
        }
    }

    /** Bits of each rank's value in each pattern. */
    long[][] draw(int patterns) {
        long[][] inputs = new long[ranks][patterns];
        for (int pattern = 0; pattern < patterns; pattern++) {
            drawParts();
            for (int rank = 0; rank < ranks; rank++) {
                inputs[rank][pattern] = parts[rank];
            }
        }
        return inputs;
    }

    private void drawParts() {
        switch (kind) {
            case SUM, PRE_MUL_SUM -> {
                if (type.isInteger()) {
                    anyBits();
                } else {
                    floatSum();
                }
            }
            case AVG -> {
                if (type.isInteger()) {
                    integerAverage();
                } else {
                    floatSum();
                }
            }
            case PROD -> {
                if (type.isInteger()) {
                    integerProduct();
                } else {
                    floatProduct();
                }
            }
            case MIN, MAX -> {
                if (type.isInteger()) {
                    anyBits();
                } else {
                    anyFloat();
                }
            }
            case XOR -> anyBits();
            case AND -> mostlyOnes(0);
            case OR -> mostlyOnes(-1);
            case USER -> throw new IllegalStateException("a function of the user's");
        }
    }

    private void anyBits() {
        for (int rank = 0; rank < ranks; rank++) {
            parts[rank] = random.nextLong();
        }
    }

    private void anyFloat() {
        FloatFormat format = FloatFormat.of(type);
        for (int rank = 0; rank < ranks; rank++) {
            // No zero: which of -0 and +0 is the smaller is another test's matter.
            long magnitude = random.nextLong(1, format.infinity());
            parts[rank] = random.nextBoolean() ? magnitude : magnitude | 1L << (format.bits() - 1);
        }
    }

    /** Bits that every rank has, and others that one lacks: so each rank matters, and neither 0 nor -1 comes out. */
    private void mostlyOnes(long inverted) {
        Arrays.fill(parts, ~inverted);
        long lacking = random.nextLong();
        while (lacking != 0) {
            parts[random.nextInt(ranks)] ^= Long.lowestOneBit(lacking);
            lacking &= lacking - 1;
        }
    }

    /** Odd factors, which lose nothing when they wrap; an even one now and then. */
    private void integerProduct() {
        for (int rank = 0; rank < ranks; rank++) {
            parts[rank] = random.nextLong() | 1;
        }
        if (random.nextInt(4) == 0) {
            parts[random.nextInt(ranks)] <<= 1;
        }
    }

    private void integerAverage() {
        int bits = 8 * type.bytes();
        boolean unsigned = type.kind() == DataType.Kind.UNSIGNED;
        boolean widest = unsigned && bits == 64;
        long most = unsigned && !widest ? -1L >>> (64 - bits) : -1L >>> (65 - bits);
        distribute(most, unsigned ? 0 : most, false);
        if (widest && random.nextBoolean()) {
            parts[random.nextInt(ranks)] += Long.MIN_VALUE;
        }
    }

    private void floatSum() {
        FloatFormat format = FloatFormat.of(type);
        long most = 1L << format.precision();
        int highest = Math.min(20, format.maxExponent() - format.precision() - 1);
        int lowest = Math.max(-20, format.minExponent() - (format.precision() - 1));
        double unit = Math.scalb(1.0, random.nextInt(lowest, highest + 1));
        boolean scaled = kind == ReduceOp.Kind.PRE_MUL_SUM;
        distribute(most, most, scaled);
        for (int rank = 0; rank < ranks; rank++) {
            long units = scaled ? parts[rank] / ExactData.scalar(rank) : parts[rank];
            parts[rank] = format.encode(units * unit);
        }
    }

    private void floatProduct() {
        FloatFormat format = FloatFormat.of(type);
        distribute(Math.min(60, format.maxExponent() - 1), Math.min(60, -format.minExponent()), false);
        int special = random.nextInt(ranks);
        for (int rank = 0; rank < ranks; rank++) {
            double value = Math.scalb(random.nextBoolean() ? 1.0 : -1.0, (int) parts[rank]);
            if (rank == special) {
                long units = random.nextLong(1L << (format.precision() - 1));
                value *= 1 + Math.scalb((double) units, 1 - format.precision());
            }
            parts[rank] = format.encode(value);
        }
    }

    /**
     * Whole numbers for all ranks, of which the positive ones add up to no more than {@code positive} and the negative ones to no
     * less than {@code -negative}; multiples of the rank's scalar if they are products with it.
     */
    private void distribute(long positive, long negative, boolean scaled) {
        shuffle();
        long above = positive;
        long below = negative;
        for (int i = 0; i < ranks; i++) {
            int rank = order[i];
            int step = scaled ? ExactData.scalar(rank) : 1;
            boolean takesAbove = below < step || (above >= step && random.nextBoolean());
            long room = (takesAbove ? above : below) / step;
            // On average all ranks get the same, and the last ones still get something.
            long most = Math.max(Math.min(room, 1), room / Math.max(1, (ranks - i) / 2));
            long part = most == 0 ? 0 : step * random.nextLong(1, most == Long.MAX_VALUE ? most : most + 1);
            parts[rank] = takesAbove ? part : -part;
            if (takesAbove) {
                above -= part;
            } else {
                below -= part;
            }
        }
    }

    private void shuffle() {
        for (int i = ranks - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
    }
}
