package dev.tutti.reduce;

import java.util.List;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** What the generated vector kernels share. A fold's number is the first of its eight slots, one per source count. */
final class VectorFolds {
    static final int SOURCES = 8;

    static final int SUM = Codes.SUM * SOURCES;
    static final int PROD = Codes.PROD * SOURCES;
    static final int MIN = Codes.MIN * SOURCES;
    static final int MAX = Codes.MAX * SOURCES;
    static final int AND = Codes.AND * SOURCES;
    static final int OR = Codes.OR * SOURCES;
    static final int XOR = Codes.XOR * SOURCES;
    static final int AVG = Codes.AVG * SOURCES;
    static final int MUL_SUM = Codes.MUL_SUM * SOURCES;
    static final int SCALED_SUM = Codes.FOLDS * SOURCES;
    static final int UMIN = SCALED_SUM + SOURCES;
    static final int UMAX = UMIN + SOURCES;

    private VectorFolds() {}

    /**
     * 256 bits where the machine has more: folding is bound by loads and stores, and 512-bit ones that straddle cache
     * lines cost more than they bring (Zen 4: 25 against 36 GB/s).
     */
    static <E> VectorSpecies<E> species(VectorSpecies<E> bits256, VectorSpecies<E> preferred) {
        return preferred.vectorBitSize() > 256 ? bits256 : preferred;
    }

    /** Loads the classes behind all species that kernels use. */
    static void loadAll() {
        for (VectorSpecies<?> each : List.of(
                species(ByteVector.SPECIES_256, ByteVector.SPECIES_PREFERRED),
                species(ShortVector.SPECIES_256, ShortVector.SPECIES_PREFERRED),
                species(IntVector.SPECIES_256, IntVector.SPECIES_PREFERRED),
                species(LongVector.SPECIES_256, LongVector.SPECIES_PREFERRED),
                species(FloatVector.SPECIES_256, FloatVector.SPECIES_PREFERRED),
                species(DoubleVector.SPECIES_256, DoubleVector.SPECIES_PREFERRED))) {
            each.broadcast(1).compare(VectorOperators.GT, 0).not();
        }
    }

    static float canonical(float value) {
        return Float.intBitsToFloat(Float.floatToIntBits(value));
    }
}
